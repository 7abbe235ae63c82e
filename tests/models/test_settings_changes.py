"""What users wrote beside their settings stays when a command changes these."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from counterlens.models.settings_changes import with_model


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ('models = [\n  "smollm2-135m",  # mine\n  "near",\n]\n', "# mine"),
        ('models = ["a#b"]\n', None),
        (
            'models = [ # first\n "a", # second\n]\nlimit = 3 # third\n',
            'limit = 3 # third\nmodel = "far" # first; second',
        ),
        ('model = "a"  # mine\n', "# mine"),
    ],
)
def test_comments_stay_when_a_list_of_models_becomes_one(tmp_path: Path, text: str, kept: str | None) -> None:
    path = tmp_path / "counterlens.toml"
    path.write_text(text)
    changed = with_model(path, "far")
    assert tomllib.loads(changed) == {k: v for k, v in tomllib.loads(text).items() if k == "limit"} | {
        "model": "far"
    }
    assert (kept or "far") in changed
    assert kept or "#" not in changed
