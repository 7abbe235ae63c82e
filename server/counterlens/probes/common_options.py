"""The options that several probes or commands share: annotations of the fields of their options classes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from counterlens.errors import DataError, OptionError
from counterlens.judging.base import LIMITS, LONGEST, MAP_SECONDS, SHORTEST
from counterlens.models.base import APIS
from counterlens.models.registry import GPU_LAYERS, MASKS
from counterlens.mutations import ASSUMPTIONS, every_mutation
from counterlens.mutations.cuts import PREFIX_RATIO, Ratio
from counterlens.probes.options import ProbeOptions, option

MAX_TOKENS = 256
"""Default maximum of new tokens of a completion."""
MOST_TOKENS = 131_072
"""Largest maximum of new tokens that can be requested."""
_LEAST_RATIO = 0.05
DEFAULT_TIMEOUT, DEFAULT_MAP_TIMEOUT, DEFAULT_PREFIX_RATIO = LIMITS.seconds, MAP_SECONDS, PREFIX_RATIO
Without = Annotated[
    tuple[str, ...],
    option(
        "Leave out counterfactuals that rest on this assumption (repeatable); see docs/mutations.md.",
        metavar="ASSUMPTION",
        choices=ASSUMPTIONS,
    ),
]
MaxTokens = Annotated[
    int,
    option("Token limit for one answer.", metavar="N", low=1, high=MOST_TOKENS, setting="probe.maxTokens"),
]
Timeout = Annotated[
    float,
    option(
        "Time limit in seconds for one program run, its tests included.",
        metavar="SECONDS",
        low=SHORTEST,
        high=LONGEST,
        setting="probe.timeout",
    ),
]
MapTimeout = Annotated[
    float,
    option(
        "Time limit in seconds for the one run of a repository's test suite that records which test runs "
        "which code; 0: match tests by the names that they mention.",
        metavar="SECONDS",
        low=0,
        high=24 * LONGEST,
    ),
]
ExcludedTests = Annotated[
    tuple[str, ...],
    option(
        "Tests of a repository that never judge, relative to its folder: a file, a folder or a pattern, "
        "followed by ::TEST for one test or class (repeatable).",
        metavar="PATTERN",
    ),
]
Encoder = Annotated[
    str | None,
    option(
        "Model whose embeddings compare summaries, named as with --model. Default: MiniLM.",
        metavar="M",
        setting="probe.encoder",
    ),
]
Threads = Annotated[int, option("CPU threads for a local model; 0: automatic.", low=0)]
GpuLayers = Annotated[
    str,
    option(
        "Layers of a GGUF model that a graphics processor computes; auto: as many as fit into its free "
        "memory.",
        form=GPU_LAYERS,
    ),
]
PromptFormat = Annotated[
    str | None,
    option(
        "Prompt format: plain completion, fill-in-the-middle (with what follows), or chat. Default: "
        "completions, unless another suits the model better.",
        choices=APIS,
    ),
]
ThinkingTokens = Annotated[
    int | None,
    option(
        "Token limit for the reasoning of a remote model, in addition to its answer (default: its entry in "
        "[models]).",
        metavar="N",
        low=0,
    ),
]
Mask = Annotated[
    str,
    option("Unit that a masked model masks when it scores: whole words, or single tokens.", choices=MASKS),
]
BaseUrl = Annotated[
    str | None,
    option(
        "Base URL of a remote model (or COUNTERLENS_BASE_URL); the key comes from COUNTERLENS_API_KEY.",
        metavar="URL",
    ),
]


def source_language(options: ProbeOptions) -> str | None:
    """The id of the source language of a translation; None if functions are not translated."""
    language: str | None = getattr(options, "from_language", None)
    return language


def check_preserving(names: tuple[str, ...]) -> None:
    _check_mutations(names)
    for name in names:
        if not every_mutation()[name].preserving:
            raise OptionError(
                f"{name} breaks the meaning, so the function's own tests cannot judge what comes after it",
                "The probes of pairs need mutations that preserve the meaning",
            )


def _check_mutations(names: tuple[str, ...]) -> None:
    for name in names:  # the mutations of a language are imported only to find a name
        if name not in every_mutation():
            raise OptionError(f"there is no mutation {name!r}", f"Available: {', '.join(every_mutation())}")


def _check_ratio(value: Ratio) -> None:
    parts = [*value] if isinstance(value, tuple) else [value]
    if not all(_LEAST_RATIO <= part <= 1 for part in parts) or parts != sorted(parts):
        raise OptionError(
            f"a prefix ratio must be a number or a range between {_LEAST_RATIO} and 1, such as 0.4-0.6, not "
            f"{'-'.join(f'{part:g}' for part in parts)}"
        )


def _check_ranges(ranges: tuple[Ratio, ...]) -> None:
    for bounds in ranges:
        if isinstance(bounds, float | int):
            raise OptionError(f"a cut range must look like 0.4-0.6, not {bounds!r}")
        _check_ratio((bounds[0], bounds[1]))


def _corpus_there(name: str) -> None:
    path = Path(name).expanduser()
    if path.is_dir() or (path.suffix == ".py" and path.exists()):
        return
    from counterlens.datasets import open_dataset  # the functions of a file need no datasets

    try:
        open_dataset(name)
    except DataError as error:
        raise OptionError(error.message, error.hint) from None


PreservingMutations = Annotated[
    tuple[str, ...],
    option(
        "Only this mutation (repeatable; docs/mutations.md lists them).",
        flag="mutation",
        metavar="ID",
        check=check_preserving,
    ),
]
AddedMutations = Annotated[
    tuple[str, ...],
    option(
        "Also this mutation, beside the default ones or those of the protocol (repeatable).",
        flag="add-mutation",
        metavar="ID",
        check=check_preserving,
    ),
]
Mutations = Annotated[
    tuple[str, ...],
    option(
        "Only this mutation (repeatable; docs/mutations.md lists them).",
        flag="mutation",
        metavar="ID",
        check=_check_mutations,
    ),
]
PrefixRatio = Annotated[
    Ratio,
    option(
        "Share of the function that the model is shown, such as 0.6, or a range, such as 0.4-0.6.",
        metavar="RATIO",
        check=_check_ratio,
    ),
]
CutRanges = Annotated[
    tuple[Ratio, ...],
    option(
        "Cut every counterfactual in each of these ranges, such as 0.4-0.6, and leave out those that "
        "cannot be cut in all of them (repeatable; replaces the prefix ratio).",
        flag="cut-range",
        metavar="RANGE",
        check=_check_ranges,
    ),
]
Corpus = Annotated[
    str | None,
    option(
        "Python files or a dataset to count operators in.",
        metavar="NAME_OR_PATH",
        setting="probe.corpus",
        there=_corpus_there,
    ),
]
