"""Measures the response times of the language server while the model works, with a real client over stdio.

    python benchmarks/server.py [--quick] [--model FILE] [--only-idle]

- `hover_p95`: the 95th percentile of the time of a hover while the model scores a long file, over that of a
  server that answers every hover with a constant; both are measured in turn beside the same model. A hover on
  an operator waits up to a quarter of a second for the model's answer about it, once: that was before.
- `slowest_over_model`: the slowest request during a burst of edits (200 in 20 seconds, each followed by a
  hover and a pull of diagnostics), over the time to score the whole file. It would be near 1 or above if a
  request waited for the model.
- `first_colour_100`, `_1000`, `_10000`: the time from opening a file of that many lines to the colours of a
  screen in its middle, over the model's own time for the functions on that screen.
- `small_beside_large`: the time from opening a file of 13 lines to its scores while one of 10,000 lines is
  scored, over the same time alone.
- `idle_over_unbounded`: the processor time of the model for opening a file of 40 functions and typing for a
  minute in one of those on the screen, over that without a limit on idle work. With the default limit it
  counts to the end of the minute; without one, until all that was begun is done.
After the burst, the server's scores and diagnostics must equal those of a server that saw only the last
version; this is asserted.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import time
from collections.abc import Awaitable
from contextlib import closing

import psutil
from language_client import NO_LIMIT, Client
from lsprotocol import types
from pygls.lsp.server import LanguageServer

from counterlens.confidence.scoring import score_document
from counterlens.lsp.idle_budget import PER_MINUTE
from counterlens.models import load
from counterlens.models.default import VARIABLE, default_model
from counterlens.models.files import EMBEDDED_MODEL
from counterlens.models.registry import Options
from counterlens.syntax.document import Document

FUNCTION = '''
def area_{i}(width, height):
    """The area of a frame of {i} tiles."""
    total = width * height
    for tile in range({i}):
        if tile % 2 == 0:
            total -= tile
    return total
'''
HEADER = '"""Frames."""\n\nimport math\n'
SCREEN = 40  # lines
PERIOD = 0.1  # seconds from one edit to the next
KEY, PAUSE = 0.2, 3.0  # seconds between two keys, and after a line
REST = 10.0  # seconds in which a model that has nothing to do takes hardly any processor time


async def timed(request: Awaitable[object]) -> float:
    """Seconds."""
    start = time.perf_counter()
    await request
    return time.perf_counter() - start


def p95(times: list[float]) -> float:
    """The 95th percentile."""
    return statistics.quantiles(times, n=20)[-1]


def frames(count: int, first: int = 0) -> str:
    """A file with a number of functions."""
    return HEADER + "\n".join(FUNCTION.format(i=i) for i in range(first, first + count))


async def hover_while_busy(count: int) -> tuple[float, dict[str, float]]:
    """Our hovers and those of a trivial server, in turn, while our model scores a long file."""
    ours = await Client.start("-m", "counterlens", "serve", "--stdio")
    null = await Client.start(__file__, "--null-server")
    short, long = "file:///frames.py", "file:///long.py"
    ours.open(short, frames(3))
    await ours.until_scored(short, 1)
    ours.open(long, frames(240, first=1000))
    while ours.states[-1] != "scoring":
        await asyncio.sleep(0.01)
    niceness = model_niceness(ours.process)
    line = frames(3).splitlines().index("    total = width * height")
    answer = await ours.hover(short, line, 12)
    operator = "    total = width * height".index("*")
    while "Asking which operator" in str(await ours.hover(short, line, operator)):
        await asyncio.sleep(0.1)
    assert answer is not None
    assert "least certain" in str(answer.contents), answer
    mine, base = [], []
    for turn in range(count):
        mine.append(await timed(ours.hover(short, line, 4 + turn % 20)))
        base.append(await timed(null.hover(short, line, 4)))
        await asyncio.sleep(0.01)
    assert (long, 1) not in ours.scored, "the model was not busy to the end: the long file is too short"
    await ours.stop()
    await null.stop()
    facts = {"ours_p95_ms": 1e3 * p95(mine), "null_p95_ms": 1e3 * p95(base), "niceness": niceness}
    return p95(mine) / p95(base), facts


async def burst(edits: int) -> tuple[float, dict[str, float]]:
    """Edit ten times per second during scoring; then compare the state with that of a fresh server."""
    uri, text = "file:///burst.py", frames(20)
    ours = await Client.start("-m", "counterlens", "serve", "--stdio")
    ours.open("file:///warm.py", "x = 1\n")
    await ours.until_scored("file:///warm.py", 1)
    start = time.perf_counter()
    ours.open(uri, text)
    await ours.until_scored(uri, 1)
    whole = time.perf_counter() - start
    times: list[float] = []
    began = time.perf_counter()
    for version in range(2, edits + 2):
        function = (7 * version) % 20
        marker = f'of {function} tiles."""'
        text = text.replace(marker, f'of {function} tiles."""\n    width += {version}', 1)
        ours.edit(uri, version, text)
        times.append(await timed(ours.hover(uri, 6, 14)))
        times.append(await timed(ours.pull(uri)))
        await asyncio.sleep(max(0.0, began + PERIOD * (version - 1) - time.perf_counter()))
    took = time.perf_counter() - began
    await ours.until_scored(uri, edits + 1)
    settled = time.perf_counter() - began - took
    after = await ours.state(uri)
    await ours.stop()

    fresh = await Client.start("-m", "counterlens", "serve", "--stdio")
    fresh.open(uri, text)
    await fresh.until_scored(uri, 1)
    anew = await fresh.state(uri)
    await fresh.stop()
    assert after[0], "nothing was scored"
    assert after == anew, "the state after the edits differs from that of a freshly opened document"
    facts = {
        "edits": edits,
        "seconds": took,
        "requests": len(times),
        "request_p95_ms": 1e3 * p95(times),
        "request_max_ms": 1e3 * max(times),
        "full_score_s": whole,
        "settled_after_s": settled,
        "spans_equal_to_fresh": len(after[0]),
    }
    return max(times) / whole, facts


