"""Running a tool: off the event loop, with progress; cancelled when the assistant withdraws its request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event
from typing import Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, TextContent

from counterlens.errors import CounterlensError
from counterlens.progress import ProgressCallback


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The answer of a tool.

    Attributes:
        text: The answer as Markdown.
        data: The same as plain data.
    """

    text: str
    data: dict[str, Any] = field(default_factory=dict)

    def result(self) -> CallToolResult:
        """The answer in the protocol's format."""
        return CallToolResult(
            content=[TextContent(type="text", text=self.text)], structured_content=self.data or None
        )


Work = Callable[[Event, ProgressCallback], ToolAnswer]
"""A tool's work, on a separate thread; it gets an event that cancels it, and a progress callback."""


async def answered(context: Context[Any, Any], work: Work) -> CallToolResult:
    """Run a tool.

    Raises:
        ToolError: an expected failure, with a message that says what an assistant can do.
    """
    loop, cancel = asyncio.get_running_loop(), Event()
    reports: set[asyncio.Task[None]] = set()

    def send_progress(step: str, done: int, total: int) -> None:
        task = loop.create_task(context.report_progress(done, total or None, step))
        reports.add(task)
        task.add_done_callback(reports.discard)

    def report(step: str, done: int, total: int) -> None:
        loop.call_soon_threadsafe(send_progress, step, done, total)

    try:
        found = await asyncio.to_thread(work, cancel, report)
    except asyncio.CancelledError:
        cancel.set()
        raise
    except CounterlensError as error:
        raise ToolError(str(error)) from error
    finally:
        if reports:
            await asyncio.gather(*reports, return_exceptions=True)
    return found.result()
