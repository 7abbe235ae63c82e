"""The cells of a notebook are documents like any other, judged by their own doctests."""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types
from pytest_lsp import LanguageClient

from counterlens.lsp.targets import path_of
from tests.lsp.conftest import scored
from tests.lsp.test_server import hover_text
from tests.lsp.test_tasks import SOURCE, ask


def test_a_cell_is_no_file() -> None:
    assert path_of("vscode-notebook-cell:/code/a.ipynb#W0sZmlsZQ%3D%3D") is None
    assert path_of("untitled:Untitled-1") is None
    assert path_of("file:///code/a%20b.py") == Path("/code/a b.py")


async def test_a_cell_is_scored_and_probed(client: LanguageClient, tmp_path: Path) -> None:
    # A test file beside the notebook is not one of the cell.
    (tmp_path / "test_a.py").write_text("def test_sign():\n    assert False\n", encoding="utf-8")
    uri = f"vscode-notebook-cell:{tmp_path / 'a.ipynb'}#W0sZmlsZQ%3D%3D"
    client.text_document_did_open(
        types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, "python", 1, SOURCE))
    )
    await scored(client, uri)
    assert "its tokens for short" in await hover_text(client, uri, types.Position(6, 8))
    report = await client.text_document_diagnostic_async(
        types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri))
    )
    assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
    answer = await ask(client, "counterlens.probe", uri, function="sign", mutations=["if-else-flip"])
    assert answer.ok
    assert "judged by 1 doctest" in answer.markdown
