"""Vega-Lite plots as static pictures, and the script that makes them interactive."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any


@cache
def bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script that sets `vegaEmbed` and loads nothing."""
    import vl_convert

    # A closing tag inside a string would end the script element.
    script = str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")


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
