"""Pairs as plain data, and the tables over such data.

Nothing in it differs from run to run: what a program prints may hold addresses and temporary folders, which
are blanked.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from counterlens.metrics.bootstrap import Estimate, pooled_mean
from counterlens.metrics.effects import Effect, pooled_share
from counterlens.metrics.significance import holm, p_text
from counterlens.metrics.summary import EffectSummary, Observation, grouped, summarize
from counterlens.probes.likelihood import NOISE, LikelihoodEffect
from counterlens.probes.results import Attempt, CompletionProbe, Pair
from counterlens.probes.task import Cell, Table

Plain = Mapping[str, Any]
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,16}\b")
_FOLDER = re.compile(r"(?:/private)?(?:/var/folders|/tmp|/dev/shm)/[^\s'\"),:]+")
_KEYS = {"mutation": lambda one: one.mutation, "concept": lambda one: one.concept}
_EFFECTS = ("pairs", "informative", "original right", "effect", "signed", "McNemar p", "Holm p")
_PAIRS_NOTE = (
    "original right: share of the judged pairs whose original was completed right; effect: share of the "
    "informative pairs (either side right) whose verdict changed; signed: below 0 the counterfactual loses "
    "(Hooda et al. 2024, section 4.3); Holm p: McNemar's, adjusted for the number of tests in the table"
)
_LIKELIHOOD = ("pairs", "nats a token", "change", "less likely", "more likely")
_LIKELIHOOD_NOTE = (
    "nats a token: mean log-probability of the true rest of the original; change: of the counterfactual's "
    f"less it, functions drawn anew; less and more likely: by more than {NOISE} nats, which rounding can do"
)


def steady(text: str) -> str:
    """A text without addresses and temporary folders, which no two runs share."""
    return _FOLDER.sub("…", _ADDRESS.sub("0x…", text))


def pair_record(probe: CompletionProbe, target: str, pair: Pair) -> dict[str, Any]:
    """A pair as plain data.

    Args:
        probe: That it is of.
        target: What a report calls the function.
        pair: The pair.
    """
    one, effect = pair.counterfactual, pair.effect
    before, after = probe.document.text.splitlines(), one.source.splitlines()
    found = {
        "target": target,
        "function": probe.function.qualname,
        "mutation": one.mutation,
        "concept": str(one.concept),
        "start_line": one.start_line,
        "end_line": one.end_line,
        "description": one.description,
        "assumptions": list(one.assumptions),
        "diff": list(difflib.unified_diff(before, after, lineterm="", n=2))[2:],
        "original": _attempt(pair.original),
        "counterfactual": _attempt(pair.mutated),
        "original_right": effect.original if effect else None,
        "counterfactual_right": effect.counterfactual if effect else None,
    }
    return found if pair.likelihood is None else {**found, "likelihood": _likelihood(pair.likelihood)}


def observations(pairs: Iterable[Plain]) -> list[Observation]:
    """Pairs as far as their effects go."""
    return [
        Observation(_effect(one), one["mutation"], one["concept"], one["function"], one["target"])
        for one in pairs
    ]


def effect_tables(found: Mapping[str, Sequence[Plain]], seed: int) -> tuple[Table, ...]:
    """The mutation effect of all pairs, by mutation and by concept; the tests of a table are one family.

    Args:
        found: The pairs that each model was asked about.
        seed: Of intervals.
    """
    seen = {model: observations(pairs) for model, pairs in found.items()}
    whole = {(model,): summarize(some, seed=seed) for model, some in seen.items()}
    tables = [Table("mutation effect", ("model", *_EFFECTS), _rows(whole), _PAIRS_NOTE)]
    for title, key in _KEYS.items():
        parts = {
            (model, name): summary
            for model, some in seen.items()
            for name, summary in sorted(grouped(some, key, seed=seed).items())
        }
        tables.append(Table(f"by {title}", ("model", title, *_EFFECTS), _rows(parts)))
    return tuple(tables)


def likelihood_tables(found: Mapping[str, Sequence[Plain]], seed: int) -> tuple[Table, ...]:
    """The likelihood effect of all pairs, by mutation and by concept; arguments as of `effect_tables`."""
    whole = tuple((model, *_changes(pairs, seed)) for model, pairs in found.items())
    tables = [Table("likelihood effect", ("model", *_LIKELIHOOD), whole, _LIKELIHOOD_NOTE)]
    for title in _KEYS:
        parts = [
            (model, name, [one for one in pairs if one[title] == name])
            for model, pairs in found.items()
            for name in sorted({one[title] for one in pairs})
        ]
        rows = tuple((model, name, *_changes(chosen, seed)) for model, name, chosen in parts)
        tables.append(Table(f"by {title}", ("model", title, *_LIKELIHOOD), rows))
    return tuple(tables)


def _rows(
    found: Mapping[tuple[str], EffectSummary] | Mapping[tuple[str, str], EffectSummary],
) -> tuple[tuple[Cell, ...], ...]:
    adjusted = holm([one.mcnemar for one in found.values()])
    return tuple(
        (*head, *_summary(one), p_text(p)) for (head, one), p in zip(found.items(), adjusted, strict=True)
    )


def _effect(pair: Plain) -> Effect | None:
    before, after = pair["original_right"], pair["counterfactual_right"]
    return None if before is None or after is None else Effect(before, after)


def _summary(found: EffectSummary) -> tuple[Cell, ...]:
    signed = None if found.signed is None else f"{found.signed:+.2f}"
    p = p_text(found.mcnemar)
    return found.pairs, found.average.n, found.original_accuracy, found.average, signed, p


def _changes(pairs: Sequence[Plain], seed: int) -> tuple[Cell, ...]:
    before = [(one["target"], one["likelihood"]["original"]) for one in pairs]
    change = [(one["target"], one["likelihood"]["change"]) for one in pairs]
    least: Estimate = pooled_mean(before, seed=seed)
    less = pooled_share((target, value <= -NOISE) for target, value in change)
    more = pooled_share((target, value >= NOISE) for target, value in change)
    return len(pairs), least, pooled_mean(change, seed=seed), less, more


def _attempt(attempt: Attempt) -> dict[str, Any]:
    evidence = attempt.verdict.evidence
    return {
        "completion": attempt.completion,
        "finish": attempt.finish,
        "verdict": str(attempt.verdict.judgement),
        "attribution": evidence.attribution,
        "strength": str(evidence.strength) if evidence.strength else None,
        "failed": steady(evidence.failed) if evidence.failed else None,
        "message": steady(evidence.message),
    }


def _likelihood(found: LikelihoodEffect) -> dict[str, Any]:
    return {
        "original": found.original,
        "counterfactual": found.mutated,
        "change": found.change,
        "original_tokens": found.original_tokens,
        "counterfactual_tokens": found.mutated_tokens,
        "matched_tokens": found.matched,
        "matched_change": found.matched_change,
    }
