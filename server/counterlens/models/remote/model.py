"""A model behind an OpenAI-compatible endpoint."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections import deque
from collections.abc import Callable, Coroutine, Mapping, Sequence
from operator import itemgetter
from threading import Event
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from counterlens.errors import EmptyPromptError
from counterlens.models.base import (
    ASKED,
    Api,
    Capability,
    Completion,
    Model,
    ModelInfo,
    Progress,
    Prompt,
    TokenScores,
    Vectors,
)
from counterlens.models.remote.accepted_parameters import (
    AcceptedParameters,
    ParameterLearner,
    ParameterMemory,
)
from counterlens.models.remote.background import Background, same_but_for_the_draw, together
from counterlens.models.remote.client import HttpClient, Retries, Timeouts
from counterlens.models.remote.completing import RemoteCompleter
from counterlens.models.remote.dialect import ChatDialect, CompletionsDialect, Dialect
from counterlens.models.remote.embedding import RemoteEmbedder
from counterlens.models.remote.endpoint import ApiKey, Endpoint
from counterlens.models.remote.listing import Listing
from counterlens.models.remote.metering import Meter
from counterlens.models.remote.pace import Pace
from counterlens.models.remote.scoring.scorer import Memory, RemoteScorer
from counterlens.models.usage import Usage

T = TypeVar("T")
Question = TypeVar("Question")

_DIALECTS: Final[dict[Api, Callable[[str | None], Dialect]]] = {
    Api.COMPLETIONS: lambda template: CompletionsDialect(template=template),
    Api.FILL: lambda template: CompletionsDialect(fill=True, template=template),
    Api.CHAT: lambda _: ChatDialect(),
}


class RemoteModel(Model):
    """A model behind an OpenAI-compatible endpoint.

    It completes through the completions or the chat API, and scores texts if the endpoint gives their token
    probabilities in one of the ways of `scoring/`.

    Args:
        base_url: The base URL, such as `http://127.0.0.1:8080/v1`.
        model: The model's name at the endpoint.
        api: `completions`, `fill` or `chat`.
        api_key: The key, if the endpoint requires one.
        spec: The user's input that chose the model.
        timeout: Time limits.
        retries: When to repeat a request.
        concurrency: Maximum number of concurrent requests.
        allow_insecure: Whether a key may be sent over plain http to another machine.
        allow_unlisted: Whether to request a model that the endpoint does not list. Some servers answer any
            name with the model that they have, and a report would then name the wrong one.
        memory: Known scoring capabilities of endpoints; by default a file in the user's cache.
        context: Maximum number of tokens per request, if known.
        requests_per_minute: Maximum number of requests begun per minute; None: unlimited.
        tokens_per_minute: Maximum number of tokens requested per minute; None: unlimited.
        parameters: Further parameters of each request for a completion.
        thinking_tokens: Maximum tokens of reasoning, besides those of the answer; 0: no separate limit.
        accepted_parameters: Known accepted parameters of endpoints; by default a file in the user's cache if
            the endpoint is not on this machine: servers here are restarted with other options.
        template: The text around a question of the completions API, with the placeholder `{prompt}`.

    Raises:
        ModelError: the address or the key is invalid. Nothing is sent before the first request.
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
        context: int | None = None,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        parameters: Mapping[str, Any] | None = None,
        thinking_tokens: int = 0,
        accepted_parameters: ParameterMemory | None = None,
        template: str | None = None,
    ) -> None:
        api = Api.named(api)
        key = ApiKey(api_key) if isinstance(api_key, str) else api_key
        self._endpoint = Endpoint.parse(base_url, key, allow_insecure=allow_insecure)
        self._model = model
        self._dialect = _DIALECTS[api](template)
        timeout, retries = timeout or Timeouts(), retries or Retries()
        self._concurrency = concurrency
        pace, self._meter = Pace(concurrency, requests_per_minute, tokens_per_minute), Meter()
        self._client = HttpClient(self._endpoint, timeout, retries, pace, self._meter)
        self._root = HttpClient(
            dataclasses.replace(self._endpoint, url=self._endpoint.root), timeout, retries, pace, self._meter
        )
        self._scorer = RemoteScorer(self._endpoint, self._client, self._root, model, memory or Memory())
        self._background = Background(f"counterlens {self._endpoint.address}")
        self._listing = Listing(self._endpoint, self._client, model, trusted=allow_unlisted)
        self._completer = RemoteCompleter(
            self._endpoint,
            self._client,
            model,
            self._dialect,
            self._listing,
            self._parameter_learner(model, accepted_parameters),
            parameters,
            thinking_tokens,
        )
        self._embedder = RemoteEmbedder(self._endpoint, self._client, model)
        identity = f"{self._endpoint.url}\n{model}\n{self._dialect.identity}"
        if parameters:
            identity += f"\n{json.dumps(parameters, sort_keys=True)}"
        details = [("endpoint", self._endpoint.url), ("api", str(api))]
        if thinking_tokens:
            identity += f"\nthinking {thinking_tokens}"
            details.append(("thinking tokens", str(thinking_tokens)))
        if template:
            details.append(("template", template))
        self._info = ModelInfo(
            id=spec or f"remote:{model}",
            name=model,
            identity=hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest(),
            where=self._endpoint.host,
            context=context,
            capabilities=frozenset({Capability.COMPLETE, Capability.SAMPLE}),
            details=tuple(details),
            api=api,
        )

    def __repr__(self) -> str:
        return f"RemoteModel({self._endpoint.url!r}, {self._model!r})"

    @property
    def info(self) -> ModelInfo:
        """Identity of the model, with the capabilities that are known without a request."""
        ability = self._scorer.stored_ability()
        capabilities = {Capability.SCORE} if ability is not None and ability.scores else set()
        capabilities |= {Capability.EMBED} if self._embedder.works else set()
        info = dataclasses.replace(self._info, capabilities=self._info.capabilities | capabilities)
        if asked := self._learner.accepted.summary:
            info = dataclasses.replace(info, details=(*info.details, (ASKED, asked)))
        if ability is None:
            return info
        details = (*info.details, ("probabilities", ability.summary))
        return dataclasses.replace(info, details=details, scoring=ability.summary)

    @property
    def together(self) -> int:
        """Like `Model.together`: the concurrent requests that are allowed."""
        return self._concurrency

    @property
    def usage(self) -> Usage:
        """Return `Model.usage` over all requests, including scores and embeddings."""
        return self._meter.usage

    def _parameter_learner(self, model: str, memory: ParameterMemory | None) -> ParameterLearner:
        """The parameters that the endpoint accepts, as far as known."""
        if memory is None and not self._endpoint.loopback:
            memory = ParameterMemory()
        identity = f"{self._endpoint.url}\n{model}\n{self._dialect.path}"
        key = hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()

        def learned(accepted: AcceptedParameters) -> None:
            if memory is not None:
                memory.remember(key, accepted)

        self._learner = ParameterLearner((memory and memory.recall(key)) or AcceptedParameters(), learned)
        return self._learner

    def complete(
        self,
        prompts: Sequence[Prompt],
        *,
        cancel: Event | None = None,
        progress: Progress | None = None,
    ) -> list[Completion]:
        """Continue each prompt at temperature 0, or by sampling; the first failure cancels all.

        A completion's tokens are counted in streamed pieces if the server does not count them. Samples of the
        same prompt are requested together if the endpoint gives several answers to one request; the seed is
        then that of the first. The temperature that an endpoint accepts is used if it refuses 0.

        Raises:
            ModelError: the endpoint cannot be reached or does not answer; the message gives the reason.
            EmptyPromptError: a prompt has no text; nothing is sent.
            Cancelled: `cancel` was set.
        """
        if not all(prompt.text or prompt.suffix for prompt in prompts):
            raise EmptyPromptError
        groups = same_but_for_the_draw(prompts)
        asked = [[prompts[at] for at in group] for group in groups]
        answers = self._each(asked, self._completer.complete, cancel, progress)
        places = [at for group in groups for at in group]
        return [answer for _, answer in sorted(zip(places, answers, strict=True), key=itemgetter(0))]

    def score(
        self,
        text: str,
        *,
        context: str = "",
        alternatives: int = 5,
        cancel: Event | None = None,
        progress: Progress | None = None,
    ) -> TokenScores:
        """Score by the best method that the endpoint offers, as `Model.score`; it is tested when first used.

        Entropy is NaN, and ranks may be lower bounds: servers list a few likely tokens, not all. The server
        tokenizes context and text together; of a token that spans both, the part in the text is reported.

        Raises:
            ModelError: the endpoint cannot be reached, or returns no token probabilities; the message gives
                the reason.
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
            return await self._scorer.score(text, context, alternatives, went_on)

        return self._background.run(work, cancel=cancel, step=step)

    def embed(
        self, texts: Sequence[str], *, cancel: Event | None = None, progress: Progress | None = None
    ) -> Vectors:
        """Embed as `Model.embed`: one request per text, so that no vector depends on other texts.

        Raises:
            ModelError: the endpoint cannot be reached, or returns no embeddings; the message says which.
            Cancelled: `cancel` was set.
        """

        async def embedded(group: Sequence[str]) -> list[npt.NDArray[np.float64]]:
            return [await self._embedder.embed(text) for text in group]

        vectors = self._each([[text] for text in texts], embedded, cancel, progress)
        return np.array(vectors, np.float64)

    def offers(self, capability: Capability, *, retest: bool = False, cancel: Event | None = None) -> bool:
        """Return the capabilities as `Model.offers`; tests the endpoint if it has no recent result.

        Raises:
            ModelError: the endpoint cannot be reached.
            Cancelled: `cancel` was set.
        """
        if capability not in {Capability.SCORE, Capability.EMBED}:
            return capability in self.info.capabilities

        async def work(_: Callable[[], None]) -> bool:
            await self._listing.check()
            if capability is Capability.EMBED:
                return await self._embedder.ability(retest=retest)
            return (await self._scorer.ability(retest=retest)).scores

        return self._background.run(work, cancel=cancel)

    def list_models(self, *, cancel: Event | None = None) -> list[str]:
        """The names of the models that the endpoint lists.

        Raises:
            ModelError: it lists none; the message gives the reason.
            Cancelled: `cancel` was set.
        """
        return self._background.run(lambda _: self._listing.names(), cancel=cancel)

    def close(self) -> None:
        """Close the connections; a closed model answers nothing."""

        async def both() -> None:
            await self._root.close()
            await self._client.close()

        self._background.close(both)

    def _each(
        self,
        asked: Sequence[Sequence[Question]],
        ask: Callable[[Sequence[Question]], Coroutine[Any, Any, list[T]]],
        cancel: Event | None,
        progress: Progress | None,
    ) -> list[T]:
        """The answers to some requests, sent group by group in parallel; progress counts groups."""
        done, sizes = 0, deque[int]()

        def step() -> None:
            nonlocal done
            done += sizes.popleft()
            if progress is not None:
                progress(done, sum(map(len, asked)))

        async def work(notify: Callable[[], None]) -> list[T]:
            async def answered(questions: Sequence[Question]) -> list[T]:
                answers = await ask(questions)
                sizes.append(len(questions))
                notify()
                return answers

            if asked:
                await self._listing.check()
            batches = await together([answered(questions) for questions in asked])
            return [answer for answers in batches for answer in answers]

        return self._background.run(work, cancel=cancel, step=step)
