"""The interface of every model back end: the abstract class `Model` and the types that cross it."""

from __future__ import annotations

import hashlib
import struct
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
"""Called with (done, total) of one request, in what the model counts, from the thread that made it."""

Vectors = npt.NDArray[np.float64]
"""(n, dimensions) float64, one vector for each of n texts."""


class Capability(StrEnum):
    """One thing that a model may be able to do; callers say so where it is missing.

    `COMPLETE`, `SCORE` and `EMBED` are the methods of these names. `BATCH`: the requests of one call decode
    together, which is faster. `EXACT`: a completion is a function of its prompt and of nothing else. If
    requests decode together and not exactly, an answer depends on the whole call, through rounding. `SAMPLE`:
    completions can be drawn at a temperature, as `Prompt.draw` says. `MASKED`: scores are of masked tokens,
    each given what is on both sides of it, and `score_span` masks what it is told.
    """

    COMPLETE = "complete"
    SCORE = "score"
    EMBED = "embed"
    BATCH = "batch"
    EXACT = "exact"
    SAMPLE = "sample"
    MASKED = "masked"


COMPLETIONS = "completions"
"""The name among `ModelInfo.details` under which a local model says whether its completions are exact."""


ASKED = "asked"
"""The name among `ModelInfo.details` under which an endpoint says what differs from how models are asked
otherwise, such as the temperature."""


