"""`python -m tests.attack [CLASS…]`: try everything, or classes by how their names begin; prints a table."""

from __future__ import annotations

import sys

import pytest

from tests.attack import CLASSES, Tally

wanted = tuple(sys.argv[1:]) or ("",)
places = [place for name, some in CLASSES.items() if name.startswith(wanted) for place in some]
if not places:
    sys.exit(f"there is no such class; there are: {', '.join(name.partition(':')[0] for name in CLASSES)}")
tally = Tally()
code = pytest.main(["-q", "-p", "no:cacheprovider", "--no-header", *places], plugins=[tally])
print(tally.table())
sys.exit(code)
