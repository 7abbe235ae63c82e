"""A model behind an OpenAI-compatible endpoint."""

from __future__ import annotations

import asyncio
import dataclasses
import hashlib
import json
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from threading import Event
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from counterlens.errors import ModelError
from counterlens.models import one_by_one
from counterlens.models.base import Capability, Completion, ModelInfo, Progress, Prompt, TokenScores
from counterlens.models.remote import failures
from counterlens.models.remote.answer import Answer, Json
from counterlens.models.remote.background import Background
from counterlens.models.remote.chat import ChatDialect
from counterlens.models.remote.client import HttpClient, Retries, Timeouts
from counterlens.models.remote.completions import CompletionsDialect
from counterlens.models.remote.dialect import Dialect, Exchange
from counterlens.models.remote.endpoint import ApiKey, Endpoint
from counterlens.models.remote.failures import (
    EmptyStreamError,
    RefusedRequestError,
    UnknownModelError,
    UnsupportedParameterError,
)
from counterlens.models.remote.forms import Forms
from counterlens.models.remote.healing import Contradiction
from counterlens.models.remote.listing import Listing, unknown
from counterlens.models.remote.scoring.memory import Memory
from counterlens.models.remote.scoring.scorer import RemoteScorer
from counterlens.models.stopping import cut

T = TypeVar("T")

DIALECTS: Final[dict[str, Callable[[], Dialect]]] = {
    "completions": CompletionsDialect,
    "fill": lambda: CompletionsDialect(fill=True),
    "chat": ChatDialect,
}
_LENGTH: Final = frozenset({"length", "max_tokens"})
_TRIAL: Final = Prompt("def add(a, b):\n    return", max_tokens=8)


@dataclass(frozen=True, slots=True)
class Check:
    """What a trial of an endpoint found.

    Attributes:
        seconds: How long one tiny completion took.
        completion: What came back for it.
        streams: Whether the answer came as a stream, so that it can be ended early.
        models: The models that the endpoint lists; None where it lists none.
    """

    seconds: float
    completion: Completion
    streams: bool
    models: tuple[str, ...] | None


