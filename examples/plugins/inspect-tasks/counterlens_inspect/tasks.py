"""Tasks for Inspect, found through its entry point: `inspect eval counterlens_inspect/completion -T data=humaneval`.

Inspect asks its own model; the prompts and the verdicts are Counterlens's. This module alone imports Inspect.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import anyio.to_thread
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, GenerateConfig
from inspect_ai.scorer import CORRECT, INCORRECT, Score, metric, scorer
from inspect_ai.solver import generate

from counterlens.errors import SandboxError
from counterlens_inspect.prompt_set import (
    COUNTERFACTUAL,
    ORIGINAL,
    PLACEBO,
    PromptSample,
    PromptSet,
    ScoredSample,
    effect_of,
    share_right,
)
from counterlens.datasets.registry import absolute, repository_in
from counterlens.evaluation.settings import RunSettings
from counterlens.metrics.effects import Proportion
from counterlens.probes.common_options import DEFAULT_TIMEOUT, MAX_TOKENS
from counterlens.probes.pairs.stability import DEFAULT_PLACEBOS
from counterlens.sandbox.registry import best_sandbox, choose
from counterlens.trust import require_trust

_MESSAGES: Mapping[str, Any] = {"system": ChatMessageSystem, "user": ChatMessageUser}


def _completion(
    data: str,
    limit: int | None = None,
    seed: int = 0,
    since: str | None = None,
    paths: str | Sequence[str] = (),
    mutations: str | Sequence[str] = (),
    without: str | Sequence[str] = (),
    placebos: int = DEFAULT_PLACEBOS,
    max_tokens: int = MAX_TOKENS,
    timeout: float = DEFAULT_TIMEOUT,
    trust: bool = False,
    allow_weaker_sandbox: bool = False,
) -> Any:
    """Completions of functions and their counterfactuals, judged by the functions' own tests.

    Args:
        data: A dataset's name or path, or `repo:PATH`.
        limit: Size of a random sample of the functions; None for all.
        seed: Random seed of the sample and of new names.
        since: For `repo:`: only functions that differ from this git revision.
        paths: For `repo:`: only these files or folders.
        mutations: Only these mutations; if empty, all preserving ones.
        without: Assumptions that no counterfactual may make.
        placebos: Number of placebos per function, for the noise floor.
        max_tokens: Maximum number of tokens of a completion.
        timeout: Time limit for one run of all tests of a function, in seconds.
        trust: Whether the repository's own code may run.
        allow_weaker_sandbox: Whether programs may run in a weak sandbox.

    Raises:
        CounterlensError: an option has an invalid value, the data is missing, the repository is not trusted,
            or there is no strong sandbox.
    """
    given: dict[str, Any] = {
        "mutations": _several(mutations),
        "without": _several(without),
        "placebos": placebos,
        "max_tokens": max_tokens,
        "timeout": float(timeout),
        "seed": seed,
    }
    more = {"limit": limit, "since": since, "paths": _several(paths)}
    settings = RunSettings.of(["completion"], absolute(data), given, **more)
    require_trust(repository_in(settings.data), "its tests", decided=trust or None)
    if choose().weak and not allow_weaker_sandbox:
        raise SandboxError(
            f"the only sandbox here is weak: {choose().name} {choose().reason}",
            "docs/sandbox.md lists stronger ones; -T allow_weaker_sandbox=true permits this one",
        )
    prompts = PromptSet.of(settings, best_sandbox())
    return Task(
        dataset=MemoryDataset([_sample(sample) for sample in prompts.samples], name=settings.data),
        solver=generate(),
        scorer=_judged(prompts),
        config=GenerateConfig(temperature=0.0, max_tokens=prompts.max_tokens, seed=seed),
        metadata={"left_out": dict(prompts.left_out)},
    )


def _several(value: str | Sequence[str]) -> tuple[str, ...]:
    """A list from Inspect's command line: already parsed, or separated by commas."""
    return tuple(filter(None, value.split(","))) if isinstance(value, str) else tuple(value)


def _sample(sample: PromptSample) -> Any:
    return Sample(
        id=sample.id,
        input=[_MESSAGES[role](content=text) for role, text in sample.messages],
        target="passes its tests",
        metadata={
            "problem": sample.problem,
            "which": sample.which,
            "original": sample.original,
            "mutation": sample.mutation,
            "description": sample.description,
        },
    )


def _share(name: str, figure: Callable[[Sequence[ScoredSample]], Proportion]) -> Any:
    """A metric of Inspect: a share, with the ends of its 95 % interval."""

    def compute(scores: Sequence[Any]) -> dict[str, float]:
        proportion = figure(
            [_score(score) for score in scores if score.score.value == score.score.value]
        )  # no NaN
        ends = {name: proportion.value, f"{name}_low": proportion.low, f"{name}_high": proportion.high}
        return {key: float("nan") if value is None else value for key, value in ends.items()}

    return metric(name=name)(lambda: compute)


def _score(sample: Any) -> ScoredSample:
    """A scored sample of Inspect; over several epochs it is right if most are."""
    about: Mapping[str, str] = sample.score.metadata
    value = sample.score.value
    right = value == CORRECT if isinstance(value, str) else float(value) >= 0.5
    return ScoredSample(about["id"], about["which"], about["original"], about["problem"], right)


original_right = _share("original_right", partial(share_right, which=ORIGINAL))
counterfactual_right = _share("counterfactual_right", partial(share_right, which=COUNTERFACTUAL))
mutation_effect = _share("mutation_effect", effect_of)
noise_floor = _share("noise_floor", partial(effect_of, which=PLACEBO))


def _tests(prompts: PromptSet) -> Any:
    """The function's own tests as a scorer of Inspect."""

    async def score(state: Any, _target: Any) -> Any:
        reply, sample = state.output.completion, str(state.sample_id)
        verdict = await anyio.to_thread.run_sync(prompts.judge, sample, reply)
        about = {key: state.metadata[key] for key in ("which", "original", "problem")} | {"id": sample}
        words = {"answer": verdict.completion, "explanation": verdict.explanation, "metadata": about}
        if verdict.right is None:
            return Score(value=float("nan"), **words)  # Inspect does not count this
        return Score(value=CORRECT if verdict.right else INCORRECT, **words)

    return score


_judged = scorer(
    metrics=[original_right(), counterfactual_right(), mutation_effect(), noise_floor()], name="tests"
)(_tests)
completion = task(name="completion")(_completion)
