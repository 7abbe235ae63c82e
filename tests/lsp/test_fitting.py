"""Margins are fitted on request, in the background, and the status says where they are missing."""

from __future__ import annotations

import sysconfig
from pathlib import Path

from lsprotocol import types
from pytest_lsp import LanguageClient

from counterlens.doubt.margins import margins_file
from counterlens.lsp import fitting
from tests.doubt.conftest import WordModel
from tests.lsp.test_doubts import RIGHT, shared_words, words  # noqa: F401 - fixtures
from tests.lsp.word_server import FITTED_ON


def test_functions_of_the_workspace_come_first_and_tests_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_a.py").write_text(RIGHT)
    (tmp_path / "a.py").write_text(RIGHT)
    first, second, *_ = fitting._files([tmp_path])
    assert (first.name, second.parent) == ("a.py", Path(sysconfig.get_path("stdlib")))
    assert [scope.function.name for scope in fitting._functions_of(tmp_path / "a.py")] == ["other"]
    assert fitting._functions_of(tmp_path / "none.py") == []


async def test_margins_are_fitted_and_kept(words: LanguageClient) -> None:  # noqa: F811
    kept = margins_file(WordModel({}).info)
    answer = await words.workspace_execute_command_async(types.ExecuteCommandParams(fitting.COMMAND))
    assert answer["ok"]
    assert answer["functions"] == FITTED_ON
    assert kept.is_file()
    kept.unlink()
