"""What the lens of a probe says before it runs, and what stays of a result."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from lsprotocol import types
from pytest_lsp import LanguageClient

from counterlens.lsp.prospects import counts_of_kind, is_hopeless, note_completion, prospect
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function
from tests.lsp.conftest import open_file
from tests.lsp.test_server import SOURCE, lens_titles, probe

SHOP = """def can_ship(n):
    if n > 0:
        ready = True
    else:
        ready = False
    return ready
"""


async def test_a_refusal_that_the_tests_show_is_said_before_a_probe(
    client: LanguageClient, tmp_path: Path
) -> None:
    (tmp_path / "test_shop.py").write_text(
        "from shop import can_ship\n\n\ndef test_it():\n    assert can_ship(1)\n"
    )
    uri = open_file(client, tmp_path / "shop.py", SHOP)
    (title,) = await lens_titles(client, uri, 1)
    assert title.endswith("will be refused: `assert can_ship(1)` also accepts 42: compare with `is True`")


async def test_a_refusal_is_not_waited_for_twice(client: LanguageClient, tmp_path: Path) -> None:
    uri = open_file(client, tmp_path / "sign.py", SOURCE.replace("    1\n", "    7\n"))
    answer = await probe(client, {"uri": uri, "function": "sign"})
    assert not answer.ok
    (title,) = await lens_titles(client, uri, 1)
    assert "refused: sign fails its own tests" in title


async def test_a_result_stays_when_the_window_is_reloaded(client: LanguageClient, tmp_path: Path) -> None:
    path = tmp_path / "sign.py"
    uri = open_file(client, path, SOURCE)
    asked = {"uri": uri, "function": "sign", "refine": True}
    answer = await probe(client, asked)
    assert answer.ok
    assert not answer.kept
    before = await lens_titles(client, uri, 1)
    client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))
    assert open_file(client, path, SOURCE) == uri
    assert await lens_titles(client, uri, len(before)) == [f"{title} · at once" for title in before]
    kept = await probe(client, asked)
    assert kept.kept
    assert kept.html == answer.html
    assert not (await probe(client, asked | {"again": True})).kept
    client.text_document_did_change(
        types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(version=2, uri=uri),
            [types.TextDocumentContentChangeWholeDocument(SOURCE.replace("x < 0", "x <= 0"))],
        )
    )
    (title,) = await lens_titles(client, uri, 1)
    assert "of the older text: " in title


async def test_the_lens_counts_how_many_such_functions_the_model_completed(
    client: LanguageClient, tmp_path: Path
) -> None:
    other = SOURCE[SOURCE.index("def sign") :].replace("sign", "direction")
    uri = open_file(client, tmp_path / "sign.py", f"{SOURCE}\n\n{other}")
    assert (await probe(client, {"uri": uri, "function": "sign"})).ok
    _, title = await lens_titles(client, uri, 2)
    assert re.search(r" · completed \d+ of 1 such functions$", title), title
    assert (await probe(client, {"uri": uri, "function": "direction"})).ok
    third = open_file(client, tmp_path / "third.py", other.replace("direction", "third"))
    (title,) = await lens_titles(client, third, 1)
    assert " of 2 such functions" in title


def test_what_a_model_can_do_here_is_measured_as_it_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    function = find_function(Document(SHOP), "can_ship")
    said = prospect("smollm2-135m", "SmolLM2")
    assert said.startswith("How often SmolLM2 completes your functions is being measured; ")
    assert said.endswith("is likelier to tell you something")
    for _ in range(9):
        note_completion("smollm2-135m", function, completed=False)
    assert is_hopeless(counts_of_kind("smollm2-135m", function))
    note_completion("smollm2-135m", function, completed=True)
    assert not is_hopeless(counts_of_kind("smollm2-135m", function))
    said = prospect("smollm2-135m", "SmolLM2")
    assert said.startswith("SmolLM2 completed 10 % of the 10 functions probed so far; ")
    assert prospect("remote:m", "M") == "How often M completes your functions is being measured"
