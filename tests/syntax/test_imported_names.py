"""A function that is named in a file which imports it: the message names the file that defines it."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterlens.errors import SourceError
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function

FILES = {
    "package/__init__.py": "from ._hooks import clip, total as summed\nfrom .stars import *\n",
    "package/_hooks.py": "from .sums import total\nfrom package.sums import Bag\n\ndef clip(n):\n    pass\n",
    "package/sums.py": "def total(xs):\n    return sum(xs)\n\nclass Bag:\n    def put(self):\n        pass\n",
    "package/stars.py": "try:\n    from .deep.inner import most\nexcept ImportError:\n    most = None\n",
    "package/deep/__init__.py": "",
    "package/deep/inner.py": "from ..sums import total\nfrom . import inner\n\ndef most(xs):\n    pass\n",
    "package/circle.py": "from .ring import endless\nfrom math import floor\n\ndef other():\n    pass\n",
    "package/ring.py": "from .circle import endless\n",
    "package/broken.py": "def (\n",
    "package/uses_broken.py": "from .broken import lost\n\ndef other():\n    pass\n",
}


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)


def hint(path: str, name: str) -> str:
    with pytest.raises(SourceError) as error:
        find_function(Document.read(Path(path)), name)
    return f"{error.value.message}; {error.value.hint}"


@pytest.mark.parametrize(
    ("path", "name", "place"),
    [
        ("package/_hooks.py", "total", "package/sums.py::total"),
        ("package/_hooks.py", "Bag.put", "package/sums.py::Bag.put"),
        ("package/__init__.py", "summed", "package/sums.py::total"),
        ("package/__init__.py", "most", "package/deep/inner.py::most"),
        ("package/deep/inner.py", "total", "package/sums.py::total"),
    ],
)
def test_the_file_that_defines_an_imported_name_is_named(path: str, name: str, place: str) -> None:
    said = hint(path, name)
    assert said == f"{name} is not defined in {path}, which imports it; Name its file: {place}"
    file, _, function = place.partition("::")
    assert find_function(Document.read(Path(file)), function).qualname == function


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("package/circle.py", "endless"),
        ("package/circle.py", "floor"),
        ("package/_hooks.py", "nothing"),
        ("package/uses_broken.py", "lost"),
    ],
)
def test_what_no_file_here_defines_is_just_not_there(path: str, name: str) -> None:
    assert f"there is no function {name} in {path}" in hint(path, name)
