"""docs/mutations.md is made from the mutations, and is not older than they are."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPT = "scripts/site/mutations.py"


def test_the_page_is_not_stale() -> None:
    made = subprocess.run([sys.executable, SCRIPT], cwd=ROOT, check=True, capture_output=True, text=True)
    page = (ROOT / "docs" / "mutations.md").read_text(encoding="utf-8")
    assert page == made.stdout, f"run python {SCRIPT} > docs/mutations.md"
