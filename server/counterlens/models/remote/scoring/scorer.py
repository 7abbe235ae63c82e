"""Token probabilities from one endpoint; tests once which method works there, and remembers it.

The text of the test counts in steps of one, so that every model expects its numbers, and has one word that no
model expects. By the definition of a token's probability, given what precedes it, the numbers must be likely
and the word must not; values that are off by one token in either direction fail that. Also, the tokens must
join to the text, only the first may lack a value, and a second request must give the same values.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from counterlens.errors import ModelError, UnreachableError, UnscorableError
from counterlens.models.base import TokenScores
from counterlens.models.remote.accepted_parameters import WEEK, EndpointMemory
from counterlens.models.remote.client import HttpClient
from counterlens.models.remote.endpoint import Endpoint
from counterlens.models.remote.failures import PassingError, UnknownModelError
from counterlens.models.remote.scoring.dialect import Correction, ScoringDialect, Service
from counterlens.models.remote.scoring.dialects import GENERATION_ONLY, SCORING_DIALECTS, dialect_named
from counterlens.models.remote.scoring.reading import IncompleteError, Token, after, to_scores

_ELSEWHERE = "Score with a local model, such as smollm2-135m; counterfactual probes work with this one"
KEPT_NEGATIVE: Final = 86_400.0  # seconds, if no method works: servers are restarted with other options
_SURPRISE: Final = "violin"
TRIAL: Final = f"n = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, {_SURPRISE}, 12, 13, 14]\n"
_STEADY: Final = TRIAL.index("4, 5")  # from here on, any model knows that the text counts
_ALTERNATIVES: Final = 3
_EXPECTED: Final = -1.0  # nats: the median of the numbers is above
_UNEXPECTED: Final = -5.0  # nats: the word is below
_NOISE_MEAN: Final = 0.1  # nats between two requests, maximum of the mean
_NOISE_MOST: Final = 1.0


class RemoteScorer:
    """Scores texts at one endpoint with one model.

    Args:
        root: The client of the server's own services.
        model: The name of the model there.
        memory: Known results for endpoints.
    """

    def __init__(
        self, endpoint: Endpoint, api: HttpClient, root: HttpClient, model: str, memory: Memory
    ) -> None:
        self._endpoint = endpoint
        self._api, self._root = api, root
        self._model = model
        self._memory = memory
        self._identity = hashlib.sha256(
            f"{endpoint.url}\n{model}".encode("utf-8", "surrogatepass")
        ).hexdigest()
        self._ability: Ability | None = None
        self._lock = asyncio.Lock()

    def stored_ability(self) -> Ability | None:
        """Return the endpoint's stored capabilities, without a request."""
        if self._ability is None:
            self._ability = self._memory.recall(self._identity)
        return self._ability

    async def ability(self, *, retest: bool = False) -> Ability:
        """Return the endpoint's capabilities; tested once, or again if `retest`.

        Raises:
            ModelError: it cannot be reached.
        """
        async with self._lock:
            ability = None if retest else self.stored_ability()
            if ability is None:
                ability = await probe(Service(self._api, self._root, self._model, patient=False))
                self._ability = ability if ability.certain else None
                self._memory.remember(self._identity, ability)
            return ability

    async def score(
        self, text: str, context: str, alternatives: int, progress: Callable[[int, int], None]
    ) -> TokenScores:
        """The scores of a text after a context.

        Raises:
            ModelError: the endpoint does not give them; the message gives the reason.
        """
        ability = await self.ability()
        dialect = dialect_named(ability.dialect)
        if not ability.scores or dialect is None:
            raise ModelError(
                f"{self._endpoint.host} returns no token probabilities: {'; '.join(ability.reasons)}",
                _ELSEWHERE,
            )
        service = Service(self._api, self._root, self._model, progress=progress)
        if not text:
            return to_scores("", [], alternatives)
        try:
            tokens = await dialect.readers[ability.correction](service, context + text, alternatives)
            scores = to_scores(context + text, tokens, alternatives)
        except IncompleteError as error:
            raise UnscorableError(
                f"{self._endpoint.host} cannot score this text: {error.message}", _ELSEWHERE
            ) from error
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise ModelError(
                f"{self._endpoint.host} answered in a different form than in its test",
                f"Test it again: counterlens models test remote:{self._model}",
            ) from error
        progress(len(scores), len(scores))
        return after(context, scores)


