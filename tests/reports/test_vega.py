"""The script of interactive plots is made once for all processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterlens.reports.render import vega


def test_the_script_is_kept_and_a_damaged_one_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []

    def bundled() -> str:
        made.append("one")
        return "const end = '</script><!--';\r\n"

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(vega, "_bundled", bundled)
    safe = "const end = '<\\/script><\\!--';\r\n"
    for _ in range(2):
        assert vega.bundle.__wrapped__() == safe
    assert len(made) == 1
    (kept,) = (tmp_path / "counterlens").iterdir()
    kept.write_bytes(kept.read_bytes()[:-1])
    assert vega.bundle.__wrapped__() == safe
    assert len(made) == 2
    kept.unlink()
    kept.mkdir()  # it cannot be written
    assert vega.bundle.__wrapped__() == safe
