"""Measures a user's waiting time: functions of a package, probed one after the other from the editor.

    python benchmarks/editor_probes.py FOLDER [--functions 10] [--seed 1] [--cache FOLDER]

FOLDER is the repository of a package with its tests. Functions are sampled as in `benchmarks/judges.py`. A
real client over stdio opens the file of each and sends the command of the code lens; the embedded model
answers. Each line has the outcome, the seconds from the command to the answer, and their parts by the steps
that the server reports. The cache is new, so the first function includes measurements that run only once,
unless `--cache` names the folder of an earlier run.

The last line is one JSON document; `over_first` is the median of all but the first over the first.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import re
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from judges import drawn
from lsprotocol import types
from pygls.lsp.client import LanguageClient

from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function

_NUMBERS = re.compile(r"\d[\d.,]*")
_LEFT = re.compile(r" · .*$")


class Editor:
    """A client that probes, and records the duration of each step of the server."""

    def __init__(self, client: LanguageClient) -> None:
        self._client = client
        self._opened: set[str] = set()
        self._step, self._since = "", 0.0
        self.steps: dict[str, float] = {}
        self.told: list[tuple[float, str]] = []

    @classmethod
    async def start(cls, folder: Path, cache: Path) -> Editor:
        """Start a server on a workspace, and initialise the session."""
        logging.getLogger("pygls").setLevel(logging.ERROR)  # for unused notifications
        client = LanguageClient("benchmark", "1")
        environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
        await client.start_io(sys.executable, "-m", "counterlens", "serve", "--stdio", env=environment)
        self = cls(client)

        @client.feature(types.WINDOW_WORK_DONE_PROGRESS_CREATE)
        def _create(_params: Any) -> None:
            return None

        @client.feature(types.PROGRESS)
        def _progress(params: types.ProgressParams) -> None:
            value: Any = params.value
            message = value.get("message") if isinstance(value, dict) else getattr(value, "message", None)
            if message:
                self._note(message)

        window = types.WindowClientCapabilities(work_done_progress=True)
        await client.initialize_async(
            types.InitializeParams(
                capabilities=types.ClientCapabilities(window=window),
                root_uri=folder.as_uri(),
                workspace_folders=[types.WorkspaceFolder(folder.as_uri(), folder.name)],
                initialization_options={"trusted": True, "showsResults": True},
            )
        )
        client.initialized(types.InitializedParams())
        return self

    def _note(self, message: str) -> None:
        now = time.monotonic()
        self.told.append((now, message))
        if self._step:
            self.steps[self._step] += now - self._since
        self._step, self._since = _NUMBERS.sub("N", _LEFT.sub("", message)), now

    async def probe(self, document: Document, function: Function) -> tuple[Any, float]:
        """The answer for a function, and its time in seconds."""
        assert document.path is not None
        uri = document.path.as_uri()
        if uri not in self._opened:
            self._opened.add(uri)
            item = types.TextDocumentItem(uri, "python", 1, document.text)
            self._client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        self.steps, self.told = defaultdict(float), []
        begun = self._since = time.monotonic()
        self._step = "before the first step"
        answer = await self._client.workspace_execute_command_async(
            types.ExecuteCommandParams("counterlens.probe", [{"uri": uri, "function": function.qualname}])
        )
        self._note("the end")
        return answer, time.monotonic() - begun

    async def stop(self) -> None:
        """Shut the server down."""
        await self._client.shutdown_async(None)
        self._client.exit(None)
        await self._client.stop()


def outcome(answer: Any) -> str:
    """Summarise the answer in a few words."""
    if not answer["ok"]:
        return f"not probed: {answer['error']}".replace("\n", " ")[:150]
    pairs = [pair for record in answer["records"] for pair in record["pairs"]]
    informative = sum(
        any(pair[side]["verdict"] == "passed" for side in ("original", "counterfactual")) for pair in pairs
    )
    return f"{informative} of {len(pairs)} pairs are informative"


async def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Probe the functions, and print a line for each."""
    folder = options.folder.resolve()
    cache = options.cache or Path(tempfile.mkdtemp(prefix="counterlens-benchmark-"))
    editor = await Editor.start(folder, cache)
    rows = []
    for document, function in drawn(folder, options.seed)[: options.functions]:
        answer, seconds = await editor.probe(document, function)
        found = outcome(answer)
        name = f"{document.path.name if document.path else ''}::{function.qualname}"
        steps = sorted(editor.steps.items(), key=lambda step: -step[1])
        print(f"{seconds:6.1f} s  {name:45}  {found}", flush=True)
        print(
            "          " + "; ".join(f"{step} {took:.1f}" for step, took in steps if took >= 0.2), flush=True
        )
        rows.append({"function": name, "seconds": round(seconds, 2), "outcome": found, "steps": dict(steps)})
    await editor.stop()
    times = [row["seconds"] for row in rows]
    informative = sum(bool(re.match(r"[1-9]", row["outcome"])) for row in rows)
    return {
        "over_first": round(statistics.median(times[1:]) / times[0], 3) if len(times) > 1 else None,
        "informative": informative,
        "functions": len(rows),
        "seconds": times,
        "load": [round(load, 1) for load in os.getloadavg()],
    }


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--functions", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cache", type=Path)
    print(json.dumps(asyncio.run(measure(parser.parse_args()))))


if __name__ == "__main__":
    main()
