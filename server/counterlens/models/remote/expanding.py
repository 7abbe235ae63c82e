"""The bytes of a response, with a size limit before and during decompression."""

from __future__ import annotations

import zlib
from collections.abc import AsyncGenerator
from typing import Final

import httpx

from counterlens.models.remote import failures
from counterlens.models.remote.endpoint import Endpoint

LARGEST: Final = 16 * 2**20  # maximum size of one response, decompressed, in bytes
_PIECE: Final = 2**16
_GZIP_OR_ZLIB: Final = 32 + zlib.MAX_WBITS
_PLAIN: Final = ("", "identity")
_PACKED: Final = ("gzip", "x-gzip", "deflate")


async def portions(response: httpx.Response, endpoint: Endpoint) -> AsyncGenerator[bytes, None]:
    """The body piece by piece, with one layer of gzip or deflate decompressed.

    Raises:
        ModelError: it is far larger than any response, compressed in more than one layer, or has a false
            encoding.
    """
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in (*_PLAIN, *_PACKED):
        raise failures.of_answer("compressed in a way that was not requested", endpoint)
    unpacking = zlib.decompressobj(_GZIP_OR_ZLIB) if encoding in _PACKED else None
    size = 0
    async for portion in response.aiter_raw():
        rest = portion
        while rest:
            if unpacking is None:
                piece, rest = rest, b""
            else:
                try:
                    piece = unpacking.decompress(rest, _PIECE)
                except zlib.error as error:
                    raise failures.of_answer(
                        "with content that is not compressed as declared", endpoint
                    ) from error
                rest = b"" if unpacking.eof else unpacking.unconsumed_tail
            size += len(piece)
            if size > LARGEST:
                raise failures.of_answer("with far more data than requested", endpoint)
            if piece:
                yield piece
