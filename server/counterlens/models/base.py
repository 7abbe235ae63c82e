"""The interface of every model back end: the abstract class `Model` and its request and response types."""

from __future__ import annotations

import hashlib
import struct
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from threading import Event
from types import TracebackType
from typing import Self

import numpy as np
import numpy.typing as npt

from counterlens.errors import ModelError
from counterlens.models.usage import Usage

Progress = Callable[[int, int], None]
"""Called with (done, total) of one request, in units of the model, on the thread that made the request."""

Vectors = npt.NDArray[np.float64]
"""(n, dimensions) float64, one vector per text."""
RUNS_ON = "runs on"
"""The key in `ModelInfo.details` with which a local model names its device."""
PROCESSOR = "the processor"
"""Its value for a model of which no layer is offloaded."""
COMPLETIONS = "completions"
"""The key in `ModelInfo.details` with which a local model says whether its completions are exact."""
ASKED = "asked"
"""The key in `ModelInfo.details` with which an endpoint says how its requests differ from the usual ones,
such as the temperature."""


class Capability(StrEnum):
    """A capability that a model may have; callers report a missing one.

    `COMPLETE`, `SCORE` and `EMBED` are the methods of these names. `BATCH`: the requests of one call decode
    together, which is faster. `EXACT`: a completion depends on its prompt alone. A response depends on the
    whole call, through rounding, if requests decode together and not exactly. `SAMPLE`: completions can be
    sampled at a temperature, as `Prompt.draw` says. `CHOOSE`: the candidates of a closed question get
    probabilities, as `Prompt.candidates` says. `INSTRUCT`: the model has a chat template, through which it is
    asked what `Reply.by_template` marks, whatever its prompt format. `MASKED`: scores are of masked tokens,
    each given the tokens on both sides, and `score_span` masks the given span.
    """

    COMPLETE = "complete"
    SCORE = "score"
    EMBED = "embed"
    BATCH = "batch"
    EXACT = "exact"
    SAMPLE = "sample"
    CHOOSE = "choose"
    INSTRUCT = "instruct"
    MASKED = "masked"


class Api(StrEnum):
    """Prompt format: how a model is asked for text."""

    COMPLETIONS = "completions"
    """It continues the text as it is."""
    FILL = "fill"
    """It fills a hole in the middle, and also reads what follows the hole."""
    CHAT = "chat"
    """It gets instructions in messages."""

    @classmethod
    def named(cls, name: str) -> Api:
        """The API with a name that the user gave.

        Raises:
            ModelError: there is no such API.
        """
        try:
            return cls(name)
        except ValueError:
            raise ModelError(f"there is no API {name!r}", f"Choose one of: {', '.join(cls)}") from None


APIS = tuple(str(api) for api in Api)
"""The names of the prompt formats."""


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """Identity of a model: everything needed to name it in a report and in a cache key.

    Attributes:
        id: The user's name for the model.
        name: Its display name.
        identity: A stable identity of the content: the SHA-256 of a model file, or endpoint and model name.
        where: `local`, or the host of the endpoint.
        context: Maximum number of tokens per request, or None if the server does not say.
        details: Further facts for display, such as quantisation or threads. They decide nothing.
        api: Prompt format.
        engine: Program that computes the responses, if known; part of a cache key.
        scoring: How a server's token probabilities are obtained, if known; part of a cache key.
        decoding: How completions are kept exact, if known; empty if they are not exact. Part of the cache key
            of a completion.
        device: The offloaded layers and their device; empty on the processor. Part of a cache key.
    """

    id: str
    name: str
    identity: str
    where: str
    capabilities: frozenset[Capability]
    context: int | None = None
    details: tuple[tuple[str, str], ...] = ()
    api: Api = Api.COMPLETIONS
    engine: str | None = None
    scoring: str | None = None
    decoding: str | None = None
    device: str = ""

    @property
    def local(self) -> bool:
        """Whether the model runs on this machine, not behind an endpoint."""
        return self.where == "local"


