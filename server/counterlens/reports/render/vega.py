"""Vega-Lite plots as static pictures, and the script that makes them interactive."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import platformdirs

from counterlens.atomic_file import replace_file
from counterlens.regular_file import read_bytes


@cache
def bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script that sets `vegaEmbed` and loads nothing.

    Takes a second the first time; the result is kept in the user's cache, by version.
    """
    path = Path(platformdirs.user_cache_dir("counterlens")) / f"vega-{_version()}.js"
    script = _read(path)
    if script is None:
        script = _bundled()
        _keep(path, script.encode())
    # A closing tag inside a string would end the script element.
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _bundled() -> str:
    import vl_convert

    return str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))


def _version() -> str:
    return importlib.metadata.version("vl-convert-python")


def _read(path: Path) -> str | None:
    """The script of a file that begins with its SHA-256; None if there is none, or it is damaged."""
    try:
        digest, _, script = read_bytes(path).partition(b"\n")
    except OSError:
        return None
    return script.decode() if digest == _digest(script) else None


def _keep(path: Path, script: bytes) -> None:
    with contextlib.suppress(OSError):
        replace_file(path, _digest(script) + b"\n" + script)


def _digest(script: bytes) -> bytes:
    return hashlib.sha256(script).hexdigest().encode()


def drawn(spec: Mapping[str, Any], title: str) -> str:
    """A plot as SVG with ids that no other picture of the page has; the same each time."""
    import vl_convert

    svg = str(vl_convert.vegalite_to_svg(dict(spec)))
    prefix = re.sub(r"\W+", "-", title.lower())
    for number, name in enumerate(re.findall(r'\bid="([^"]+)"', svg)):
        own = f"{prefix}-{number}"
        svg = svg.replace(f'id="{name}"', f'id="{own}"').replace(f"(#{name})", f"(#{own})")
        svg = svg.replace(f'"#{name}"', f'"#{own}"')
    return svg
