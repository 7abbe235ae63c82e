"""Shows a report in a client without a view for it: as a Markdown file, if it can open one."""

from __future__ import annotations

import hashlib
from pathlib import Path

import platformdirs
from lsprotocol import types

from counterlens.atomic_file import replace_file
from counterlens.lsp.base import CounterlensServer


async def show_markdown(ls: CounterlensServer, name: str, summary: str, markdown: str) -> None:
    """Show a result in one sentence, and open its report.

    Args:
        name: Subject of the report; a newer report of this name replaces an older one.
    """
    ls.show(summary, types.MessageType.Info)
    await open_markdown(ls, name, markdown)


async def open_markdown(ls: CounterlensServer, name: str, markdown: str) -> None:
    """Open a text, if the client can; a newer one of this name replaces an older one."""
    window = ls.client_capabilities.window
    if window is None or window.show_document is None or not window.show_document.support:
        return
    place = await ls.offload(_write_page, name, markdown)
    # Not awaited: a client may show nothing before it gets the response that this is part of.
    ls.window_show_document(types.ShowDocumentParams(place.as_uri(), take_focus=False))


def _write_page(name: str, markdown: str) -> Path:
    folder = Path(platformdirs.user_cache_dir("counterlens")) / "reports"
    safe = "".join(char if char.isalnum() or char in "._-" else "-" for char in name)[:60]
    place = folder / f"{safe}-{hashlib.blake2b(name.encode(), digest_size=4).hexdigest()}.md"
    replace_file(place, markdown)
    return place
