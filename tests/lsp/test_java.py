"""A Java file in a client: what is offered on its methods, without asking a model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from lsprotocol import types
from pytest_lsp import LanguageClient

from tests.lsp.conftest import open_file
from tests.lsp.test_tasks import ask

SOURCE = """\
class Sign {
    private int seen;

    int sign(int n) {
        if (n < 0) {
            return -1;
        } else {
            return 1;
        }
    }
}
"""


async def test_methods_are_offered_what_functions_are(client: LanguageClient, tmp_path: Path) -> None:
    uri = open_file(client, tmp_path / "Sign.java", SOURCE, language="java")
    document = types.TextDocumentIdentifier(uri)
    lenses: Sequence[types.CodeLens] = ()
    for _ in range(300):  # what can be asked is counted in the background
        lenses = await client.text_document_code_lens_async(types.CodeLensParams(document)) or ()
        if lenses:
            break
        await asyncio.sleep(0.1)
    (lens,) = lenses
    assert lens.range.start == types.Position(3, 4)
    assert lens.command is not None
    assert lens.command.title.startswith("Probe counterfactually")
    listed = await ask(client, "counterlens.counterfactuals", uri, function="sign")
    flip = next(one for one in listed.counterfactuals if one.mutation == "if-else-flip")
    assert "if (n >= 0) {\n            return 1;" in flip.source
    items = await ask(client, "counterlens.testItems", uri)
    assert [one.function for one in items.functions] == ["Sign.sign"]
    mutations = (await ask(client, "counterlens.testItems", uri, function="Sign.sign")).mutations
    assert {"if-else-flip", "operand-swap"} <= {one.mutation for one in mutations}
    actions = await client.text_document_code_action_async(
        types.CodeActionParams(
            document,
            types.Range(types.Position(4, 8), types.Position(4, 8)),
            types.CodeActionContext(diagnostics=[]),
        )
    )
    assert any("Show counterfactual" in one.title for one in actions or ())
