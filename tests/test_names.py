"""One name, one meaning: a public class name is in one module only; no identifier has a retired word."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "server" / "counterlens"
STATEMENTS = (ast.stmt, ast.excepthandler, ast.match_case)
RETIRED = {
    re.compile(rf"(?:^|_)(?:{name['retired']})(?=_|$)"): name["instead"]
    for name in tomllib.loads(Path(__file__).with_name("vocabulary.toml").read_text(encoding="utf-8"))["name"]
}


@cache
def trees() -> dict[str, ast.Module]:
    """The modules of the package, parsed, by path."""
    return {
        str(path.relative_to(PACKAGE)): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(PACKAGE.rglob("*.py"))
    }


def public_classes() -> dict[str, set[str]]:
    """The modules of each public class name."""
    modules: dict[str, set[str]] = defaultdict(set)
    for path, tree in trees().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                modules[node.name].add(path)
    return modules


def test_a_public_class_name_stands_in_one_module_only() -> None:
    classes = public_classes()
    assert len(classes) > 200
    assert {name: sorted(modules) for name, modules in classes.items() if len(modules) > 1} == {}


def defined_names(module: ast.Module) -> Iterator[tuple[int, str]]:
    """The classes, functions and parameters of a module in snake case, with their lines.

    Fields and local variables are not among them: fields are keys of stored records and messages.
    """
    waiting: list[ast.AST] = [module]
    while waiting:
        node = waiting.pop()
        waiting += [child for child in ast.iter_child_nodes(node) if isinstance(child, STATEMENTS)]
        if isinstance(node, ast.ClassDef):
            yield node.lineno, re.sub(r"(?<=[a-z])(?=[A-Z])", "_", node.name).lower()
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.lineno, node.name
            yield from ((each.lineno, each.arg) for each in ast.walk(node.args) if isinstance(each, ast.arg))


def retired_in(name: str) -> list[str]:
    """What to say instead of each retired word in an identifier."""
    return [instead for pattern, instead in RETIRED.items() if pattern.search(name)]


def test_identifiers_have_no_retired_words() -> None:
    found = [
        f"{path}:{line}: {name}: {instead}"
        for path, tree in trees().items()
        for line, name in defined_names(tree)
        for instead in retired_in(name)
    ]
    assert found == [], "\n".join(found)


def test_a_retired_word_would_be_found() -> None:
    module = ast.parse(
        "class RunTeller:\n    def _told(self, anew=False): pass\n    def foretold(self): pass"
    )
    assert [name for _, name in defined_names(module) if retired_in(name)] == ["run_teller", "_told", "anew"]


VAGUE = {"found", "one"}
"""Names of variables that say nothing about what they hold."""
RETIRED_ALONE = {
    "known": "the noun of what it holds: records, scores, cached_answer, by_kind, entry, is_trusted"
}
"""What to write instead of a word that is no name, but may be a part of one (`known_inputs`)."""
PARTICIPLE = re.compile(
    "[a-z]+ed|heard|taken|shown|drawn|made|said|told|kept|known|given|written|seen|done|sent|held|left|lost|met"
    "|paid|sold|built|bought|brought|caught|taught|thought|felt|chosen|broken|spoken|stolen|driven|risen|hidden"
    "|begun|spun|bound|worn|torn|grown|thrown|blown|flown|lent|spent|meant|laid|led|fed|bent|dealt|struck|stuck"
    "|swung|hung|won"
)
VERBS = {"need", "embed", "feed", "seed", "speed", "shed", "exceed", "proceed"}
"""Verbs and nouns that end like a participle."""


def vague_variables(module: ast.Module) -> int:
    """How often a vague name stands for a variable or a parameter."""
    return sum(
        (isinstance(node, ast.Name) and node.id in VAGUE) or (isinstance(node, ast.arg) and node.arg in VAGUE)
        for node in ast.walk(module)
    )


def retired_alone(module: ast.Module) -> Iterator[tuple[int, str]]:
    """The variables, parameters, attributes and functions whose whole name is retired, with their lines."""
    for node in ast.walk(module):
        match node:
            case ast.Name(id=name) | ast.arg(arg=name) | ast.Attribute(attr=name):
                pass
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                pass
            case _:
                continue
        if name.strip("_") in RETIRED_ALONE:
            yield node.lineno, name


def bare_participles(module: ast.Module) -> list[str]:
    """The functions of a module that are named by a participle alone: by neither a verb nor a noun.

    Methods are not among them: a property may say in which state its object is.
    """
    functions = [node for node in module.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    names = [node.name.strip("_") for node in functions]
    return [name for name in names if PARTICIPLE.fullmatch(name) and name not in VERBS]


def test_vague_names_do_not_become_more() -> None:
    # Lower a number when there are fewer.
    vague = {path: count for path, tree in trees().items() if (count := vague_variables(tree))}
    assert sum(vague.values()) <= 7, f"name a variable by what it holds, not {VAGUE}: {vague}"
    participles = [f"{path}: {name}" for path, tree in trees().items() for name in bare_participles(tree)]
    assert len(participles) <= 28, (
        "name a new function by a verb or a noun (`edits_of`, not `edited`):\n" + "\n".join(participles)
    )


def test_no_name_is_a_retired_word() -> None:
    found = [
        f"{path}:{line}: {name}: {RETIRED_ALONE[name.strip('_')]}"
        for path, tree in trees().items()
        for line, name in retired_alone(tree)
    ]
    assert found == [], "\n".join(found)


def test_a_name_that_is_a_retired_word_would_be_found() -> None:
    module = ast.parse(
        "class Kept:\n    def _known(self, known=0): return self.known\n    known_inputs = known = 1\n"
        'f"{known}"\nknown_inputs'
    )
    assert sorted(name for _, name in retired_alone(module)) == ["_known", *["known"] * 4]


def test_vague_names_would_be_counted() -> None:
    module = ast.parse(
        "def _marked(one): pass\nasync def taken(): found = 1\ndef seed(): pass\ndef mark(): pass"
    )
    assert vague_variables(module) == 2
    assert bare_participles(module) == ["marked", "taken"]
