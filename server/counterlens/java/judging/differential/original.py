"""The behaviour of an unchanged Java method on inputs, for comparison with every other version of it.

The executed blocks of a Java method, from the same program with a note at the start of each block.

A step is one entry of a block; a call with too many steps is ended by an error, so that inputs on which
a method takes very long cost little.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from threading import Event

from tree_sitter import Node

from counterlens.java.judging.bench import BENCHES, Classes, HeldProgram, JavaBench
from counterlens.java.judging.differential.calling import (
    CallFate,
    JavaCall,
    make_call,
    observe_call,
    same_answer,
)
from counterlens.java.judging.differential.generation import Generator, literals_of
from counterlens.java.judging.differential.target import JavaTarget, NoTargetError, find_target
from counterlens.java.judging.project import NOTHING_AROUND, Surroundings, surroundings
from counterlens.java.syntax import escape_that_is_syntax
from counterlens.judging.base import Setting
from counterlens.judging.comparing import FEWEST, UNSTEADY, Untestable
from counterlens.sandbox.java.values import JavaAnswer
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function

PROGRAM = "program.java"
ROUND, ROUNDS = 80, 3  # inputs of one round; another round is made while blocks are missing
SECONDS = 2.0  # time limit of one call
_MOST_WASTED = 6  # calls without an answer
ILL_TYPED = {"java.lang.NullPointerException", "java.lang.ClassCastException"}
_COMMENT = 4000  # bytes before a method in which its comment is looked for


@dataclass(frozen=True, slots=True)
class JavaOriginal:
    """An unchanged method, and its behaviour.

    Attributes:
        setting: The sandbox and limits.
        text: The file.
        calls: The inputs on which it terminates and returns a value that can be compared.
        blocks: The number of its blocks.
        reached: How many of them the inputs reach; None if that is not known.
        around: What it is compiled and run with.
    """

    setting: Setting
    text: str
    target: JavaTarget
    calls: tuple[JavaCall, ...]
    answers: tuple[JavaAnswer, ...]
    blocks: int
    reached: int | None
    around: Surroundings = NOTHING_AROUND

    @property
    def share(self) -> float:
        """The share of blocks that the inputs reach; 0 if unknown."""
        return (self.reached or 0) / self.blocks if self.blocks else 0.0

    def units(self, program: str) -> list[tuple[str, str]]:
        """A version of the file, with the sources that it is compiled with."""
        return [(PROGRAM, program), *self.around.program]


def study(
    document: Document,
    function: Function,
    setting: Setting,
    *,
    more: Sequence[str] = (),
    seed: int = 0,
    cancel: Event | None = None,
) -> JavaOriginal | Untestable:
    """Find inputs for a method, and record its behaviour on them.

    Args:
        document: The original file.
        setting: Its sandbox and limits.
        more: Further texts with values to try, such as its tests.
        seed: Random seed of the inputs.

    Raises:
        CompilerStoppedError: the compiler did not finish, which shows nothing about the method.
        SandboxError: there is no Java development kit, or it cannot be run in the sandbox.
        Cancelled: `cancel` was set.
    """
    escape = escape_that_is_syntax(document.text)
    if escape is not None:
        return Untestable(escape)
    try:
        target = find_target(document, function)
    except NoTargetError as error:
        return Untestable(str(error))
    start = max(0, target.node.start_byte - _COMMENT)
    before = document.data[start : target.node.start_byte].decode("utf-8", "replace")
    _, _, comment = before.rpartition("/*")
    own = (target.node.text or b"").decode("utf-8", "replace")
    generator = Generator(target.types, literals_of([own, comment, *more]), seed)
    bare = JavaOriginal(setting, document.text, target, (), (), 0, None)
    if document.path is not None:
        with BENCHES.bench(setting.sandbox) as bench:
            alone = bench.compile(bare.units(document.text), cancel=cancel)
        around = surroundings(document.path, document.text) if isinstance(alone, str) else bare.around
        if isinstance(around, str):
            return Untestable(around)
        bare = replace(bare, around=around)
    with BENCHES.bench(setting.sandbox, bare.around.library) as bench:
        return _Study(document, bare, generator, bench, cancel).result()


class _Study:
    def __init__(
        self,
        document: Document,
        bare: JavaOriginal,
        generator: Generator,
        bench: JavaBench,
        cancel: Event | None,
    ) -> None:
        self._document, self._bare, self._generator = document, bare, generator
        self._bench, self._cancel = bench, cancel
        self._calls: dict[JavaCall, None] = {}
        self._wasted_calls = 0
        self._blocks: frozenset[int] = frozenset()
        self._reached: set[int] = set()
        self._left_out = ""

    def result(self) -> JavaOriginal | Untestable:
        plain = self._compile(self._document.text)
        if isinstance(plain, str):
            return Untestable(f"its file does not compile: {plain.splitlines()[0]}")
        self._draw(plain)
        if len(self._calls) < self._fewest:
            why = f"it returns a value that cannot be compared: {self._left_out}" if self._left_out else ""
            return Untestable(why or "it terminates on too few generated inputs")
        return self._checked(plain)

    @property
    def _fewest(self) -> int:
        """The fewest inputs that are enough: there is one if it takes no argument."""
        return FEWEST if self._bare.target.types else 1

    def _compile(self, text: str, *more: tuple[str, str]) -> Classes | str:
        units = [*self._bare.units(text), *more]
        return self._bench.compile(units, cancel=self._cancel)

    def _draw(self, plain: Classes) -> None:
        """Call the method with notes in its blocks, or unchanged if that version does not compile."""
        noted = add_notes(self._document, self._bare.target.node)
        classes: Classes | str = "not to be"
        if noted is not None:
            classes = self._compile(noted.text, ("Reach.java", SOURCE))
            self._blocks = noted.blocks
        notes = not isinstance(classes, str)
        if not notes:
            self._blocks = frozenset()
        with self._bench.held(plain if isinstance(classes, str) else classes, self._cancel) as held:
            for _ in range(ROUNDS):
                for arguments in self._generator.draw(ROUND):
                    if self._wasted_calls < _MOST_WASTED:
                        self._try(held, JavaCall(arguments), notes)
                if notes and self._reached >= self._blocks:
                    break

    def _try(self, held: HeldProgram, call: JavaCall, notes: bool) -> None:
        if call in self._calls:
            return
        answer = make_call(held, self._bare.target, call, SECONDS)
        if isinstance(answer, CallFate):
            self._wasted_calls += 1
            return
        self._wasted_calls += answer.serious
        if notes and not answer.serious:
            self._note(held)
        if answer.value is None and not answer.thrown:
            self._left_out = answer.message
        elif answer.thrown not in {*ILL_TYPED, TOO_MANY} and not answer.serious:
            self._calls[call] = None

    def _note(self, held: HeldProgram) -> None:
        counters = replace(
            self._bare.target, owner=OWNER, name="take", simple="", static=True, maker="", made=0
        )
        answer = make_call(held, counters, JavaCall(()), SECONDS)
        if not isinstance(answer, CallFate) and answer.value is not None:
            self._reached |= {n for n, (_, seen) in enumerate(answer.value[2]) if seen} & self._blocks

    def _checked(self, plain: Classes) -> JavaOriginal | Untestable:
        """Only results that are the same in another order and with fresh static fields."""
        with self._bench.held(plain, self._cancel) as held:
            first = observe(held, self._bare.target, list(self._calls), SECONDS)
            held.renew(SECONDS)
            second = observe(held, self._bare.target, list(reversed(self._calls)), SECONDS)
        kept = [
            (call, answer)
            for call, answer in first.items()
            if not isinstance(answer, CallFate) and not answer.serious
            if not isinstance(again := second[call], CallFate) and same_answer(answer, again)
        ]
        if len(self._calls) - len(kept) > UNSTEADY * len(self._calls):
            return Untestable("it returns different results for the same input")
        if sum(answer.value is not None for _, answer in kept) < self._fewest:
            return Untestable("it returns a value for too few generated inputs")
        if not any(_has_visible_effect(call, answer) for call, answer in kept):
            return Untestable("it returns nothing and changes none of its arguments")
        return replace(
            self._bare,
            calls=tuple(call for call, _ in kept),
            answers=tuple(answer for _, answer in kept),
            blocks=len(self._blocks),
            reached=len(self._reached) if self._blocks else None,
        )


def observe(
    held: HeldProgram, target: JavaTarget, calls: Sequence[JavaCall], seconds: float
) -> dict[JavaCall, JavaAnswer | CallFate]:
    """The result of each call, in this order."""
    return {call: observe_call(held, target, call, seconds) for call in calls}


def _has_visible_effect(call: JavaCall, answer: JavaAnswer) -> bool:
    """Whether a call had an observable effect."""
    if answer.value is None or answer.value != ("n",) or answer.effects:
        return True
    containers = [argument for argument in call.arguments if argument[0] in {"[", "L", "M", "b"}]
    return any(before not in answer.given for before in containers)


OWNER = "counterlens.reach.Reach"
STEPS = 3_000_000  # blocks entered in one call
TOO_MANY = "counterlens.reach.Reach$TooMany"
SOURCE = f"""package counterlens.reach;
public final class Reach {{
    static final class TooMany extends Error {{
        TooMany() {{ super("", null, false, false); }}
    }}
    private static int steps;
    private static boolean[] seen = new boolean[16];
    public static void in(int block) {{
        if (++steps > {STEPS}) {{ throw new TooMany(); }}
        if (block >= seen.length) {{ seen = java.util.Arrays.copyOf(seen, 2 * block); }}
        seen[block] = true;
    }}
    public static boolean[] take() {{
        boolean[] found = seen;
        seen = new boolean[found.length];
        steps = 0;
        return found;
    }}
}}
"""
_BODIES = {
    "if_statement": ("consequence", "alternative"), "while_statement": ("body",), "for_statement": ("body",),
    "do_statement": ("body",), "enhanced_for_statement": ("body",),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Noted:
    """A program with notes.

    Attributes:
        text: Its source.
        blocks: The numbers of the blocks in the method.
    """

    text: str
    blocks: frozenset[int]


def add_notes(document: Document, method: Node) -> Noted | None:
    """A document with notes in all its blocks; None if it is nested too deeply.

    Args:
        method: The declaration whose blocks count.
    """
    writer = _Writer(document.data, method)
    try:
        writer.write(document.tree.root_node)
    except RecursionError:
        return None
    return Noted(b"".join(writer.parts).decode("utf-8", "replace"), frozenset(writer.counted))


class _Writer:
    def __init__(self, data: bytes, method: Node) -> None:
        self._data, self._method = data, method
        self.parts: list[bytes] = []
        self.counted: list[int] = []
        self._blocks = 0

    def write(self, node: Node) -> None:
        """A node with its notes."""
        at = node.start_byte
        bodies = [node.child_by_field_name(name) for name in _BODIES.get(node.type, ())]
        ids = {body.id for body in bodies if body is not None}
        lone = node.type == "if_statement" and bodies[1] is None
        last_label = _last_label(node)
        for child in node.children:
            self.parts.append(self._data[at : child.start_byte])
            if child.id in ids and child.type != "block":
                self.parts.append(b"{" + self._note(child))
                self.write(child)
                self.parts.append(b"}")
            else:
                self.write(child)
            at = child.end_byte
            if node.type == "block" and child.type == "{":
                self.parts.append(self._note(node))
            if lone and child.id in ids:
                self.parts.append(b" else {" + self._note(child) + b"}")
            if last_label is not None and child == last_label:
                self.parts.append(self._note(node))
        self.parts.append(self._data[at : node.end_byte])

    def _note(self, place: Node) -> bytes:
        number = self._blocks
        self._blocks += 1
        if self._method.start_byte <= place.start_byte < self._method.end_byte:
            self.counted.append(number)
        return f" {OWNER}.in({number}); ".encode()


def _last_label(node: Node) -> Node | None:
    """The colon after the last label of a group of a switch that has statements."""
    if node.type != "switch_block_statement_group":
        return None
    labels = [child for child in node.children if child.type == "switch_label"]
    after = [child for child in node.children if child.start_byte >= labels[-1].end_byte] if labels else []
    return after[0] if after and after[0].type == ":" else None