class Api(StrEnum):
    """Prompt format: how a model is asked to write."""

    COMPLETIONS = "completions"
    """It continues the text as it stands."""
    FILL = "fill"
    """It fills a hole in the middle, and also reads what follows it."""
    CHAT = "chat"
    """It is instructed in messages."""

    @classmethod
    def named(cls, name: str) -> Api:
        """The API of a name that a user gave.

        Raises:
            ModelError: there is none of this name.
        """
        try:
            return cls(name)
        except ValueError:
            raise ModelError(f"there is no API {name!r}", f"Choose one of: {', '.join(cls)}") from None


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """Identity of a model: everything needed to name it in a report and in a cache key.

    Attributes:
        id: The user's name for the model.
        name: Its display name.
        identity: A stable identity of the content: the SHA-256 of a model file, or endpoint and model name.
        where: `local` or the host of the endpoint.
        capabilities: Its capabilities.
        context: Tokens that fit into one request, or None when the server does not say.
        details: Further facts for display, such as quantisation or threads. Nothing is decided by them.
        api: Prompt format.
        engine: Program that computes the answers, if it is known; part of a cache key.
        scoring: How a server's token probabilities are obtained, if that is known; part of a cache key.
        decoding: How completions are kept exact, if that is known; empty: they are not. Part of the cache
            key of a completion.
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

    @property
    def local(self) -> bool:
        """Whether it is run here, and not by an endpoint."""
        return self.where == "local"


@dataclass(frozen=True, slots=True)
class Stop:
    """The end of a completion.

    Attributes:
        indent: The column, in characters with tabs expanded to multiples of eight, of the header of the
            block being completed: the completion ends before the first line of code that is indented no
            deeper (its own end, by indentation). None: no such rule.
        texts: The completion ends before the first of these.
        braces: So many braces are open at the end of the prompt: the completion ends behind the one that
            closes the last of them. None: no such rule.
    """

    indent: int | None = None
    texts: tuple[str, ...] = ()
    braces: int | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """Marks a prompt as a question, and gives the form of its answer.

    Back ends hold the model to the form where they can; an answer may still come in any other.

    Attributes:
        instruction: System message for chat models; models that only complete do not see it.
        grammar: The form as GBNF, from `root` on: for llama.cpp, here and on servers. Empty: any form.
        schema: The form as a JSON schema, as JSON text: for chat endpoints. Empty: none.
    """

    instruction: str
    grammar: str
    schema: str = ""


@dataclass(frozen=True, slots=True)
class Draw:
    """One of several completions that are drawn from what a model finds likely.

    Attributes:
        temperature: The divisor of logits; above 0. At 1 tokens are drawn as the model says.
        seed: Random seed of all draws of a run.
        index: Which of the draws it is: the same prompt, seed and index give the same completion.
    """

    temperature: float
    seed: int
    index: int

    def number(self, salt: bytes = b"") -> int:
        """A number of 63 bits that stands for the draw, and for what is mixed in."""
        digest = hashlib.sha256(struct.pack("<dqq", self.temperature, self.seed, self.index) + salt).digest()
        return int.from_bytes(digest[:8], "little") >> 1


@dataclass(frozen=True, slots=True)
class Prompt:
    """A text to be continued at temperature 0, or by drawing tokens.

    Attributes:
        text: The prompt's text. It may end anywhere: back ends heal the last token (decision 4 of
            ARCHITECTURE.md), so that the continuation is what follows `text` exactly.
        max_tokens: The most new tokens.
        stop: When to end before that.
        reply: Set where the text is a question, and no beginning of code; it is then read as it stands,
            and should end where a word does.
        suffix: The text after the hole; read only by models that are asked to fill it.
        draw: Set where tokens are drawn; needs `Capability.SAMPLE`.
        detours: The tokens of the completion, counted from 0, at which the second likeliest is taken instead
            of the likeliest; needs `Capability.EXACT`.
    """

    text: str
    max_tokens: int = 256
    stop: Stop = field(default_factory=Stop)
    reply: Reply | None = None
    suffix: str = ""
    draw: Draw | None = None
    detours: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Completion:
    """Continuation of one prompt.

    Attributes:
        text: The continuation of the prompt's text, stop rule applied.
        finish: `stop` when the stop rule or the model's end of text ended it, `length` when the
            token limit did.
        tokens: How many tokens the model generated, with those of reasoning.
        dropped: How many of the prompt's oldest tokens did not fit into the model's context.
        ties: The tokens, counted from 0, that rounding may have chosen, the closest tie first: the gap
            between the two likeliest was smaller than the model's rounding. Greedy completions with
            `Capability.EXACT` alone have any.
        thought: How many of the tokens were of reasoning, which is not in the text.
    """

    text: str
    finish: str
    tokens: int
    dropped: int = 0
    ties: tuple[int, ...] = ()
    thought: int = 0

    @property
    def unanswered(self) -> bool:
        """Whether the token limit ended it before its answer began, such as in its reasoning."""
        return self.finish == "length" and not self.text


@dataclass(frozen=True, slots=True, eq=False)
class TokenScores:
    """Scores of a text's tokens: n tokens, each with its k most likely alternatives.

    Attributes:
        text: The text that was scored.
        start: (n,) int64, first byte of each token in the UTF-8 text.
        end: (n,) int64, byte after its last.
        logprob: (n,) float64, natural logarithm of the token's probability given what precedes it;
            NaN for a first token that nothing precedes.
        entropy: (n,) float64, entropy in nats of the distribution that the token was drawn from.
        rank: (n,) int64, how many tokens were more likely; -1 if not scored.
        alternative_logprob: (n, k) float64, of the k most likely tokens, best first.
        alternative_text: n tuples of k texts.
        context: (n,) int64, how many tokens the model saw before this one.
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

    def __len__(self) -> int:
        return len(self.start)

    @property
    def probability(self) -> npt.NDArray[np.float64]:
        """(n,) float64 next-token probabilities (Palacio et al. 2023, section II), NaN if not scored."""
        return np.exp(self.logprob)


