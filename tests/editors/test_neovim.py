"""A real Neovim with the configuration that docs/editors.md gives: marks, hover, code action, probe."""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pynvim
import pytest

ROOT = Path(__file__).parents[2]
PATIENCE = 900.0  # seconds; a busy machine is no failure

ODD = '''\
def longest(words):
    """Return the longest word.

    >>> longest(["a", "abc", "ab"])
    'abc'
    """
    best = ""
    for word in words:
        if len(word) > len(best):
            best = word
    return zxqvkj or best
'''
PARITY = (ROOT / "examples" / "parity.py").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def vim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    if shutil.which("nvim") is None:
        assert not os.environ.get("CI"), "continuous integration has Neovim"
        pytest.skip("there is no Neovim here: apt-get install neovim")
    home = tmp_path_factory.mktemp("neovim")
    text = (ROOT / "docs" / "editors.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```lua\n(.*?)```", text, re.DOTALL)
    named = 'settings = { model = "smollm2-135m"'
    assert named in block
    more = "diagnostics = { enabled = true }, probe = { maxTokens = 8 }"  # marks, and short answers
    block = block.replace(named, f"{named}, {more}")
    (home / "init.lua").write_text(block, encoding="utf-8")
    (home / "odd.py").write_text(ODD, encoding="utf-8")
    (home / "parity.py").write_text(PARITY, encoding="utf-8")
    program = ["nvim", "--headless", "--embed", "-u", str(home / "init.lua")]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    old = dict(os.environ)
    os.environ.update(PATH=path, HOME=str(home), XDG_CONFIG_HOME=str(home), XDG_DATA_HOME=str(home))
    try:
        editor = pynvim.attach("child", argv=program)
    finally:
        os.environ.clear()
        os.environ.update(old)
    editor.command("filetype plugin on")
    editor.command(f"cd {home}")
    yield editor
    editor.command("qall!", async_=True)
    editor.close()


def until(condition: Callable[[], Any], what: str) -> Any:
    ends = time.monotonic() + PATIENCE
    while time.monotonic() < ends:
        found = condition()
        if found:
            return found
        time.sleep(0.2)
    raise AssertionError(f"there is no {what} after {PATIENCE:.0f} s")


def marks(vim: Any) -> list[Any]:
    return list(vim.exec_lua("return vim.diagnostic.get(0)"))


def floating(vim: Any) -> str:
    """The contents of floating windows."""
    shown = [one for one in vim.windows if vim.api.win_get_config(one)["relative"]]
    return "\n".join(line for one in shown for line in one.buffer[:])


def test_marks_a_hover_and_a_code_action(vim: Any) -> None:
    vim.command("edit odd.py")
    (mark,) = until(lambda: marks(vim), "mark")
    assert mark["code"] == "surprising"
    assert "zxqvkj" in mark["message"]

    vim.api.win_set_cursor(0, [11, 11])
    vim.exec_lua("vim.lsp.buf.hover()")
    assert "confidence" in until(lambda: floating(vim), "hover")
    vim.command("only")  # closes the hover

    # A person would choose from a list; the first that replaces is chosen here.
    vim.exec_lua(
        """vim.ui.select = function(items, options, choose)
             titles = vim.tbl_map(options.format_item, items)
             for i, title in ipairs(titles) do
               if title:match('^Replace') then choose(items[i], i) return end
             end
             choose(nil, nil)
           end"""
    )
    vim.api.win_set_cursor(0, [11, 11])
    vim.exec_lua("vim.lsp.buf.code_action()")
    until(lambda: "zxqvkj" not in vim.current.buffer[10], "replacement")


def test_the_probe_command_opens_its_report(vim: Any) -> None:
    vim.command("edit! parity.py")
    vim.api.win_set_cursor(0, [9, 4])
    until(lambda: vim.exec_lua("return #vim.lsp.buf_get_clients(0)"), "server")
    vim.command("CounterlensProbe")
    report = until(
        lambda: vim.current.buffer.options["filetype"] == "markdown" and "\n".join(vim.current.buffer[:]),
        "report",
    )
    assert "average mutation effect" in report
    assert "if-else-flip" in report