async def first_colours(lines: int) -> tuple[float, float]:
    """The seconds until a screen in the middle of a file is coloured, and the model's own time for it."""
    uri, text = f"file:///lines{lines}.py", _of_lines(lines)
    first = lines // 2
    ours = await _warm()
    begun = time.perf_counter()
    ours.open(uri, text)
    await ours.until_coloured(uri, first, first + SCREEN)
    took = time.perf_counter() - begun
    await ours.stop()
    return took, model_alone(text, first)


def model_alone(text: str, first: int) -> float:
    """The model's seconds for the functions on a screen, in a warm process."""
    document = Document(text)
    positions = document.positions
    span = positions.line_start(first), positions.line_start(first + SCREEN)
    with closing(load(default_model().spec, Options())) as model:
        score_document(model, Document("x = 1\n"))
        begun = time.perf_counter()
        score_document(model, document, span=span)
        return time.perf_counter() - begun


async def small_beside_large() -> tuple[float, float]:
    """The seconds to the scores of a small file, beside a large one and alone."""
    ours = await _warm()
    times = []
    for name, beside in (("alone", False), ("beside", True)):
        if beside:
            ours.open("file:///large.py", _of_lines(10_000))
            while ours.states[-1] != "scoring":
                await asyncio.sleep(0.01)
            await asyncio.sleep(1)
        first = 50_000 if beside else 60_000  # other numbers, because answers are cached
        begun = time.perf_counter()
        ours.open(f"file:///{name}.py", frames(1, first=first))
        await ours.until_scored(f"file:///{name}.py", 1)
        times.append(time.perf_counter() - begun)
    await ours.stop()
    return times[1], times[0]


async def _warm(idle_seconds: float = NO_LIMIT) -> Client:
    """A server with its model loaded."""
    ours = await Client.start("-m", "counterlens", "serve", "--stdio", idle_seconds=idle_seconds)
    ours.open("file:///warm.py", "x = 1\n")
    await ours.until_scored("file:///warm.py", 1)
    return ours