@dataclass(frozen=True, slots=True)
class Stop:
    """The stop rule of a completion.

    Attributes:
        indent: The column, in characters with tabs expanded to multiples of eight, of the header of the
            block being completed: the completion ends before the first line of code that is not indented
            deeper (its own end, by indentation). None: no such rule.
        texts: The completion ends before the first of these texts.
        braces: Number of open braces at the end of the prompt: the completion ends after the one that closes
            the last of them. None: no such rule.
    """

    indent: int | None = None
    texts: tuple[str, ...] = ()
    braces: int | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """Marks a prompt as a question, and gives the format of the answer.

    Back ends enforce the format if they can; an answer may still come in any other.

    Attributes:
        instruction: System message for chat models; models that only complete do not see it.
        grammar: The format as GBNF, from `root` on: for llama.cpp, here and on servers. Empty: any format.
        schema: The format as a JSON schema, as JSON text: for chat endpoints. Empty: none.
        turns: Earlier questions with their answers, for chat models: worked examples.
        by_template: Whether a model that gets code in another prompt format is asked through its chat
            template; needs `Capability.INSTRUCT`.
        begun: The text with which the answer of a chat begins, and which is not part of the completion: for
            models on this machine. Endpoints cannot be told it; their models begin the answer themselves.
    """

    instruction: str
    grammar: str
    schema: str = ""
    turns: tuple[tuple[str, str], ...] = ()
    by_template: bool = False
    begun: str = ""


@dataclass(frozen=True, slots=True)
class Draw:
    """One of several completions sampled from a model's distribution.

    Attributes:
        temperature: Divisor of the logits; above 0. At 1, tokens are sampled from the model's own
            distribution.
        seed: Random seed of all samples of a run.
        index: Index of the sample: the same prompt, seed and index give the same completion.
    """

    temperature: float
    seed: int
    index: int

    def number(self, salt: bytes = b"") -> int:
        """A 63-bit number derived from the sample and `salt`."""
        digest = hashlib.sha256(struct.pack("<dqq", self.temperature, self.seed, self.index) + salt).digest()
        return int.from_bytes(digest[:8], "little") >> 1


@dataclass(frozen=True, slots=True)
class Prompt:
    """A text to be continued at temperature 0, or by sampling tokens.

    Attributes:
        text: The text of the prompt. It may end anywhere: back ends heal the last token (decision 4 of
            ARCHITECTURE.md), so that the continuation follows `text` exactly.
        max_tokens: Maximum number of new tokens.
        stop: The stop rule.
        reply: Set if the text is a question, not the beginning of code; it is then sent as it is, and should
            end at the end of a word.
        suffix: The text after the hole; read only by fill-in-the-middle models.
        draw: Set if tokens are sampled; needs `Capability.SAMPLE`.
        detours: Indices of tokens of the completion, from 0, at which the second likeliest is taken instead
            of the likeliest; needs `Capability.EXACT`.
        examples: The answers of worked examples in the text or the turns, which an answer may repeat. They
            are not sent.
        logprobs: Whether the log-probabilities of the generated tokens are requested.
        candidates: The candidates of a closed question; needs `Capability.CHOOSE`. Nothing is generated then:
            the text is sent as it is, and each candidate gets the probability of following it. In a chat, it
            follows the beginning of the answer, and a line break at its end stands for the end of the answer.
    """

    text: str
    max_tokens: int = 256
    stop: Stop = field(default_factory=Stop)
    reply: Reply | None = None
    suffix: str = ""
    draw: Draw | None = None
    detours: tuple[int, ...] = ()
    examples: tuple[str, ...] = ()
    logprobs: bool = False
    candidates: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Completion:
    """Continuation of one prompt.

    Attributes:
        text: The continuation of the prompt's text, after the stop rule.
        finish: `stop` if the stop rule or the model's end of text ended it, `length` if the token limit did,
            or if a local model's answer to a question only repeated itself, and would have reached the limit.
        tokens: Number of tokens that the model generated, including reasoning.
        dropped: Number of the prompt's oldest tokens that did not fit into the model's context.
        ties: Indices of tokens, from 0, that rounding may have chosen, the closest tie first: the gap between
            the two likeliest was smaller than the model's rounding. Only greedy completions with
            `Capability.EXACT` have any.
        thought: Number of tokens of reasoning, which is not in the text.
        logprobs: For each generated token of the text: its first byte in the UTF-8 text, and the natural
            logarithm of its probability at temperature 1. None if it was not requested, or the model does not
            give it, or the text is not a part of what it generated.
        candidates: For each candidate of a closed question, the sum of the natural logarithms of the
            probabilities of its tokens; `text` is then the likeliest candidate.
    """

    text: str
    finish: str
    tokens: int
    dropped: int = 0
    ties: tuple[int, ...] = ()
    thought: int = 0
    logprobs: tuple[tuple[int, float], ...] | None = None
    candidates: tuple[float, ...] = ()

    @property
    def unanswered(self) -> bool:
        """Whether it has no answer: the token limit ended it before, or it was only reasoning."""
        return self.finish == "length" and not self.text


