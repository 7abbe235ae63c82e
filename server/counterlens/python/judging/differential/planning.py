"""How a function can be called: from its source, and from calls that its tests make; nothing runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from counterlens.judging.base import Setting
from counterlens.judging.comparing import Untestable
from counterlens.python.judging.differential.inputs import recorded_call
from counterlens.python.judging.differential.observed import find_node, names_read_outside, why_not
from counterlens.python.judging.differential.original import Original, OriginalStudy
from counterlens.python.judging.layout import Layout, layout_of
from counterlens.python.judging.recording import Recorder
from counterlens.python.syntax.parsing import parse_module
from counterlens.python.syntax.versions import parse_error
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function

_ROOM = 16 << 20  # maximum bytes of a report


def study(
    document: Document,
    qualname: str,
    setting: Setting,
    *,
    seed: int = 0,
    more: Sequence[str] = (),
    recorded: Sequence[Any] = (),
) -> Original | Untestable:
    """Find inputs for a function, and record its behaviour on them.

    Args:
        document: The original file.
        setting: Its sandbox and interpreter, and what cancels.
        seed: Random seed of the inputs.
        more: Further texts that may call it with literal arguments, such as its tests.
        recorded: Calls that its tests make; if there are any, inputs are drawn from their domain.

    Raises:
        Cancelled, SandboxError: as `Sandbox.run`.
    """
    planned = plan_study(document, qualname, setting, seed=seed, more=more, recorded=recorded)
    return planned if isinstance(planned, Untestable) else planned.result()


def plan_study(
    document: Document,
    qualname: str,
    setting: Setting,
    *,
    seed: int = 0,
    more: Sequence[str] = (),
    recorded: Sequence[Any] = (),
    versions: Sequence[str] = (),
) -> OriginalStudy | Untestable:
    """Find out how a function, or the objects of a class, can be called; nothing runs.

    Args:
        seed, more, recorded: As of `study`.
        versions: Other texts of the file, whose literals suggest inputs too: where a version treats 100
            differently and the code does not, only an input near 100 shows it.
    """
    module = _module_of(document.text)
    if isinstance(module, Untestable):
        return module
    # Imported here: they use Hypothesis, whose import is a large part of a start, and few functions need it.
    from counterlens.python.judging.differential.generation import CallPlan, plan
    from counterlens.python.judging.differential.observed import calls_of, hints_of
    from counterlens.python.judging.differential.shapes import Shapes

    made = tuple(call for call in map(recorded_call, recorded) if call is not None)
    if definition := _class_named(module, qualname):
        made = tuple(call for call in made if call.steps) or made
        reason = "the tests make no object of it"
        shapes = Shapes(module, hints_of([definition], made))
        if not made:
            return Untestable(reason)
        of_objects = CallPlan(qualname, shapes, reason, made, recorded=True)
        recorder = _recorder(document, module, qualname, setting)
        return OriginalStudy(document.text, range(0), of_objects, recorder, seed)
    node, around = find_node(module, qualname)
    why = why_not(node, around)
    if node is None or why is not None:
        return Untestable(why or "it is not in the file")
    owner = next((outer for outer in around if isinstance(outer, ast.ClassDef)), None)
    constructor = node.name in {"__init__", "__new__"} and owner is not None
    seen = calls_of(module, node, owner.name if constructor and owner else node.name, more)
    lines = range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1)
    nodes = [node, *_versions_of(qualname, versions)]
    how = plan(Shapes(module, hints_of(nodes, made or seen)), node, owner, seen, made)
    if isinstance(how.parameters, str) and not how.seen:
        return Untestable(how.parameters)
    recorder = _recorder(document, module, how.target, setting)
    return OriginalStudy(document.text, lines, how, recorder, seed)


def never_compared(document: Document, function: Function) -> str | None:
    """Why `study` finds nothing about a function, whatever the inputs; see `JudgedLanguage`."""
    module = _module_of(document.text)
    if isinstance(module, Untestable):
        return module.reason
    if _class_named(module, function.qualname):
        return None
    return why_not(*find_node(module, function.qualname))


def _module_of(text: str) -> ast.Module | Untestable:
    try:
        return parse_module(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return Untestable(parse_error(text, error).message)


def _versions_of(qualname: str, texts: Sequence[str]) -> Iterator[ast.AST]:
    """A function in other texts of its file; nothing of a text that is not Python."""
    for text in texts:
        module = _module_of(text)
        node = None if isinstance(module, Untestable) else find_node(module, qualname)[0]
        if node is not None:
            yield node


def _class_named(module: ast.Module, name: str) -> ast.ClassDef | None:
    """The class whose objects are meant by a name; the first one counts."""
    return next((each for each in module.body if isinstance(each, ast.ClassDef) and each.name == name), None)


def _recorder(document: Document, module: ast.Module, target: str, setting: Setting) -> Recorder:
    place = layout_of(document.path, document.text) if document.path else None
    room = replace(setting.limits, output_bytes=max(_ROOM, setting.limits.output_bytes))
    return Recorder(
        replace(setting, limits=room),
        place,
        target,
        _needs_project(module, place),
        shared=names_read_outside(module, target),
    )


def _needs_project(module: ast.Module, place: Layout | None) -> bool:
    """Whether a file imports from its own project, so that it must be able to read it."""
    if place is None:
        return False
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and node.level:
            return True
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            top = name.partition(".")[0]
            if any((root / top).is_dir() or (root / f"{top}.py").is_file() for root in place.roots):
                return True
    return "." in place.module
