"""The page docs/mutations.md, generated from the classes of the mutations."""

from __future__ import annotations

import difflib
import inspect
import re
import sys

from counterlens.mutations.assumptions import ASSUMPTIONS
from counterlens.mutations.base import Concept
from counterlens.mutations.engine import survey
from counterlens.mutations.languages import mutated
from counterlens.mutations.mutation import AnyMutation, Example

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

This page is generated from the mutations' classes: `python scripts/site/mutations.py`.

The sources: Hooda et al. 2024, *Do large code models understand programming concepts? Counterfactual analysis
for code predicates* (CACP); Ahmed et al. 2024, *Towards understanding what code language models learned*;
Liu et al. 2024, *CodeMind*; Nguyen et al. 2024, *EMPICA*.
"""

_JAVA_OPENING = """\
## Java

`counterlens mutate File.java` shows the counterfactuals of a Java file, or of one method
(`File.java::Class.method`). The mutations have the same ids as those for Python, and the same
meaning. A site is refused, with the reason (`--explain`), if the source does not show that it is safe:
because of the order of evaluation, side effects, names that are also fields, a `continue`, code that the
compiler could no longer reach, patterns that bind variables. Unedited code survives byte for byte.
Mutations that Java does not have yet are listed with the refused sites.
A file with a unicode escape that is syntax, such as an escaped brace, is refused.

Types come from the file alone: those of literals, declared variables and fields, text, arrays, boxed numbers
and the usual collections. A site that depends on an unknown type is refused.

`judge`, `probe` and `--settle` run Java ([sandbox](sandbox.md)).
"""

_JAVA_MEASURED = """\
### Measured safety

    python benchmarks/mutation_safety.py --data DATA --language java

judges every counterfactual of HumanEval-X and HumanEvalPack by the problem's tests, in the sandbox
(JDK 17). The two have all programs but one in common, so there are 165. All originals
pass. All of the 1,697 counterfactuals that keep the meaning compile and pass. All of the 917 that break it
compile, and the tests distinguish 880 from the original (96.0 %). No method of these programs has its
parameters reordered, since other classes may call it.

| mutation | counterfactuals | problems | refused sites | passed | failed or late | did not compile |
|---|---|---|---|---|---|---|
| `if-else-flip` | 124 | 72 | 116 | 124 | 0 | 0 |
| `independent-swap` | 70 | 45 | 517 | 70 | 0 | 0 |
| `for-while-convert` | 98 | 69 | 3 | 98 | 0 | 0 |
| `refactor-condition` | 208 | 116 | 32 | 208 | 0 | 0 |
| `negate-condition` | 239 | 116 | 1 | 2 | 237 | 0 |
| `remove-conditional` | 105 | 74 | 135 | 5 | 100 | 0 |
| `block-swap-plain` | 69 | 40 | 171 | 0 | 69 | 0 |
| `def-use-break` | 4 | 4 | 68 | 4 | 0 | 0 |
| `operand-swap` | 426 | 133 | 44 | 426 | 0 | 0 |
| `reorder-parameters` | 0 | 0 | 172 | 0 | 0 | 0 |
| `replace-arithmetic` | 358 | 121 | 37 | 20 | 338 | 0 |
| `remove-definition` | 146 | 75 | 243 | 10 | 136 | 0 |
| `rename-random` | 169 | 165 | 2 | 169 | 0 | 0 |
| `rename-shuffle` | 157 | 154 | 14 | 157 | 0 | 0 |
| `rename-generic` | 169 | 165 | 2 | 169 | 0 | 0 |
| `var-types` | 272 | 120 | 125 | 272 | 0 | 0 |
"""
"""The results of running the counterfactuals of Java, with the command."""


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
    """Java's section: the differences, each mutation, and what is missing."""
    described = [_described(mutation, "java", " in Java") for mutation in mutated("java").own.values()]
    missing = ", ".join(f"`{name}`" for name in mutated("java").missing)
    return [
        _JAVA_OPENING,
        f"Not yet available for Java: {missing}. "
        "`var-types` is Java's counterpart of changes to type annotations.\n",
        _JAVA_MEASURED,
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