@dataclass(frozen=True, slots=True, eq=False)
class TokenScores:
    """Scores of the n tokens of a text, each with its k most likely alternatives.

    Attributes:
        start: (n,) int64, first byte of each token in the UTF-8 text.
        end: (n,) int64, the byte after the last byte of each token.
        logprob: (n,) float64, natural logarithm of the token's probability given what precedes it;
            NaN for a first token that nothing precedes.
        entropy: (n,) float64, entropy of the next-token distribution, in nats.
        rank: (n,) int64, number of more likely tokens; -1 if not scored.
        alternative_logprob: (n, k) float64, of the k most likely tokens, best first.
        context: (n,) int64, number of tokens that the model saw before this one.
        deviation: (n,) float64, standard deviation of the log-probability of a token drawn from the
            next-token distribution, whose mean is minus the entropy; in nats. None if the model does not
            give whole distributions.
    """

    text: str
    start: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]
    logprob: npt.NDArray[np.float64]
    entropy: npt.NDArray[np.float64]
    rank: npt.NDArray[np.int64]
    alternative_logprob: npt.NDArray[np.float64]
    alternative_text: tuple[tuple[str, ...], ...]
    context: npt.NDArray[np.int64]
    deviation: npt.NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.start)

    @property
    def probability(self) -> npt.NDArray[np.float64]:
        """(n,) float64 next-token probabilities (Palacio et al. 2023, section II), NaN if not scored."""
        return np.exp(self.logprob)


