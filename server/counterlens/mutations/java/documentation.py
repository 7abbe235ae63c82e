"""What docs/mutations.md says of Java besides its mutations: what differs, and what was measured."""

from __future__ import annotations

OPENING = """\
## Java

`counterlens mutate File.java` shows the counterfactuals of a Java file, or of one method
(`File.java::Class.method`). The mutations have the ids that Python's have, and do to Java what the sections
above say. Where the source does not show that a site is safe, it is refused, with the reason (`--explain`):
because of the order of evaluation, side effects, names that are also fields, a `continue`, code that the
compiler could no longer reach, patterns that bind variables. What is not edited survives byte for byte.
Mutations that Java does not have yet are listed with the refused sites.

Types are those that the file shows: of literals, declared variables and fields, text, arrays, boxed numbers
and the usual collections. Where a type decides and is not known, the site is refused.

Java programs are mutated, and not yet run: `--settle`, `probe` and `judge` are for Python.
"""

MEASURED = ""
"""What running the counterfactuals of Java has shown, with the command."""
