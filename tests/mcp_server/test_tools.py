"""`counterlens mcp` through a real client over standard input and output, with a real model."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.types import CallToolResult, TextContent

from counterlens.models.files import EMBEDDED_MODEL
from tests.conftest import short_model

EXAMPLES = Path(__file__).parents[2] / "examples"
Told = list[tuple[float, str | None]]


@asynccontextmanager
async def connected(root: Path = EXAMPLES, model: str | None = None) -> AsyncIterator[Client]:
    """A client of a server with a model, by default a short one."""
    chosen = ["--model", model or str(short_model()), "--trust"]
    arguments = ["-m", "counterlens", "mcp", "--root", str(root), *chosen]
    # By default, a server would not get the variables that name the cache of the tests.
    started = StdioServerParameters(command=sys.executable, args=arguments, env={**os.environ})
    async with Client(started) as client:
        yield client


async def call(client: Client, tool: str, told: Told | None = None, **arguments: Any) -> CallToolResult:
    async def progress(done: float, _total: float | None, step: str | None) -> None:
        if told is not None:
            told.append((done, step))

    found = await client.call_tool(tool, arguments, progress_callback=progress)
    assert isinstance(found, CallToolResult)
    return found


def text(found: CallToolResult) -> str:
    assert isinstance(found.content[0], TextContent)
    return found.content[0].text


async def test_an_assistant_gets_what_contradicts_a_docstring_or_fails_a_test(tmp_path: Path) -> None:
    stated = 'def half(n):\n    """Halve a number: half(3) == 1.5."""\n    return n // 2\n\n\n'
    docstring = '    """Write it in capitals.\n\n    >>> upper("a")\n    {1}\n    """\n'
    tested = f"def upper(name):\n{docstring}    return name\n"
    (tmp_path / "words.py").write_text(stated + tested)
    async with connected(tmp_path) as client:
        found = await call(client, "counterlens_check", path="words.py")
        assert found.structured_content is not None
        marks = found.structured_content["marks"]
        assert [(mark["path"], mark["kind"]) for mark in marks] == [
            ("words.py", "docstring"),
            ("words.py", "tests"),
        ]
        assert "2 marks in 2 functions." in text(found)
        assert "returns 1; the docstring says 1.5" in text(found)
        half = await call(client, "counterlens_check", path="words.py", function="half")
        assert half.structured_content is not None
        assert [mark["kind"] for mark in half.structured_content["marks"]] == ["docstring"]


async def confidence_and_tasks(client: Client) -> None:
    """An assistant gets confidence and tasks."""
    names = {tool.name for tool in (await client.list_tools()).tools}
    assert {"counterlens_confidence", "counterlens_probe_function", "counterlens_tasks"} <= names

    scored = await call(client, "counterlens_confidence", path="parity.py", function="parity")
    assert "| decision |" in text(scored)
    assert scored.structured_content is not None
    assert 0 < scored.structured_content["concepts"]["decision"]["mean_probability"] <= 1

    tasks = await call(client, "counterlens_tasks")
    assert "`operator`" in text(tasks)
    operators = await call(
        client, "counterlens_probe_function", path="parity.py", function="parity", task="operator"
    )
    assert operators.structured_content is not None
    assert operators.structured_content["probe"] == "operator"


async def test_the_confidence_of_a_method_is_its_own(tmp_path: Path) -> None:
    source = "class Lamp:\n    def on(self): return 1\n\n    def off(self):\n        while self: pass\n"
    (tmp_path / "lamp.py").write_text(source)
    async with connected(tmp_path) as client:
        of_all = await call(client, "counterlens_confidence", path="lamp.py")
        of_method = await call(client, "counterlens_confidence", path="lamp.py", function="Lamp.on")
    whole, method = of_all.structured_content, of_method.structured_content
    assert whole is not None
    assert method is not None
    assert "iteration" in whole["concepts"]
    assert "iteration" not in method["concepts"]
    assert method["bits_per_byte"] != whole["bits_per_byte"]


async def what_needs_no_model(client: Client) -> None:
    """What needs no model answers without one."""
    changed = await call(client, "counterlens_counterfactuals", path="parity.py", function="parity")
    assert "+    if n % 2 != 0:" in text(changed)
    depends = await call(client, "counterlens_dependences", path="parity.py", function="parity")
    assert depends.structured_content is not None
    assert [9, 10] in depends.structured_content["control"]


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("counterlens_probe_function", {"path": "parity.py", "function": "absent"}, "no function absent"),
    ("counterlens_probe_function", {"path": "no.py", "function": "f"}, "there is no file"),
    ("counterlens_confidence", {"path": "../README.md"}, "is outside of"),
    ("counterlens_confidence", {}, "either a path or a source"),
    ("counterlens_confidence", {"source": "x", "language": "klingon"}, "klingon"),
    (
        "counterlens_probe_function",
        {"path": "parity.py", "function": "parity", "task": "guess"},
        "Available: completion",
    ),
    (
        "counterlens_probe_function",
        {"path": "parity.py", "function": "parity", "task": "name", "options": {"code": "borrowed"}},
        "Choose one of given, buggy, written",
    ),
    (
        "counterlens_probe_function",
        {"path": "parity.py", "function": "parity", "task": "name", "options": {"code": "buggy"}},
        "no buggy variant of it is known",
    ),
    (
        "counterlens_probe_function",
        {"path": "parity.py", "function": "parity", "mutation": "if-else-flip"},
        "Extra inputs are not permitted",
    ),
]


async def wrong_requests(client: Client) -> None:
    """A wrong request is answered with what to do."""
    for tool, arguments, said in WRONG:
        found = await call(client, tool, **arguments)
        assert found.is_error, arguments
        assert said in text(found)
        assert "Traceback" not in text(found)


async def test_one_server_answers_request_after_request() -> None:
    async with connected() as client:
        await what_needs_no_model(client)
        await wrong_requests(client)
        await confidence_and_tasks(client)


async def test_a_withdrawn_request_ends_the_work_and_the_next_one_gets_evidence() -> None:
    async with connected(model=EMBEDDED_MODEL) as client:  # it takes long, and knows answers
        begun = asyncio.Event()

        async def progress(_done: float, _total: float | None, step: str | None) -> None:
            if step and step != "loading the model":
                begun.set()

        arguments = {"path": "binary_search.py", "function": "binary_search"}
        running = asyncio.create_task(
            client.call_tool("counterlens_probe_function", arguments, progress_callback=progress)
        )
        await asyncio.wait_for(begun.wait(), 60)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        # The model is free again: it would be busy for long, were the probe still running.
        scored = await asyncio.wait_for(call(client, "counterlens_confidence", source="x = 1\n"), 30)
        assert not scored.is_error

        told: Told = []
        options = {"max_tokens": 32, "placebos": 0, "mutations": ["if-else-flip"]}
        asked = {"path": "parity.py", "function": "parity", "options": options}
        probed = await call(client, "counterlens_probe_function", told, **asked)
        assert "average mutation effect" in text(probed)
        assert probed.structured_content is not None
        assert probed.structured_content["records"][0]["pairs"]
        assert told, "a probe takes more than a moment, so it says how far it is"


def test_without_the_package_it_says_what_to_install() -> None:
    code = "import sys; sys.modules['mcp'] = None\nfrom counterlens.cli import main\nmain(['mcp'])"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "counterlens[mcp]" in ended.stderr
    assert "Traceback" not in ended.stderr