@dataclass(frozen=True, slots=True)
class Ability:
    """The values that an endpoint returns for the tokens of a text.

    Attributes:
        dialect: The name of the working method; `generation only` if none does.
        correction: The necessary correction of the values.
        reasons: Why each of the preceding methods does not work.
        certain: Whether that is valid for the next time: no temporary failure was involved.
    """

    dialect: str
    correction: Correction = Correction.NONE
    reasons: tuple[str, ...] = ()
    certain: bool = True

    @property
    def scores(self) -> bool:
        """Whether it returns token probabilities."""
        return self.dialect != GENERATION_ONLY.name

    @property
    def summary(self) -> str:
        """A summary in a few words, for users."""
        return f"{self.dialect}, shift corrected" if self.correction else self.dialect


class Memory(EndpointMemory[Ability]):
    """The abilities of endpoints, remembered between runs."""

    def __init__(self, file: Path | None = None, clock: Callable[[], float] = time.time) -> None:
        super().__init__(Ability, file or "remote-abilities.json", clock)

    def lifetime(self, learned: Ability) -> float:
        return WEEK if learned.scores else KEPT_NEGATIVE

    def recall(self, identity: str) -> Ability | None:
        ability = super().recall(identity)
        return None if ability is None or dialect_named(ability.dialect) is None else ability

    def remember(self, identity: str, learned: Ability | None) -> None:
        """Store a result, if it is valid for the next time."""
        super().remember(identity, learned if learned is not None and learned.certain else None)


async def probe(service: Service) -> Ability:
    """Try the dialects, best first.

    Raises:
        UnreachableError: the endpoint cannot be reached.
    """
    reasons: list[str] = []
    certain = True
    for dialect in SCORING_DIALECTS:
        try:
            correction = await _examine(dialect, service)
        except UnreachableError:
            raise
        except ModelError as error:
            certain = certain and not isinstance(error, (PassingError, UnknownModelError))
            reasons.append(f"{dialect.name}: {error.message}")
        except (LookupError, TypeError, ValueError, AttributeError):
            reasons.append(f"{dialect.name}: the answer has an unexpected form")
        else:
            return Ability(dialect.name, correction, tuple(reasons))
    return Ability(GENERATION_ONLY.name, reasons=tuple(reasons), certain=certain)


async def _examine(dialect: ScoringDialect, service: Service) -> Correction:
    """The correction with which a dialect's values are right.

    Raises:
        ModelError: there is none; the message gives the reason.
    """
    refusal: ModelError | None = None
    for correction, read in dialect.readers.items():
        try:
            first = _check(await read(service, TRIAL, _ALTERNATIVES))
        except (PassingError, UnreachableError):
            raise
        except ModelError as error:
            if not correction and not isinstance(error, IncompleteError):
                raise
            refusal = refusal or error
            continue
        second = _check(await read(service, TRIAL, _ALTERNATIVES))
        _compare(first, second)
        return correction
    raise refusal or IncompleteError("there is nothing to test")


def _check(tokens: list[Token]) -> TokenScores:
    """The scores of the test, if they can be right.

    Raises:
        IncompleteError: they cannot; the message gives the reason.
    """
    scores = to_scores(TRIAL, tokens, _ALTERNATIVES)
    word = TRIAL.index(_SURPRISE)
    counting = (scores.start >= _STEADY) & (scores.end <= word - 2)
    surprising = int(np.searchsorted(scores.end, word, side="right"))
    later = scores.start >= _STEADY
    if not counting.any() or np.exp(scores.alternative_logprob).sum(axis=1).max(initial=0) > 1.02:
        raise IncompleteError("its values are not natural logarithms of probabilities")
    expected = float(np.median(scores.logprob[counting]))
    unexpected = float(scores.logprob[surprising])
    if expected < _EXPECTED or unexpected > _UNEXPECTED or unexpected > scores.logprob[later].min():
        raise IncompleteError("its values do not match its tokens")
    return scores


def _compare(first: TokenScores, second: TokenScores) -> None:
    """Check that the values of two requests agree.

    Raises:
        IncompleteError: they do not.
    """
    if len(first) == len(second):
        scored = ~np.isnan(first.logprob)
        apart = np.abs(first.logprob[scored] - second.logprob[scored])
        if apart.mean() <= _NOISE_MEAN and apart.max() <= _NOISE_MOST:
            return
    raise IncompleteError("it returns different values for the same request")
