"""The delay that a server asks for, in one of the formats that servers use."""

from __future__ import annotations

import email.utils
import re
import time
from collections.abc import Mapping
from typing import Final

_KINDS: Final = ("requests", "tokens")
_DURATION: Final = re.compile(r"(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?")


def asked_wait(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from the headers of a response; None if it does not say.

    `Retry-After` (RFC 9110, section 10.2.3), `retry-after-ms`, or the reset time of an exhausted rate limit:
    `x-ratelimit-remaining-requests: 0` with `x-ratelimit-reset-requests: 6m0s`.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    after = _retry_after(headers.get("retry-after"))
    if after is not None:
        return after
    used_up = [kind for kind in _KINDS if _number(headers.get(f"x-ratelimit-remaining-{kind}")) == 0]
    resets = [_duration(headers.get(f"x-ratelimit-reset-{kind}", "")) for kind in used_up]
    return max((one for one in resets if one is not None), default=None)


def _retry_after(value: str | None) -> float | None:
    """A number of seconds, or a date."""
    if not value:
        return None
    seconds = _number(value)
    if seconds is not None:
        return seconds
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def _duration(value: str) -> float | None:
    """Seconds of a duration such as `6m0s`, `1.5s` or `20ms`."""
    found = _DURATION.fullmatch(value.strip())
    if not found or not any(found.groups()):
        return None
    hours, minutes, seconds, milliseconds = (float(part or 0) for part in found.groups())
    return 3600 * hours + 60 * minutes + seconds + milliseconds / 1000


def _number(value: str | None) -> float | None:
    return float(value) if value and re.fullmatch(r"\s*\d+(\.\d+)?\s*", value) else None
