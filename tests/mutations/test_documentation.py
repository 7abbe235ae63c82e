"""docs/mutations.md is made from the mutations, and is not older than they are."""

from pathlib import Path

from counterlens.mutations.documentation import markdown

PAGE = Path(__file__).parents[2] / "docs" / "mutations.md"


def test_the_page_is_not_stale() -> None:
    command = "python -m counterlens.mutations.documentation > docs/mutations.md"
    assert PAGE.read_text(encoding="utf-8") == markdown(), f"run {command}"
