"""Running one call of a Java method in the sandbox.

The program gets an added method that makes the call, so that the compiler determines the types of the
arguments, as in tests, and private methods can be called, too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tree_sitter import Node

from counterlens.errors import SourceError
from counterlens.java.execution.calls import name_of, read_call
from counterlens.java.judging.bench import BENCHES, Classes, CompilerStoppedError, HeldProgram, JavaBench
from counterlens.java.judging.project import surroundings
from counterlens.java.methods import binary_name, find_body, modifiers
from counterlens.java.prompts.values import plain, write
from counterlens.judging.base import Setting
from counterlens.probes.prompts.literals import Literal
from counterlens.sandbox.java.machine import pack
from counterlens.sandbox.java.values import JavaValue, read_answer
from counterlens.sandbox.serving import ServiceEndedError, ServiceLateError
from counterlens.syntax.definitions import own_name
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function, functions

_MAKER = "counterlens$call"
_PROGRAM = "program.java"
_LONGEST = 4096  # maximum characters of a result
_MATH = ("BigInteger", "BigDecimal")
_UTIL = (
    *("ArrayDeque", "ArrayList", "Arrays", "Collections", "HashMap", "HashSet", "Hashtable", "LinkedHashMap"),
    *("LinkedHashSet", "LinkedList", "List", "Map", "Optional", "OptionalDouble", "OptionalInt"),
    *("OptionalLong", "PriorityQueue", "Set", "Stack", "TreeMap", "TreeSet", "Vector"),
)
_LIBRARY = re.compile(
    r'("(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\')|(?<![\w.$])(' + "|".join([*_UTIL, *_MATH]) + r")\b"
)
_RANDOM = re.compile(
    r"\b(?:\w*Map|\w*Set|hash\w*|identityHashCode|\w*[rR]andom\w*|\w*Time\w*|parallel\w*|UUID|Thread\w*|enum)\b"
)
"""Names in a program whose result may differ in another JVM."""
_SALTED = re.compile(r"\b(?:Set|Map)\s*\.\s*(?:of|ofEntries|copyOf)\b|\btoUnmodifiable(?:Set|Map)\b")
"""Names of sets and maps with n elements, of which each JVM chooses one of 2n to 4n orders."""
_JVMS = 8  # for these: by chance, all have one order of two elements in one of 256 programs
Units = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class CalledMethod:
    """A method that a standalone call can reach.

    Attributes:
        owner: The node of its class.
        class_name: The binary name of its class.
        receiver: The expression before its name: empty, or a new object.
        name: Its simple name.
    """

    owner: Node
    class_name: str
    receiver: str
    name: str
    node: Node


def called_method(document: Document, function: Function) -> CalledMethod:
    """The method of a function, if a standalone call can reach it.

    Raises:
        SourceError: none can; the message says why.
    """
    node, around = find_body(document, function)
    result = node.child_by_field_name("type")
    if result is None or result.type == "void_type":
        raise SourceError("it returns nothing")
    receiver = ""
    if "static" not in modifiers(node):
        _require_objects(around)
        receiver = f"new {'.'.join(own_name(each) for each in reversed(around))}()."
    owner = binary_name(document.tree.root_node, around)
    return CalledMethod(around[0], owner, receiver, own_name(node), node)


def method_of_call(document: Document, call: str) -> CalledMethod:
    """The method that a call names.

    Raises:
        SourceError: no such method can be reached by a standalone call, or an argument is not a literal.
    """
    name = call.partition("(")[0].strip()
    named = [function for function in functions(document) if name_of(function.qualname) == name]
    if not named:
        raise SourceError(f"the program has no method {name}")
    if read_call(call, name) is None:
        raise SourceError("an argument of the call is not a literal")
    why: SourceError | None = None
    for function in named:
        try:
            return called_method(document, function)
        except SourceError as error:
            why = why or error
    raise why or SourceError(f"the program has no method {name}")


def addition(method: CalledMethod, statements: str) -> tuple[int, str]:
    """The method to add to a program, after the byte offset of its place.

    Args:
        method: The method whose class gets the added method.
        statements: The statements of the added method, which end with a `return`.
    """
    body = method.owner.child_by_field_name("body")
    assert body is not None  # a class has one
    return body.end_byte - 1, f" public static Object {_MAKER}() throws Throwable {{ {statements} }} "


def expression(method: CalledMethod, call: str) -> str:
    """A call as an expression in its class, with qualified library names, because imports may be missing."""
    return method.receiver + _LIBRARY.sub(_qualify, call)


def result_of(
    document: Document,
    text: str,
    method: CalledMethod,
    setting: Setting,
    *,
    more: Units = (),
    times: int = 1,
    alone: bool = False,
) -> list[JavaValue]:
    """The results of the added method of a program, one for each fresh copy of the program.

    Args:
        document: The unchanged program, with the path of its file.
        text: The program with the method of `addition`.
        method: The method whose class has the added method.
        setting: The sandbox, and the limits of one call.
        more: Further source files, as name and text.
        times: Number of calls, each in a fresh copy.
        alone: Whether each copy gets a fresh JVM.

    Raises:
        SourceError: the program does not compile, throws, times out, or its result is not a literal.
        SandboxError, Cancelled: as the sandbox.
    """
    units: list[tuple[str, str]] = [(_PROGRAM, text), *more]
    try:
        with BENCHES.bench(setting.sandbox) as bench:
            classes = bench.compile(units, cancel=setting.cancel)
            if not isinstance(classes, str):
                return _call(bench, classes, method, times, setting, alone=alone)
        around = surroundings(document.path, document.text) if document.path is not None else None
        if around is None or isinstance(around, str) or not (around.program or around.library):
            raise _compile_error(classes)
        with BENCHES.bench(setting.sandbox, around.library) as bench:
            classes = bench.compile([*units, *around.program], cancel=setting.cancel)
            if isinstance(classes, str):
                raise _compile_error(classes)
            return _call(bench, classes, method, times, setting, alone=alone)
    except CompilerStoppedError as stopped:
        raise SourceError(str(stopped)) from None


def output_of(document: Document, call: str, setting: Setting) -> Literal:
    """Like `ExecutedLanguage.output_of`."""
    return _literal(*_outputs(document, call, setting, 2, alone=False))


def require_ordered(document: Document, call: str, gives: Literal, setting: Setting) -> None:
    """Like `ExecutedLanguage.require_ordered`: the call runs again in JVMs with other hash codes.

    Objects, and the sets and maps of `Set.of` and `Map.of`, have another order there. A program that cannot
    depend on this order does not run again.
    """
    text = document.text + call
    if not _RANDOM.search(text):
        return
    times = _JVMS if _SALTED.search(text) else 1
    outputs = _outputs(document, call, setting, times, alone=True)
    if any(_literal(output, output).written != gives.written for output in outputs):
        raise SourceError("the result of the call depends on the order of a set")


def _outputs(document: Document, call: str, setting: Setting, times: int, *, alone: bool) -> list[JavaValue]:
    method = method_of_call(document, call)
    at, added = addition(method, f"return {expression(method, call)};")
    text = (document.data[:at] + added.encode() + document.data[at:]).decode("utf-8", "replace")
    return result_of(document, text, method, setting, times=times, alone=alone)


def _literal(first: JavaValue, second: JavaValue) -> Literal:
    if not plain(first) or not plain(second):
        raise SourceError("the result of the call is not a literal")
    text = write(first)
    if text != write(second):
        raise SourceError("two equal calls return different results")
    if len(text) > _LONGEST:
        raise SourceError("the result of the call is too long")
    return Literal(first, text)


def _compile_error(errors: str) -> SourceError:
    first = errors.splitlines()[0] if errors else ""
    return SourceError(f"the program does not compile with the call: {first}")


def _call(
    bench: JavaBench,
    classes: Classes,
    method: CalledMethod,
    times: int,
    setting: Setting,
    *,
    alone: bool,
) -> list[JavaValue]:
    values: list[JavaValue] = []
    while len(values) < times:
        with bench.held(classes, setting.cancel) as held:
            calls = range(1 if alone else times)
            values += [_value(held, method.class_name, setting.limits.seconds) for _ in calls]
    return values


def _value(held: HeldProgram, class_name: str, seconds: float) -> JavaValue:
    """What the added method returns; a call that fails is repeated in a fresh JVM."""
    request = b"K" + pack(class_name) + pack(_MAKER)
    trouble = ""
    for _ in range(2):
        try:
            answer = read_answer(held.ask(request, seconds))
            trouble = f"the call throws {re.sub(r'.*[.$]', '', answer.thrown)}" if answer.thrown else ""
            if not answer.serious:
                break
        except ServiceLateError:
            trouble = "the call times out"
        except ServiceEndedError:
            trouble = "the program ends the process"
        held.leave()
    if trouble:
        raise SourceError(trouble)
    if answer.value is None:
        raise SourceError("the result of the call is not a literal")
    return answer.value


def _require_objects(around: list[Node]) -> None:
    """Check that an object can be made without arguments."""
    owner, name = around[0], own_name(around[0])
    if owner.type != "class_declaration" or "abstract" in modifiers(owner):
        raise SourceError(f"it needs an object of {name}, which cannot be made without arguments")
    if len(around) > 1 and "static" not in modifiers(owner):
        raise SourceError(f"an object of {name} belongs to one of {own_name(around[1])}")
    body = owner.child_by_field_name("body")
    makers = [
        child for child in (body.named_children if body else []) if child.type == "constructor_declaration"
    ]
    listed = [maker.child_by_field_name("parameters") for maker in makers]
    if makers and not any(each is None or not each.named_children for each in listed):
        raise SourceError(f"it needs an object of {name}, which cannot be made without arguments")


def _qualify(match: re.Match[str]) -> str:
    if match[1]:
        return match[1]
    return f"java.{'math' if match[2] in _MATH else 'util'}.{match[2]}"
