"""Describe pairs and their records: they claim no more than was measured.

This is the only module that words the results of pairs, for every front end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterlens.counting import plural
from counterlens.judging.base import Judgement
from counterlens.judging.comparing import NOT_IMPORTED
from counterlens.metrics.effects import PairOutcome, Proportion
from counterlens.metrics.summary import EffectSummary, summarize
from counterlens.probes.pairs.counterfactuals import OUT_OF_TIME
from counterlens.probes.pairs.phrases import (
    change_phrase,
    contested_pairs,
    describe_floor,
    drawn_summary,
    ignoring_phrase,
    noise_floor,
    noisy_verdict,
    unstable,
    unstable_pairs,
    with_average,
)
from counterlens.probes.pairs.record import NOISE, Likelihood, PairRecord, PairsRecord
from counterlens.probes.pairs.sensitivity import is_insensitive

if TYPE_CHECKING:
    from counterlens.metrics.noise_floor import AboveFloor

OUTCOMES = {
    PairOutcome.HELD: "it held",
    PairOutcome.LOST: "right only on the original",
    PairOutcome.GAINED: "right only on the counterfactual",
    PairOutcome.FAILED: "uninformative: both completions failed",
    PairOutcome.NOT_JUDGED: "not judged",
}
"""Outcomes of a pair, in a few words."""


def outcome(pair: PairRecord) -> str:
    """Describe one pair briefly."""
    described = OUTCOMES[pair.outcome]
    if pair.outcome is PairOutcome.LOST and pair.copied:
        described = "it wrote the same code as before the change"
    if pair.outcome is PairOutcome.HELD and pair.discriminating is False:
        described = "it held, but so would a copied completion"
    return f"{described} (unstable)" if pair.changed_unstably else described


def counts(summary: EffectSummary) -> str:
    """The number of pairs by outcome."""
    parts = [
        plural(summary.pairs, "pair"),
        f"{summary.average.n} informative",
        f"{summary.uninformative} uninformative",
    ]
    if summary.unjudged:
        parts.append(f"{summary.unjudged} not judged")
    return ", ".join(parts)


def average(summary: EffectSummary) -> str:
    """The average effect with its interval, its direction and the test of it; empty without pairs."""
    share = summary.average
    if share.value is None or share.low is None or share.high is None or summary.signed is None:
        return ""
    text = (
        f"average mutation effect {share.value:.2f} (95 % interval {share.low:.2f} to {share.high:.2f}, "
        f"{summary.method}, n = {share.n}); signed {summary.signed:+.2f}: {summary.lost} lost, "
        f"{summary.gained} gained"
    )
    return text if summary.p is None else f"{text}; exact p over functions {summary.p:.3g}"


def discriminating(summary: EffectSummary) -> str:
    """Describe the discriminating pairs; empty if there are none."""
    subset = summary.discriminating
    if subset is None:
        return ""
    count = f"{subset.pairs} of {subset.classified} judged pairs would expose copying"
    text = with_average(count, "", subset.average)
    return text + (f", the same code on both sides of {subset.copied.count}" if subset.pairs else "")


def figures(summary: EffectSummary, floor: AboveFloor | None = None) -> str:
    """All figures of some pairs, beside their noise floor if known."""
    noise = describe_floor(floor) if floor else ""
    effects = (average(summary), contested_pairs(summary), unstable_pairs(summary))
    parts = (counts(summary), *effects, noise, discriminating(summary))
    return "; ".join(part for part in parts if part)


def sentence(pair: PairRecord) -> str:
    """Describe one pair in a sentence that claims no more than was measured."""
    done_so = change_phrase(pair.mutation)
    if pair.original.completion is None:
        return f"{done_so}, only the likelihood of the true rest was measured."
    if pair.outcome is PairOutcome.NOT_JUDGED:
        return f"{done_so}, nothing can judge the model's completion."
    if pair.outcome is PairOutcome.FAILED:
        return f"{done_so} and before it, the model failed, so the pair is uninformative."
    if pair.outcome is PairOutcome.HELD and pair.discriminating is False:
        return f"{done_so}, the model still completed it correctly, but a copied completion would pass, too."
    if pair.outcome is PairOutcome.HELD:
        return f"{done_so}, the model still completed it correctly."
    if pair.outcome is PairOutcome.GAINED:
        return f"The model failed on the original. {done_so}, it succeeded."
    if pair.copied:
        return f"{done_so}, the model still wrote {ignoring_phrase(pair.mutation)}."
    if pair.counterfactual.verdict == Judgement.INVALID:
        return f"{done_so}, the model wrote something that does not parse."
    if pair.counterfactual.verdict == Judgement.TIMED_OUT:
        return f"{done_so}, the model wrote a program that timed out."
    return f"{done_so}, the model no longer completed it correctly."


def meaning(record: PairsRecord) -> str:
    """Describe the result of a probe of a function, for readers without the paper.

    States that pairs held, or were lost, only if no placebo changed the verdict.
    """
    name = record.name
    if not record.pairs:
        return _nothing_to_show(record)
    if unwritten(record):
        return _likelihood(record)
    if record.judged_by is None:
        missing = NOT_IMPORTED in (record.why_not_judged or "")
        way = (
            "Its file cannot be imported: install what it imports into the environment of its project "
            "(`.venv`), or activate an environment that has it; then its own behaviour judges them."
            if missing
            else "Add a doctest, or a test file next to it."
        )
        sentence = (
            f"The model completed both versions of {name}, but nothing can judge the completions. {way}"
        )
        return (
            f"{sentence} {_likelihood(record)}" if any(pair.likelihood for pair in record.pairs) else sentence
        )
    if record.probe == "repair":
        return _repair_sentence(record)
    statement = f"{_finding(record)} {noise_floor(record)}".rstrip()
    greedy = noisy_verdict(record) or unstable(record) or statement
    return " ".join(filter(None, (greedy, drawn_summary(record), bounded_sentence(record))))


def follows_sentence(record: PairsRecord) -> str:
    """What suggests that the model follows the code, in a sentence or two: no more than the pairs carry."""
    summary = summarize(record.observations)
    changed = summary.average
    if not record.pairs:
        return "It cannot be told: it was asked about no rewritten version."
    if record.judged_by is None:
        return "It cannot be told: nothing judged its completions."
    if changed.n == 0:
        return "It cannot be told: it completed no version correctly, so the task may be too hard for it."
    versions = plural(changed.n, "rewritten version")
    kept = f"its verdict held in {changed.n - changed.count} of {versions} with the same meaning"
    if noisy_verdict(record) or unstable(record):
        return f"It cannot be told: {kept}, but verdicts also change without a reason."
    informative = [pair for pair in record.pairs if pair.effect is not None and pair.effect.informative]
    contested = sum(pair.contested for pair in informative)
    doubt = (
        f" In {contested} of them a program passed that does otherwise on some input." if contested else ""
    )
    if changed.count and not summary.lost:
        return (
            f"It cannot be told: {kept}, and in {summary.gained} it was right only after the change.{doubt}"
        )
    if changed.count:
        copied = sum(pair.copied for pair in informative if pair.outcome is PairOutcome.LOST)
        how = f", and in {copied} it wrote the same code as before the change" if copied else ""
        floor = summarize(record.placebo_observations).average.n
        unknown = "" if floor else " How often a verdict changes without a reason is not known here."
        return f"It does not always follow this code: {kept}{how}.{unknown}{doubt}"
    apart = summary.discriminating.average.n if summary.discriminating else 0
    if not apart:
        return f"It cannot be told: {kept}, but a copied completion passes, too.{doubt}"
    exposed = "it" if changed.n == 1 else f"{apart} of them"
    return f"It may follow this code: {kept}, and a copied completion would fail in {exposed}.{doubt}"


def _finding(record: PairsRecord) -> str:
    """The meaning of judged completions if no placebo changed the verdict."""
    name, changed = record.name, summarize(record.observations).average
    if changed.n == 0:
        return (
            f"The model completed no version of {name} correctly. These pairs show only that the task is too "
            "hard for it here, not whether it understands the code."
        )
    if changed.count == 0:
        discriminating_summary = summarize(record.observations).discriminating
        if discriminating_summary and not discriminating_summary.average.n:
            return (
                f"The model completed {name} correctly before and after the change, but a copied completion "
                "passes, too: these pairs cannot distinguish understanding from copying."
            )
        held = "once" if changed.n == 1 else f"all {changed.n} times"
        return (
            f"The model completed {name} correctly before and after the change, {held}. Nothing here "
            "suggests that it only recognises this code. A few pairs prove little; more mutations and "
            "functions show more."
        )
    stable = [pair for pair in record.pairs if not pair.changed_unstably]
    broken = [pair for pair in stable if pair.outcome is PairOutcome.LOST]
    copied = [pair for pair in broken if pair.copied]
    if copied:
        sentence = (
            f"After {_mutations(copied)}, the model completed {name} as if nothing had changed: it follows "
            "the usual form of this code rather than the code itself."
        )
        return sentence + _held_sentence(record, changed)
    if broken:
        sentence = (
            f"After {_mutations(broken)}, which preserves the behaviour of {name}, the model no longer "
            "completed it correctly: its success depends on the form of the code, not only on its meaning."
        )
        return sentence + _held_sentence(record, changed)
    return (
        f"The model failed on the original {name} but completed an equivalent version: its success depends "
        "on the form of the code, not only on its meaning."
    )


def likelihood(effect: Likelihood) -> str:
    """Describe one likelihood effect, if it exceeds rounding."""
    if abs(effect.change) < NOISE:
        return f"as likely as before (a change below {NOISE} nats per token is rounding)"
    return (
        f"{'less' if effect.change < 0 else 'more'} likely than before: {effect.change:+.2f} nats per token"
    )


def _likelihood(record: PairsRecord) -> str:
    name = record.name
    effects = [(pair, pair.likelihood) for pair in record.pairs if pair.likelihood]
    harmed = [(pair, effect) for pair, effect in effects if effect.change <= -NOISE]
    if not harmed:
        return (
            f"No change made the true rest of {name} less likely to the model beyond rounding. Nothing here "
            "suggests that it only recognises this code."
        )
    worst, effect = min(harmed, key=lambda harm: harm[1].change)
    return (
        f"{len(harmed)} of {len(effects)} changes that preserve the behaviour made the true rest of {name} "
        f"less likely to the model, most of all {worst.mutation} ({effect.change:+.2f} nats per token): "
        "there it expects the usual form of this code."
    )


def _repair_sentence(record: PairsRecord) -> str:
    name, summary = record.name, summarize(record.observations)
    if summary.average.n == 0:
        return (
            f"The model fixed no version of {name}, so these pairs are no evidence about its understanding."
        )
    if summary.average.count == 0:
        return (
            f"The model fixed every version of {name}. Nothing here suggests that it only recognises the bug."
        )
    n = summary.average.n
    return (
        f"The model's success in fixing {name} depends on the form of the code: of "
        f"{'1 pair' if n == 1 else f'{n:,} pairs'}, it fixed only the original in {summary.lost} and only "
        f"the counterfactual in {summary.gained}."
    )


def _mutations(pairs: list[PairRecord]) -> str:
    return " and ".join(dict.fromkeys(pair.mutation for pair in pairs))


def _held_sentence(record: PairsRecord, changed: Proportion) -> str:
    held = changed.n - changed.count
    if not held:
        return ""
    if all(pair.discriminating is False for pair in record.pairs if pair.outcome is PairOutcome.HELD):
        sentence = f"It held on {held} of {changed.n:,} counterfactuals, but so would a copied completion."
        return f" {sentence}"
    return f" It held on {held} of {changed.n:,} counterfactuals."


def _nothing_to_show(record: PairsRecord) -> str:
    name = record.name
    if record.dropped:
        return f"Every counterfactual of {name} failed its own tests, so the model got no prompts."
    insensitive = next((refusal.reason for refusal in record.refused if is_insensitive(refusal.reason)), None)
    if insensitive is not None:
        return f"Mutations apply to {name}, but {insensitive}. Add a doctest or a test that checks that code."
    if record.refused:
        reason = record.refused[0].reason
        return f"No mutation could be applied safely to {name}: {reason}."
    return f"No mutation applies to {name}: it contains nothing that the chosen mutations change."


def unwritten(record: PairsRecord) -> bool:
    """Whether no completion was requested, so there are likelihoods only."""
    return all(pair.original.completion is None for pair in record.pairs)


def bounded_sentence(record: PairsRecord) -> str:
    """How much of a probe its time allowed; empty if it was not limited, or sufficed."""
    sites = [site for site in record.refused if site.reason.startswith(OUT_OF_TIME)]
    if not sites:
        return ""
    every, within = len(record.pairs) + len(sites), sites[0].reason.removeprefix(OUT_OF_TIME).strip()
    return f"The {within} of its budget allowed {len(record.pairs)} of {every} pairs, the most telling first."


def not_asked(record: PairsRecord) -> list[tuple[str, str, int]]:
    """The excluded sites: mutation, reason, and number of places."""
    tally: dict[tuple[str, str], int] = {}
    for site in record.refused:
        key = site.mutation, site.reason if site.reason.startswith(OUT_OF_TIME) else f"refused: {site.reason}"
        tally[key] = tally.get(key, 0) + 1
    for dropped in record.dropped:
        key = dropped.mutation, f"left out: its own program {dropped.verdict.replace('_', ' ')}"
        tally[key] = tally.get(key, 0) + 1
    return [(mutation, reason, n) for (mutation, reason), n in tally.items()]


def reached_sentence(pair: PairRecord) -> str:
    """How many tests run the code after the cut, and how much of it; empty if unknown."""
    if pair.reached is None:
        return ""
    lines, tests = pair.reached.of, pair.reached.tests
    if tests == 1:
        return f"One test runs the code after the cut: {pair.reached.lines:,} of its {lines:,} statements."
    return f"{tests:,} tests run the code after the cut: {pair.reached.lines:,} of its {lines:,} statements."
