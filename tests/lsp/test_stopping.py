"""A server that is stopped while it answers requests."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

from pygls.lsp.server import LanguageServer

from counterlens.lsp.transport import PatientProtocol


def test_all_requests_are_cancelled_although_each_is_removed_when_it_ends() -> None:
    protocol = LanguageServer("test", "1", protocol_cls=PatientProtocol).protocol
    asked: dict[int, Future[Any]] = {number: Future() for number in range(3)}
    for number, future in asked.items():
        future.add_done_callback(lambda _, number=number: protocol._request_futures.pop(number))  # type: ignore[misc]
        protocol._request_futures[number] = future
    for _ in protocol.lsp_shutdown(None):
        pass
    assert all(future.cancelled() for future in asked.values())
    assert not protocol._request_futures