class Model(ABC):
    """A code model. Requests are synchronous and thread-safe; a cancelled one raises `Cancelled`.

    A back end implements `info` and `complete`, and overrides its other capabilities, which
    `info.capabilities` lists.
    """

    @property
    @abstractmethod
    def info(self) -> ModelInfo:
        """Identity of the model."""

    @property
    def together(self) -> int:
        """How many requests it answers at the same time, at least one; more wait."""
        return 1

    @property
    def usage(self) -> Usage:
        """The usage, if it is counted: only by endpoints, if it may cost something."""
        return Usage()

    @property
    def seconds(self) -> float:
        """The time that its requests have cost so far: processor time of its process, if it has one here.

        Otherwise the time of the clock, so that a difference is the duration of the requests in between.
        """
        return time.monotonic()

    def offers(
        self,
        capability: Capability,
        *,
        retest: bool = False,  # noqa: ARG002 - there is nothing to test
        cancel: Event | None = None,  # noqa: ARG002
    ) -> bool:
        """Whether the model has a capability; a remote endpoint is tested if that is unknown.

        `info.capabilities` lists the capabilities that are known without a request.

        Args:
            retest: Whether to test again although the result is known.
            cancel: Set by any thread to cancel.

        Raises:
            ModelError: the test failed.
            Cancelled: `cancel` was set.
        """
        return capability in self.info.capabilities

    @abstractmethod
    def complete(
        self,
        prompts: Sequence[Prompt],
        *,
        cancel: Event | None = None,
        progress: Progress | None = None,
    ) -> list[Completion]:
        """Continue each prompt at temperature 0, or as its `draw` says.

        With `Capability.EXACT`, each response depends on its prompt alone. Without it, the responses of a
        local model depend on the prompts of the call and their order, and on no earlier request; a server's
        may depend on its other requests.

        Raises:
            ModelError: the model cannot answer; the message gives the reason.
            Cancelled: `cancel` was set.
        """

    def score(
        self,
        text: str,
        *,
        context: str = "",
        alternatives: int = 5,
        cancel: Event | None = None,
        progress: Progress | None = None,
    ) -> TokenScores:
        """Score every token of `text` given what precedes it.

        Args:
            text: The scored text; offsets in the result are those of `text` alone.
            context: The context before it. No token spans the two. It should end at the end of a line of
                code, and the text begin with the line breaks after it: a context that ends in blank lines
                misleads most models.
            alternatives: Number of most likely tokens to return per token.
            progress: Called with (finished tokens, all tokens).

        Raises:
            ModelError: the model cannot answer, or does not give token probabilities.
            Cancelled: `cancel` was set.
        """
        del text, context, alternatives, cancel, progress
        raise ModelError(
            f"{self.info.name} returns no token probabilities",
            "Its completions can be probed; scores need another model",
        )

    def score_continuations(
        self,
        context: str,
        continuations: Sequence[str],
        *,
        unscored: Sequence[int] = (),
        alternatives: int = 5,
        cancel: Event | None = None,
        progress: Progress | None = None,
    ) -> list[TokenScores]:
        """Score texts that each follow the same context: here with one call of `score` per text.

        A model with `Capability.BATCH` reads the context once and decodes the texts together. Scores of one
        call are comparable with each other, but with those of another call, or of `score`, only up to
        rounding (a mean of some 0.05 nats per token for a quantised model).

        Args:
            context: The context before each text; should not be empty.
            unscored: Bytes at the start of each text whose tokens need no scores, which may be NaN then:
                reading them alone costs less.
            alternatives: Number of most likely tokens to return per token.
            progress: Called with (finished steps, all steps); here a step is a continuation.

        Raises:
            ModelError: the model cannot answer, or returns no token probabilities, or a continuation does not
                fit into its window.
            Cancelled: `cancel` was set.
        """
        del unscored
        scores: list[TokenScores] = []
        for text in continuations:
            scores.append(self.score(text, context=context, alternatives=alternatives, cancel=cancel))
            if progress:
                progress(len(scores), len(continuations))
        return scores

    def score_span(
        self, text: str, start: int, end: int, *, alternatives: int = 0, cancel: Event | None = None
    ) -> TokenScores:
        """Score the tokens in a span of a text, all masked at once, given the text on both sides.

        Needs `Capability.MASKED`. Ahmed et al. 2024 query masked models for an operator in this way.

        Args:
            text: The text; of a long one, as much as fits around the span is read. Offsets are in UTF-8.
            start: First byte of the span.
            end: The byte after the span.
            alternatives: Number of most likely tokens to return per token.

        Returns:
            The scores of the tokens that overlap the span; offsets are those of the text.

        Raises:
            ModelError: the model cannot answer, or does not mask.
            Cancelled: `cancel` was set.
        """
        del text, start, end, alternatives, cancel
        raise ModelError(f"{self.info.name} masks no tokens: it is a causal model", "Choose a masked model")

    def embed(
        self, texts: Sequence[str], *, cancel: Event | None = None, progress: Progress | None = None
    ) -> Vectors:
        """Embed texts.

        An embedding model was trained for this; a completion model gives its last hidden states, pooled,
        which were trained only to predict the next token.

        Args:
            texts: The texts, none of them empty.
            progress: Called with (finished texts, all texts).

        Returns:
            (n, dimensions) float64, with the lengths that the model gives: some servers normalise to 1.

        Raises:
            ModelError: the model cannot answer, or returns no embeddings, or a text does not fit into its
                window.
            Cancelled: `cancel` was set.
        """
        del texts, cancel, progress
        raise ModelError(f"{self.info.name} returns no embeddings", "Choose a model that does")

    def close(self) -> None:  # noqa: B027 - most models hold nothing
        """Release the model's resources; a closed model answers nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
