"""Of functions that fail tests together, those that are to blame.

A function fails its tests, too, if one that it calls has a bug; and a test of the caller may name the called
function. So a function is not marked if it calls, directly or through others, one that fails its tests by
itself; and one that fails only some of the tests that its caller fails is not the culprit.
"""

from __future__ import annotations

from collections.abc import Sequence

from counterlens.doubt.failing import FailingFunction
from counterlens.doubt.marking import Doubt, Mark, Verification
from counterlens.doubt.scope import DoubtScope


def culprits(marks: Sequence[Mark]) -> list[Mark]:
    """The marks without those at functions that fail their tests because of another marked function."""
    failing = [mark for mark in marks if isinstance(mark, FailingFunction)]
    acquitted = {
        id(mark)
        for mark in failing
        for other in failing
        if mark.failures < other.failures and calls(other.scope, mark.scope)
    }
    guilty = [mark for mark in marks if id(mark) not in acquitted and is_failing(mark)]
    return [
        mark
        for mark in marks
        if id(mark) not in acquitted
        and not (is_failing(mark) and any(_depends(mark.scope, other.scope) for other in guilty))
    ]


def is_raised_elsewhere(mark: FailingFunction) -> bool:
    """Whether a function of the same file raised the error of a test, which the marked one never calls."""
    scope, at = mark.scope, mark.failed.at
    inside = [each for each in scope.file.functions if each.start_line <= at <= each.end_line]
    if not inside or scope.function in inside:
        return False
    return not calls(scope, DoubtScope(scope.file, inside[0]))


def is_failing(mark: Mark) -> bool:
    """Whether tests fail on the code of a mark, and either its alternative passes them or there is none."""
    if isinstance(mark, Doubt):
        return mark.tests in {Verification.FAIL, Verification.UNCONFIRMED}
    return isinstance(mark, FailingFunction)


def _depends(scope: DoubtScope, other: DoubtScope) -> bool:
    """Whether a function calls another one that does not call it back."""
    return calls(scope, other) and not calls(other, scope)


def calls(scope: DoubtScope, other: DoubtScope) -> bool:
    """Whether a function mentions another one, directly or through functions of its file."""
    if scope.file.document.path == other.file.document.path and scope.function == other.function:
        return False
    file, name = scope.file, other.function.name
    pending, seen = [scope.function.qualname], {scope.function.qualname}
    defined = {each: each.rpartition(".")[2] for each in file.mentioned}
    while pending:
        mentioned = file.mentioned.get(pending.pop(), frozenset())
        if name in mentioned and _is_known(scope, other):
            return True
        more = [each for each, short in defined.items() if short in mentioned and each not in seen]
        seen.update(more)
        pending += more
    return False


def _is_known(scope: DoubtScope, other: DoubtScope) -> bool:
    """Whether a file defines another's function, or imports from a module with the name of its file."""
    path = other.document.path
    if path is None or path == scope.document.path:
        return path == scope.document.path
    stem = path.parent.name if path.stem == "__init__" else path.stem
    return any(
        stem in (node.text or b"").decode()
        for node in scope.file.nodes
        if node.type in {"import_statement", "import_from_statement"}
    )
