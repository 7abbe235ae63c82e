"""The section on Java in docs/mutations.md: the differences, and the measurements."""

from __future__ import annotations

OPENING = """\
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

MEASURED = """\
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