class Model(ABC):
    """A code model. Requests are synchronous, thread-safe, and end early with `Cancelled`.

    A back end gives `info` and `complete`, and overrides what else it can do; `info.capabilities` says what
    that is.
    """

    @property
    @abstractmethod
    def info(self) -> ModelInfo:
        """Identity of the model."""

    @property
    def usage(self) -> Usage:
        """Its usage, if it is counted: only by endpoints, if it may cost something."""
        return Usage()

    def offers(
        self,
        capability: Capability,
        *,
        anew: bool = False,  # noqa: ARG002 - there is nothing to find out
        cancel: Event | None = None,  # noqa: ARG002
    ) -> bool:
        """Whether the model can do something; a remote endpoint is asked if that is not known yet.

        `info.capabilities` says what is known without asking.

        Args:
            capability: What.
            anew: Whether to ask again though it is known.
            cancel: Set by any thread to give up.

        Raises:
            ModelError: the model cannot be asked.
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

        With `Capability.EXACT` each answer depends on its prompt and on nothing else. Without, the answers of
        a local model depend on the prompts of the call and their order, and on nothing that was asked before;
        a server's may depend on what else it is asked.

        Raises:
            ModelError: the model cannot answer; the message says why.
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
            text: The scored text; the offsets of the answer are those of `text` alone.
            context: The context before it. No token spans the two. It should end where a line of code does,
                and the text begin with the line breaks after it: a context that ends in blank lines leads
                most models astray.
            alternatives: How many of the most likely tokens to name.
            cancel: Set it to give up.
            progress: Called with (tokens done, tokens in all).

        Raises:
            ModelError: the model cannot answer, or does not give token probabilities.
            Cancelled: `cancel` was set.
        """
        del text, context, alternatives, cancel, progress
        raise ModelError(
            f"{self.info.name} gives no token probabilities",
            "Its completions can be probed; scores need another model",
        )

    def score_continuations(
        self,
        context: str,
        continuations: Sequence[str],
        *,
        alternatives: int = 5,
        cancel: Event | None = None,
        progress: Progress | None = None,
    ) -> list[TokenScores]:
        """Score texts that each follow the same context: here with one call of `score` for each.

        A model with `Capability.BATCH` reads the context once and decodes them together. Scores of one call
        compare with each other; with those of another call, or of `score`, only up to rounding (a mean of
        some 0.05 nats per token for a quantised model).

        Args:
            context: The context before each of them; should not be empty.
            continuations: The scored text.
            alternatives: How many of the most likely tokens to name.
            cancel: Set it to give up.
            progress: Called with steps done and steps in all; here a step is a continuation.

        Raises:
            ModelError: the model cannot answer, or gives no token probabilities, or a continuation does
                not fit into its window.
            Cancelled: `cancel` was set.
        """
        scores: list[TokenScores] = []
        for text in continuations:
            scores.append(self.score(text, context=context, alternatives=alternatives, cancel=cancel))
            if progress:
                progress(len(scores), len(continuations))
        return scores

    def score_span(
        self, text: str, start: int, end: int, *, alternatives: int = 0, cancel: Event | None = None
    ) -> TokenScores:
        """Score the tokens in a span of a text, masked all at once, given what is on both sides of them.

        Needs `Capability.MASKED`. This is how Ahmed et al. 2024 ask masked models for an operator.

        Args:
            text: UTF-8 once encoded; of a long one as much as fits around the span is read.
            start: The first byte of the span.
            end: The byte after its last.
            alternatives: How many of the most likely tokens to name.
            cancel: Set it to give up.

        Returns:
            The scores of the tokens that overlap the span; the offsets are those of the text.

        Raises:
            ModelError: the model cannot answer, or masks nothing.
            Cancelled: `cancel` was set.
        """
        del text, start, end, alternatives, cancel
        raise ModelError(f"{self.info.name} masks nothing: it reads forward", "Choose a masked model")

    def embed(
        self, texts: Sequence[str], *, cancel: Event | None = None, progress: Progress | None = None
    ) -> Vectors:
        """Embed texts.

        An embedding model was trained for this; a model that continues text gives its last hidden states,
        pooled, which were trained to predict the next token and nothing else.

        Args:
            texts: None of them empty.
            cancel: Set it to give up.
            progress: Called with texts done and texts in all.

        Returns:
            (n, dimensions) float64, of lengths as the model makes them: some servers give length 1.

        Raises:
            ModelError: the model cannot answer, or gives no embeddings, or a text does not fit into its
                window.
            Cancelled: `cancel` was set.
        """
        del texts, cancel, progress
        raise ModelError(f"{self.info.name} gives no embeddings", "Choose a model that does")

    def close(self) -> None:  # noqa: B027 - most models hold nothing
        """Release what the model holds; a closed model answers nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