def _of_lines(lines: int) -> str:
    each = FUNCTION.count("\n") + 1
    return frames(max(1, lines // each), first=100_000)


async def idle_over_unbounded(minutes: float) -> tuple[float, dict[str, float]]:
    """The processor time of the model with the default limit on idle work, over that without one."""
    bounded, unbounded = await editing(PER_MINUTE, minutes), await editing(NO_LIMIT, minutes)
    return bounded / unbounded, {"bounded_s": round(bounded, 2), "unbounded_s": round(unbounded, 2)}


async def editing(idle_seconds: float, minutes: float) -> float:
    """The model's processor seconds for opening a file of 40 functions, and typing in one of them."""
    uri, text = "file:///edited.py", frames(40, first=70_000)
    ours = await _warm(idle_seconds)
    model = model_process(ours.process)
    before = _processor_seconds(model)
    ours.open(uri, text)
    await ours.until_coloured(uri, 0, SCREEN)
    line, version = "    total = width * height\n", 1
    typed, until = "    area = total - width  # of one tile", time.monotonic() + 60 * minutes
    while time.monotonic() < until:
        for end in range(1, len(typed) + 1):
            version += 1
            ours.edit(uri, version, text.replace(line, f"{line}{typed[:end]}\n", 1))
            await asyncio.sleep(KEY)
        await asyncio.sleep(PAUSE)
        text = text.replace(line, f"{line}{typed}\n", 1)
    await ours.until_scored(uri, version)
    spent = _processor_seconds(model) - before
    while idle_seconds >= NO_LIMIT:
        await asyncio.sleep(REST)
        now = _processor_seconds(model) - before
        if now - spent < REST / 100:
            break
        spent = now
    await ours.stop()
    return spent


def model_process(server: psutil.Process) -> psutil.Process:
    """The process of a server's model."""
    return next(
        child for child in server.children() if any("llama.worker" in part for part in child.cmdline())
    )


def _processor_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def model_niceness(server: psutil.Process) -> int:
    """Return the niceness of the model's process relative to the server's."""
    return int(model_process(server).nice()) - int(server.nice())


def null_server() -> None:
    """A server that answers every hover with a constant."""
    server = LanguageServer("null", "1")

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def _hover(_params: types.HoverParams) -> types.Hover:
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, "nothing"))

    server.start_io()


async def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="use shorter files; under a minute")
    parser.add_argument("--model", default=EMBEDDED_MODEL, help="GGUF file; default: the embedded model")
    parser.add_argument("--only-idle", action="store_true", help="only `idle_over_unbounded`")
    parser.add_argument("--null-server", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.environ[VARIABLE] = options.model  # of the servers, too
    idle_ratio, idle_facts = await idle_over_unbounded(0.5 if options.quick else 1.0)
    if options.only_idle:
        print(json.dumps({"benchmark": "server", "idle_over_unbounded": round(idle_ratio, 3), **idle_facts}))
        return
    hover_ratio, hover_facts = await hover_while_busy(150 if options.quick else 400)
    burst_ratio, burst_facts = await burst(50 if options.quick else 200)
    facts = hover_facts | burst_facts | idle_facts
    ratios = {"hover_p95": hover_ratio, "slowest_over_model": burst_ratio, "idle_over_unbounded": idle_ratio}
    for lines in (100, 1_000, 10_000):
        took, alone = await first_colours(lines)
        ratios[f"first_colour_{lines}"] = took / alone
        facts |= {f"first_colour_{lines}_s": took, f"model_alone_{lines}_s": alone}
    beside, alone = await small_beside_large()
    ratios["small_beside_large"] = beside / alone
    facts["small_alone_s"] = alone
    for name, value in (ratios | facts).items():
        print(f"{name:22} {value:10.3f}")
    rounded = {name: round(value, 3) for name, value in ratios.items()}
    print(
        json.dumps(
            {
                "benchmark": "server",
                "quick": options.quick,
                "ratios": rounded,
                "final_state_equal": True,
                **{name: round(value, 3) for name, value in facts.items()},
            }
        )
    )


if __name__ == "__main__":
    if "--null-server" in sys.argv:
        null_server()
    else:
        asyncio.run(main())