class RemoteModel:
    """A model behind an OpenAI-compatible endpoint.

    It completes through the completions or the chat API, and scores texts where the endpoint gives their
    token probabilities in one of the ways that `scoring/` knows.

    Args:
        base_url: Such as `http://127.0.0.1:8080/v1`.
        model: The name that the endpoint knows the model by.
        api: `completions`, `fill` or `chat`.
        api_key: The key, if the endpoint wants one.
        spec: What the user typed to choose the model.
        timeout: How long to wait.
        retries: When to repeat a request.
        concurrency: Requests at the same time, at most.
        allow_insecure: Whether a key may go over plain http to another machine.
        allow_unlisted: Whether to ask for a model that the endpoint does not list. Some servers answer
            for any name with the model that they have, and a report would then name the wrong one.
        memory: What endpoints were found to be able to tell; by default a file in the user's cache.

    Raises:
        ModelError: the address or the key cannot be used. Nothing is sent before the first request.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        api: str = "completions",
        api_key: ApiKey | str | None = None,
        *,
        spec: str | None = None,
        timeout: Timeouts | None = None,
        retries: Retries | None = None,
        concurrency: int = 4,
        allow_insecure: bool = False,
        allow_unlisted: bool = False,
        memory: Memory | None = None,
    ) -> None:
        if api not in DIALECTS:
            raise ModelError(f"there is no API {api!r}", f"Choose one of: {', '.join(DIALECTS)}")
        key = ApiKey(api_key) if isinstance(api_key, str) else api_key
        self._endpoint = Endpoint.parse(base_url, key, allow_insecure=allow_insecure)
        self._model = model
        self._dialect = DIALECTS[api]()
        timeout, retries = timeout or Timeouts(), retries or Retries()
        self._client = HttpClient(self._endpoint, timeout, retries)
        self._scorer = RemoteScorer(self._endpoint, self._client, model, timeout, retries, memory or Memory())
        self._background = Background(f"counterlens {self._endpoint.address}")
        self._places = asyncio.Semaphore(max(1, concurrency))
        self._listing = Listing(self._endpoint, self._client, model, trusted=allow_unlisted)
        self._limit = "max_tokens"
        self._forms = Forms()
        identity = f"{self._endpoint.url}\n{model}\n{self._dialect.identity}"
        self._info = ModelInfo(
            id=spec or f"remote:{model}",
            name=model,
            identity=hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest(),
            where=self._endpoint.host,
            capabilities=frozenset({Capability.COMPLETE}),
            details=(("endpoint", self._endpoint.url), ("api", api)),
        )

    def __repr__(self) -> str:
        return f"RemoteModel({self._endpoint.url!r}, {self._model!r})"

    @property
    def info(self) -> ModelInfo:
        """Who answers; what it can tell about tokens as far as is known without asking it."""
        ability = self._scorer.known()
        if ability is None:
            return self._info
        scores = {Capability.SCORE} if ability.scores else set()
        return dataclasses.replace(
            self._info,
            capabilities=self._info.capabilities | scores,
            details=(*self._info.details, ("probabilities", ability.summary)),
        )

    def complete(
        self,
        prompts: Sequence[Prompt],
        *,
        cancel: Event | None = None,
        progress: Progress | None = None,
    ) -> list[Completion]:
        """Continue each prompt at temperature 0; the first failure ends all.

        Where the server does not count tokens, a completion's are counted in streamed pieces.

        Raises:
            ModelError: the endpoint cannot be reached or does not answer; says why.
            Cancelled: `cancel` was set.
        """
        done = 0

        def step() -> None:
            nonlocal done
            done += 1
            if progress is not None:
                progress(done, len(prompts))

        async def work(notify: Callable[[], None]) -> list[Completion]:
            async def one(prompt: Prompt) -> Completion:
                async with self._places:
                    completion, _ = await self._complete(prompt)
                notify()
                return completion

            if prompts:
                await self._listing.check()
            return await _all([one(prompt) for prompt in prompts])

        return self._background.run(work, cancel=cancel, step=step)

    def score(
        self,
        text: str,
        *,
        context: str = "",
        alternatives: int = 5,
        cancel: Event | None = None,
        progress: Progress | None = None,
    ) -> TokenScores:
        """As `Model.score`, in the best way that the endpoint offers; it is tested when first used.

        Entropy is NaN, and ranks may be lower bounds: servers list a few likely tokens, not all. The server
        cuts context and text into tokens as one; of a token that straddles them, the text's part is reported.

        Raises:
            ModelError: the endpoint cannot be reached, or gives no token probabilities; says why.
            Cancelled: `cancel` was set.
        """
        now = (0, 0)

        def step() -> None:
            if progress is not None:
                progress(*now)

        async def work(notify: Callable[[], None]) -> TokenScores:
            def went_on(done: int, total: int) -> None:
                nonlocal now
                now = (done, total)
                notify()

            await self._listing.check()
            async with self._places:
                return await self._scorer.score(text, context, alternatives, went_on)

        return self._background.run(work, cancel=cancel, step=step)

    def score_continuations(
        self,
        context: str,
        continuations: Sequence[str],
        *,
        alternatives: int = 5,
        cancel: Event | None = None,
        progress: Progress | None = None,
    ) -> list[TokenScores]:
        """As `Model.score_continuations`: one request after the other; progress counts them."""
        return one_by_one.score_continuations(
            self, context, continuations, alternatives=alternatives, cancel=cancel, progress=progress
        )

    def offers(self, capability: Capability, *, anew: bool = False, cancel: Event | None = None) -> bool:
        """As `Model.offers`; asks the endpoint when it was never tested, or too long ago.

        Raises:
            ModelError: the endpoint cannot be reached.
            Cancelled: `cancel` was set.
        """
        if capability is not Capability.SCORE:
            return capability in self.info.capabilities

        async def work(_: Callable[[], None]) -> bool:
            await self._listing.check()
            return (await self._scorer.ability(anew=anew)).scores

        return self._background.run(work, cancel=cancel)

    def list_models(self, *, cancel: Event | None = None) -> list[str]:
        """The names of the models that the endpoint lists.

        Raises:
            ModelError: it lists none; says why.
            Cancelled: `cancel` was set.
        """
        return self._background.run(lambda _: self._listing.names(), cancel=cancel)

    def test(self, *, cancel: Event | None = None) -> Check:
        """Ask for one tiny completion, and see what the endpoint can do.

        Raises:
            ModelError: it cannot complete; says why.
            Cancelled: `cancel` was set.
        """

        async def work(_: Callable[[], None]) -> Check:
            names = await self._listing.names_or_none()
            await self._listing.check(names)
            start = time.monotonic()
            completion, streams = await self._complete(_TRIAL)
            return Check(
                time.monotonic() - start, completion, streams, None if names is None else tuple(names)
            )

        return self._background.run(work, cancel=cancel)

    def close(self) -> None:
        """Close the connections; a closed model answers nothing."""

        async def both() -> None:
            await self._scorer.close()
            await self._client.close()

        self._background.close(both)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    async def _complete(self, prompt: Prompt) -> tuple[Completion, bool]:
        """A completion, and whether it was streamed."""
        if prompt.max_tokens < 1:
            return Completion("", "length", 0), False
        try:
            try:
                return await self._ask(prompt, self._dialect.exchange(prompt))
            except Contradiction:
                return await self._ask(prompt, self._dialect.exchange(prompt, heal=False))
        except UnknownModelError as error:
            raise unknown(error.message, await self._listing.names_or_none()) from error.__cause__

    async def _ask(self, prompt: Prompt, exchange: Exchange) -> tuple[Completion, bool]:
        async def read(answer: Answer) -> tuple[Completion, bool]:
            return await self._read(prompt, exchange, answer), answer.streamed

        payload: Json = {"model": self._model, **exchange.payload}
        refusal: RefusedRequestError | None = None
        for way, body in self._forms.ways(payload):
            try:
                answer = await self._send(body, read)
            except RefusedRequestError as error:
                refusal = refusal or error
            else:
                self._forms.took(way)
                return answer
        assert refusal is not None  # there is at least one way
        raise refusal

    async def _send(
        self, body: Json, read: Callable[[Answer], Coroutine[Any, Any, tuple[Completion, bool]]]
    ) -> tuple[Completion, bool]:
        payload = dict(body)
        tokens = payload.pop("max_tokens")
        for _ in range(2):  # an endpoint may mind either of two things
            limit = self._limit
            try:
                return await self._client.post(self._dialect.path, {**payload, limit: tokens}, read)
            except UnsupportedParameterError as error:
                if error.parameter != "max_tokens" or limit != "max_tokens":
                    raise
                self._limit = "max_completion_tokens"  # what newer chat models call it
            except EmptyStreamError:
                payload["stream"] = False
        return await self._client.post(self._dialect.path, {**payload, self._limit: tokens}, read)

    async def _read(self, prompt: Prompt, exchange: Exchange, answer: Answer) -> Completion:
        """Read an answer until the stop rule holds; leaving it early closes the connection."""
        at_line_start = prompt.text[-1:] in ("", "\n", "\r")
        written, finish, pieces, counted = "", None, 0, None
        async for chunk in answer:
            try:
                piece = self._dialect.piece(chunk)
            except (LookupError, TypeError) as error:
                raise failures.of_answer("without a completion", self._endpoint, json.dumps(chunk)) from error
            finish, counted = piece.finish or finish, _counted(chunk) or counted
            if not piece.text:
                continue
            written += piece.text
            pieces += 1
            text = exchange.text(written, complete=False)
            if text is not None and (end := cut(text, prompt.stop, at_line_start=at_line_start)) is not None:
                return Completion(_joined(end), "stop", counted or pieces)
            if exchange.ended(written):
                finish = "stop"
                break
        if finish is None and not answer.done:
            raise failures.broken_off(self._endpoint)
        if finish == "content_filter":
            raise ModelError(
                f"the content filter of {self._endpoint.host} withheld the answer", "Try another model"
            )
        text = exchange.text(written, complete=True) or ""
        end = cut(text, prompt.stop, at_line_start=at_line_start)
        if end is not None:
            return Completion(_joined(end), "stop", counted or pieces)
        return Completion(_joined(text), "length" if finish in _LENGTH else "stop", counted or pieces)


async def _all(work: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """The results in order; the first failure cancels the others."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(each) for each in work]
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from failed.exceptions[0].__cause__
    return [task.result() for task in tasks]


def _joined(text: str) -> str:
    """The text with surrogate pairs that a server sent in two pieces made whole again."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _counted(chunk: Json) -> int | None:
    usage = chunk.get("usage")
    count = usage.get("completion_tokens") if isinstance(usage, dict) else None
    return count if isinstance(count, int) else None
