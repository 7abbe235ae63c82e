"""The page docs/mutations.md, generated from the classes of the mutations."""

from __future__ import annotations

import difflib
import inspect
import re
import sys

from counterlens.mutations.assumptions import ASSUMPTIONS
from counterlens.mutations.base import Concept
from counterlens.mutations.engine import survey
from counterlens.mutations.java import documentation as java
from counterlens.mutations.java.registry import JAVA_MUTATIONS
from counterlens.mutations.languages import mutated
from counterlens.mutations.mutation import AnyMutation, Example
from counterlens.mutations.placebo_registry import PLACEBOS
from counterlens.mutations.registry import MUTATIONS

_OPENING = """\
# Mutations

Each mutation perturbs one programming concept. A *preserving* mutation keeps the program's behaviour, and
refuses a site, with the reason, if the source does not show that it is safe. A *breaking* one changes the
behaviour. Each counterfactual records its assumptions, which are listed at the end. *Placebos* perturb
nothing; they cannot be chosen, and give the [noise floor](probe.md#the-noise-floor) of effects.

Three things are judged for all of Python's preserving mutations at once, not by each of them:

- *Lookups by name.* In a function whose variables `locals()`, `vars`, `dir`, `eval`, `exec`, a frame or an
  alias of these may look up, a site must keep their names, their set and their order.
- *Names in texts.* A variable whose name stands as a word in a text that unknown code gets
  (`frame.query("x > @limit")`) keeps its name, and counts as read by that call. Builtins, most of the
  standard library, functions of the file, exceptions and messages do not count; a text that is only stored
  in an attribute needs the assumption `names-unread`.
- *Reads that write.* Where the file shows that an operator, attribute, subscript or test changes something (a
  `defaultdict`, a special method or property of its own classes, `in` on an iterator), it counts as a change,
  and `pure-operators` is not assumed.

This page is generated from the mutations' classes: `python -m counterlens.mutations.documentation`.

The sources: Hooda et al. 2024, *Do large code models understand programming concepts? Counterfactual analysis
for code predicates* (CACP); Ahmed et al. 2024, *Towards understanding what code language models learned*;
Liu et al. 2024, *CodeMind*; Nguyen et al. 2024, *EMPICA*.
"""


_EVERY = (*MUTATIONS.values(), *PLACEBOS.values())


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
    """Java's section: the differences, each mutation, and what is missing."""
    described = [_described(mutation, "java", " in Java") for mutation in JAVA_MUTATIONS.values()]
    missing = ", ".join(f"`{name}`" for name in mutated("java").missing)
    return [
        java.OPENING,
        f"Not yet available for Java: {missing}. "
        "`var-types` is Java's counterpart of changes to type annotations.\n",
        java.MEASURED,
        *described,
    ]


def _overview() -> str:
    rows = ["| mutation | concept | keeps the meaning |", "|---|---|---|"]
    for mutation in _EVERY:
        kept = "yes" if mutation.preserving else "no"
        rows.append(f"| [`{mutation.id}`](#{mutation.id}) | {mutation.concept.value} | {kept} |")
    return "\n".join(rows) + "\n"


def _described(mutation: AnyMutation, language: str = "python", where: str = "") -> str:
    text = inspect.getdoc(type(mutation)) or ""
    parts = [f"### {mutation.id}{where}\n", "\n\n".join(map(_flow, text.split("\n\n"))), ""]
    kept = "Preserving" if mutation.preserving else "Breaking"
    parts.append(f"{kept}. From {mutation.source}.\n")
    parts += [_diff(example) for example in mutation.EXAMPLES if example.after is not None][:1]
    refused = [example for example in mutation.EXAMPLES if example.refused is not None]
    if refused:
        parts.append("Refused, among others:\n")
        parts += [_refusal(mutation, example, language) for example in refused]
        parts.append("")
    return "\n".join(parts)


def _diff(example: Example) -> str:
    before, after = example.before.splitlines(), (example.after or "").splitlines()
    lines = list(difflib.unified_diff(before, after, n=99, lineterm=""))[3:]
    return "\n".join(["```diff", *lines, "```", ""])


def _refusal(mutation: AnyMutation, example: Example, language: str) -> str:
    refused = survey(example.before, mutations=[mutation], language=language).refusals
    reasons = [found.reason for found in refused]
    return f"- {next(reason for reason in reasons if (example.refused or '') in reason)}"


def _flow(text: str) -> str:
    """A paragraph on one line, with single backquotes instead of double ones."""
    return re.sub(r"\s+", " ", text).strip()


if __name__ == "__main__":
    sys.stdout.write(markdown())
