"""The page docs/mutations.md, generated from the classes of the mutations."""

from __future__ import annotations

import difflib
import inspect
import re
import sys

from counterlens.mutations.base import ASSUMPTIONS, Concept
from counterlens.mutations.languages import mutated
from counterlens.mutations.mutation import AnyMutation

_OPENING = """\
# Mutations

What each mutation does to code, with an example. A *preserving* mutation keeps the program's behaviour, and
refuses a site, with the reason, if the source does not show that it is safe. A *breaking* one changes the
behaviour. *Placebos* perturb nothing; they give the [noise floor](probe.md#the-noise-floor) of effects.
`counterlens mutate FILE --explain` shows a file's counterfactuals, the assumptions of each
([listed below](#assumptions)), and why sites are refused. Their [coverage and safety](results/coverage.md)
were measured.

Names that a program looks up by their text (`locals()`, `eval`, `f_locals`) stop Python's preserving
mutations in a function, or in its file. What the source does not show is left to a run: `--settle` runs each
counterfactual, and a probe drops one that fails the function's own tests.

This page is generated: `python scripts/site/mutations.py`.

The sources are the papers of the [protocols](protocols.md).
"""

_JAVA_OPENING = """\
## Java

The mutations of Java (`counterlens mutate File.java::Class.method`) have the same ids as those of Python, and
the same sources and meaning, with the differences below. Types come from the file alone; a site that depends
on an unknown type is refused.
"""


_EVERY = (*mutated("python").own.values(), *mutated("python").placebos.values())


def markdown() -> str:
    """The page, as Markdown."""
    parts = [_OPENING, _overview()]
    for concept in Concept:
        parts.append(f"## {concept.value.capitalize()}\n")
        parts += [_described(mutation) for mutation in _EVERY if mutation.concept is concept]
    parts += _java()
    parts.append("## Assumptions\n")
    parts += [f"- `{name}`: {_flow(text)}" for name, text in ASSUMPTIONS.items()]
    return "\n".join(parts).rstrip() + "\n"


def _java() -> list[str]:
    """Java's section: what is missing, and what differs there from Python."""
    own, python = mutated("java").own.values(), mutated("python").own
    missing = ", ".join(f"`{name}`" for name in mutated("java").missing)
    items = []
    for mutation in own:
        told = _sentences(python[mutation.id]) if mutation.id in python else []
        new = [sentence for sentence in _sentences(mutation) if sentence not in told]
        items += [f"- `{mutation.id}`: {' '.join(new)}"] if new else []
    (retyped,) = (mutation for mutation in own if mutation.id == "var-types")
    return [
        _JAVA_OPENING,
        f"Not yet available for Java: {missing}. "
        "`var-types` is Java's counterpart of changes to type annotations:\n",
        _diff(retyped),
        *items,
        "",
    ]


def _sentences(mutation: AnyMutation) -> list[str]:
    return re.split(r"(?<=[.:]) (?=[A-Z`])", _paragraphs(mutation, " "))


def _overview() -> str:
    ids = [f"[`{mutation.id}`](#{mutation.id})" for mutation in _EVERY if not mutation.preserving]
    return f"Breaking are {', '.join(ids)}; all others are preserving.\n"


def _described(mutation: AnyMutation) -> str:
    text = _paragraphs(mutation, "\n\n")
    return "\n".join([f"### {mutation.id}\n", text, "", f"From {mutation.source}.\n", _diff(mutation)])


def _paragraphs(mutation: AnyMutation, between: str) -> str:
    return between.join(map(_flow, (inspect.getdoc(type(mutation)) or "").split("\n\n")))


def _diff(mutation: AnyMutation) -> str:
    """The first example of a mutation as a difference; empty if it has none that changes the code."""
    for example in mutation.EXAMPLES:
        if example.after is not None:
            before, after = example.before.splitlines(), example.after.splitlines()
            lines = list(difflib.unified_diff(before, after, n=99, lineterm=""))[3:]
            return "\n".join(["```diff", *lines, "```", ""])
    return ""


def _flow(text: str) -> str:
    """A paragraph on one line, with single backquotes instead of double ones."""
    return re.sub(r"\s+", " ", text).strip()


if __name__ == "__main__":
    sys.stdout.write(markdown())
