"""What the tests of a function miss, as an editor gets it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from lsprotocol import types
from pytest_lsp import LanguageClient

from tests.lsp.conftest import open_file

SHOP = """\
def total(prices: list[int]) -> int:
    result = 0
    for price in prices:
        result = result + price
    if len(prices) > 2:
        result = result * 2
    return result


def fee(price: int) -> int:
    return price + 1
"""


async def ask(client: LanguageClient, uri: str, function: str) -> SimpleNamespace:
    command = types.ExecuteCommandParams("counterlens.mutants", [{"uri": uri, "function": function}])
    answer: Any = await client.workspace_execute_command_async(command)
    return SimpleNamespace(**answer)


async def actions(client: LanguageClient, uri: str) -> list[types.CodeAction]:
    place = types.Range(types.Position(1, 4), types.Position(1, 4))
    document = types.TextDocumentIdentifier(uri)
    params = types.CodeActionParams(document, place, types.CodeActionContext([]))
    return [
        one for one in await client.text_document_code_action_async(params) or () if hasattr(one, "title")
    ]


async def test_the_tests_to_add_are_the_answer_and_the_view_of_the_function_says_so(
    client: LanguageClient, tmp_path: Path
) -> None:
    (tmp_path / "test_shop.py").write_text(
        "from shop import total\n\n\ndef test_total():\n    assert total([1]) == 1\n"
    )
    uri = open_file(client, tmp_path / "shop.py", SHOP)
    titles = {one.title: one.command for one in await actions(client, uri)}
    command = titles["What do the tests miss?"]
    assert command is not None
    assert "counterlens.showMutants" in str(command)
    answer = await ask(client, uri, "total")
    assert (answer.ok, answer.function) == (True, "total"), answer.error
    assert "mutants pass the tests" in answer.summary
    assert "# a mutant passes the tests: " in answer.tests
    assert "from shop import total\n\n\ndef test_total_line_6():\n    assert total([" in answer.tests
    compile(answer.tests, "tests", "exec")
    place = {"textDocument": {"uri": uri}, "position": {"line": 1, "character": 4}}
    view: Any = await client.protocol.send_request_async("counterlens/function", place)
    assert [one.summary for one in view.findings if one.task == "tests"] == [answer.summary]
    untested = await ask(client, uri, "fee")
    assert (untested.ok, untested.tests) == (True, "")
    assert untested.summary == "no mutants could be judged: no test reaches it"
