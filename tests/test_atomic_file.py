"""Files that are replaced atomically."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from counterlens.atomic_file import replace_file


def test_a_reader_sees_one_whole_content_while_threads_replace_a_file(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "notes.json"
    contents = [letter * 100_000 for letter in "abcd"]
    replace_file(path, contents[0])
    with ThreadPoolExecutor(4) as threads:
        writing = [threads.submit(replace_file, path, text) for text in contents * 10]
        while not all(one.done() for one in writing):
            assert path.read_text(encoding="utf-8") in contents
        for one in writing:
            one.result()
    assert list(path.parent.iterdir()) == [path]


def test_a_file_that_cannot_be_replaced_keeps_its_content_and_leaves_no_part(tmp_path: Path) -> None:
    path = tmp_path / "folder"
    (path / "inside").mkdir(parents=True)
    with pytest.raises(OSError, match="folder"):
        replace_file(path, b"content")
    assert list(tmp_path.iterdir()) == [path]


def test_text_is_utf_8(tmp_path: Path) -> None:
    replace_file(tmp_path / "a", "ä€")
    assert (tmp_path / "a").read_bytes() == "ä€".encode()
