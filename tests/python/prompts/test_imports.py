"""The definitions of other files in prompts."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterlens.errors import OptionError
from counterlens.probes.prompts.gap import Gap, View
from counterlens.python.prompts.language import MOST_CHARACTERS, imported_definitions
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function

FILES = {
    "pyproject.toml": "",
    "shop/__init__.py": "from .rates import rate\nLIMIT = 7\n",
    "shop/rates.py": 'def rate(name):\n    """The rate of a name."""\n    return len(name)\n',
    "shop/models.py": (
        'import functools\n\n\nclass Basket:\n    """Goods."""\n\n'
        "    @functools.cache\n    def total(self):\n" + "        x = 1\n" * 40 + "        return x\n"
    ),
    "outside.py": "from shop import rate\n",
}
MAIN = """import json
from shop import rate, LIMIT
from . import models
from .models import Basket as B
import shop.rates


def price(name):
    basket = B()
    json.dumps(name)
    return rate(name) * LIMIT + basket.total() + shop.rates.rate(name)


def other():
    return models.Basket


def plain(rate):
    return 1
"""


@pytest.fixture
def document(tmp_path: Path) -> Document:
    """A module of a package that imports in every way."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    path = tmp_path / "shop" / "prices.py"
    path.write_text(MAIN)
    return Document(MAIN, path)


def definitions(document: Document, name: str) -> str:
    """What a prompt about a function shows of other files."""
    return imported_definitions(document, find_function(document, name))


def test_each_name_is_followed_to_its_definition_in_the_order_of_its_use(document: Document) -> None:
    text = definitions(document, "price")
    parts = ["# shop/models.py", "class Basket:", "# shop/rates.py\ndef rate(name):", "LIMIT = 7"]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert text.count("def rate") == 1  # imported twice, defined once
    assert "json" not in text  # a module of the library


def test_a_long_class_is_shown_by_its_headers_and_docstrings(document: Document) -> None:
    text = definitions(document, "other")
    assert "    @functools.cache\n    def total(self):\n        ..." in text
    assert '"""Goods."""' in text
    assert "x = 1" not in text


def test_a_function_that_uses_nothing_of_other_files_has_no_such_text(document: Document) -> None:
    assert definitions(document, "plain") == ""
    assert imported_definitions(Document(MAIN), find_function(Document(MAIN), "price")) == ""


def test_what_does_not_fit_is_left_out(document: Document) -> None:
    assert document.path is not None
    long = "def rate(name):\n    return '" + "x" * MOST_CHARACTERS + "'\n"
    (document.path.parent / "rates.py").write_text(long)
    assert "rate" not in definitions(document, "price").partition("LIMIT")[0]
    assert "LIMIT = 7" in definitions(document, "price")


def test_a_form_feed_is_no_line_end(document: Document) -> None:
    assert document.path is not None
    text = f"import os\n\x0c\n{FILES['shop/rates.py']}"
    (document.path.parent / "rates.py").write_text(text)
    assert "def rate(name):" in definitions(document, "price")
    (document.path.parent / "rates.py").chmod(0)  # an unreadable file shows nothing, and is no error
    definitions(document, "price")


def test_files_outside_of_the_project_or_broken_are_not_shown(document: Document, tmp_path: Path) -> None:
    assert document.path is not None
    (document.path.parent / "rates.py").write_text("def rate(:\n")
    assert "def rate" not in definitions(document, "price")
    secret = tmp_path.parent / "secret.py"
    secret.write_text("def rate(name):\n    return 'secret'\n")
    (document.path.parent / "rates.py").unlink()
    (document.path.parent / "rates.py").symlink_to(secret)
    assert "secret" not in definitions(document, "price")


def test_the_prompt_shows_them_before_the_file_only_if_asked(document: Document) -> None:
    function = find_function(document, "price")
    usual = Gap.of(document, function, function.end)
    imports = Gap.of(document, function, function.end, View(imports=True))
    assert imports.shown.endswith(usual.shown)
    assert "class Basket" in imports.shown.removesuffix(usual.shown)
    assert (imports.before, imports.removed) == (usual.before, usual.removed)


def test_java_says_that_it_cannot() -> None:
    source = Document("class A { int f() { return 1; } }", language="java")
    function = find_function(source, "A.f")
    with pytest.raises(OptionError, match=r"cannot be found in Java"):
        Gap.of(source, function, function.end, View(imports=True))
