"""Describe pairs and their records: they claim no more than was measured.

This is the only module that words the results of pairs, for every front end; a `Translator` translates them.
"""

from __future__ import annotations

from counterlens.counting import plural
from counterlens.judging.base import Judgement
from counterlens.metrics.effects import PairOutcome, Proportion
from counterlens.metrics.noise_floor import AboveFloor
from counterlens.metrics.summary import EffectSummary, summarize
from counterlens.probes.pairs.likelihood_effect import NOISE
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
from counterlens.probes.pairs.record import Likelihood, PairRecord, PairsRecord
from counterlens.probes.pairs.seeing import is_blind
from counterlens.translating import ENGLISH, Translator

OUTCOMES = {
    PairOutcome.HELD: "it held",
    PairOutcome.LOST: "right only on the original",
    PairOutcome.GAINED: "right only on the counterfactual",
    PairOutcome.FAILED: "uninformative: both completions failed",
    PairOutcome.NOT_JUDGED: "not judged",
}
"""Outcomes of a pair, in a few words."""


def outcome(pair: PairRecord, t: Translator = ENGLISH) -> str:
    """Describe one pair briefly."""
    described = _outcome(pair, t)
    return t("{outcome} (unstable)", outcome=described) if pair.changed_unstably else described


def _outcome(pair: PairRecord, t: Translator) -> str:
    if pair.outcome is PairOutcome.LOST and pair.copied:
        return t("it wrote the same code as before the change")
    if pair.outcome is PairOutcome.HELD and pair.discriminating is False:
        return t("it held, but so would a copied completion")
    return t(OUTCOMES[pair.outcome])


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
    count = f"{subset.pairs} of {subset.known} judged pairs would expose copying"
    text = with_average(count, "", subset.average)
    return text + (f", the same code on both sides of {subset.copied.count}" if subset.pairs else "")


def figures(summary: EffectSummary, floor: AboveFloor | None = None) -> str:
    """All figures of some pairs, beside their noise floor if known."""
    noise = describe_floor(floor) if floor else ""
    effects = (average(summary), contested_pairs(summary), unstable_pairs(summary))
    parts = (counts(summary), *effects, noise, discriminating(summary))
    return "; ".join(part for part in parts if part)


def sentence(pair: PairRecord, t: Translator = ENGLISH) -> str:
    """Describe one pair in a sentence that claims no more than was measured."""
    done_so = change_phrase(pair.mutation, t)
    if pair.original.completion is None:
        return t("{done}, only the likelihood of the true rest was measured.", done=done_so)
    if pair.outcome is PairOutcome.NOT_JUDGED:
        return t("{done}, nothing can judge the model's completion.", done=done_so)
    if pair.outcome is PairOutcome.FAILED:
        return t("{done} and before it, the model failed, so the pair is uninformative.", done=done_so)
    if pair.outcome is PairOutcome.HELD and pair.discriminating is False:
        return t(
            "{done}, the model still completed it correctly, but a copied completion would pass, too.",
            done=done_so,
        )
    if pair.outcome is PairOutcome.HELD:
        return t("{done}, the model still completed it correctly.", done=done_so)
    if pair.outcome is PairOutcome.GAINED:
        return t("The model failed on the original. {done}, it succeeded.", done=done_so)
    if pair.copied:
        return t(
            "{done}, the model still wrote {before}.", done=done_so, before=ignoring_phrase(pair.mutation, t)
        )
    if pair.counterfactual.verdict == Judgement.INVALID:
        return t("{done}, the model wrote something that does not parse.", done=done_so)
    if pair.counterfactual.verdict == Judgement.TIMED_OUT:
        return t("{done}, the model wrote a program that timed out.", done=done_so)
    return t("{done}, the model no longer completed it correctly.", done=done_so)


def meaning(record: PairsRecord, t: Translator = ENGLISH) -> str:
    """Describe the result of a probe of a function, for readers without the paper.

    States that pairs held, or were lost, only if no placebo changed the verdict.
    """
    name = record.name
    if not record.pairs:
        return _nothing_to_show(record, t)
    if unwritten(record):
        return _likelihood(record, t)
    if record.judged_by is None:
        sentence = t(
            "The model completed both versions of {name}, but no test can judge the completions. Add a "
            "doctest, or a test file next to it.",
            name=name,
        )
        return (
            f"{sentence} {_likelihood(record, t)}"
            if any(pair.likelihood for pair in record.pairs)
            else sentence
        )
    if record.probe == "repair":
        return _repair_sentence(record, t)
    statement = f"{_finding(record, t)} {noise_floor(record, t)}".rstrip()
    greedy = noisy_verdict(record, t) or unstable(record, t) or statement
    return f"{greedy} {drawn_summary(record, t)}".rstrip()


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
    if noisy_verdict(record, ENGLISH) or unstable(record, ENGLISH):
        return f"It cannot be told: {kept}, but verdicts also change without a reason."
    known = [pair for pair in record.pairs if pair.effect is not None and pair.effect.informative]
    contested = sum(pair.contested for pair in known)
    doubt = (
        f" In {contested} of them a program passed that does otherwise on some input." if contested else ""
    )
    if changed.count and not summary.lost:
        return (
            f"It cannot be told: {kept}, and in {summary.gained} it was right only after the change.{doubt}"
        )
    if changed.count:
        copied = sum(pair.copied for pair in known if pair.outcome is PairOutcome.LOST)
        how = f", and in {copied} it wrote the same code as before the change" if copied else ""
        floor = summarize(record.placebo_observations).average.n
        unknown = "" if floor else " How often a verdict changes without a reason is not known here."
        return f"It does not always follow this code: {kept}{how}.{unknown}{doubt}"
    apart = summary.discriminating.average.n if summary.discriminating else 0
    if not apart:
        return f"It cannot be told: {kept}, but a copied completion passes, too.{doubt}"
    exposed = "it" if changed.n == 1 else f"{apart} of them"
    return f"It may follow this code: {kept}, and a copied completion would fail in {exposed}.{doubt}"


def _finding(record: PairsRecord, t: Translator) -> str:
    """The meaning of judged completions if no placebo changed the verdict."""
    name, changed = record.name, summarize(record.observations).average
    if changed.n == 0:
        return t(
            "The model completed no version of {name} correctly. These pairs show only that the task is too "
            "hard for it here, not whether it understands the code.",
            name=name,
        )
    if changed.count == 0:
        discriminating_summary = summarize(record.observations).discriminating
        if discriminating_summary and not discriminating_summary.average.n:
            return t(
                "The model completed {name} correctly before and after the change, but a copied completion "
                "passes, too: these pairs cannot distinguish understanding from copying.",
                name=name,
            )
        held = t("once") if changed.n == 1 else t("all {n} times", n=changed.n)
        return t(
            "The model completed {name} correctly before and after the change, {held}. Nothing here "
            "suggests that it only recognises this code. A few pairs prove little; more mutations and "
            "functions show more.",
            name=name,
            held=held,
        )
    stable = [pair for pair in record.pairs if not pair.changed_unstably]
    broken = [pair for pair in stable if pair.outcome is PairOutcome.LOST]
    copied = [pair for pair in broken if pair.copied]
    if copied:
        sentence = t(
            "After {mutations}, the model completed {name} as if nothing had changed: it follows the usual "
            "form of this code rather than the code itself.",
            mutations=_mutations(copied, t),
            name=name,
        )
        return sentence + _held_sentence(record, changed, t)
    if broken:
        sentence = t(
            "After {mutations}, which preserves the behaviour of {name}, the model no longer completed it "
            "correctly: its success depends on the form of the code, not only on its meaning.",
            mutations=_mutations(broken, t),
            name=name,
        )
        return sentence + _held_sentence(record, changed, t)
    return t(
        "The model failed on the original {name} but completed an equivalent version: its success depends "
        "on the form of the code, not only on its meaning.",
        name=name,
    )


def likelihood(effect: Likelihood) -> str:
    """Describe one likelihood effect, if it exceeds rounding."""
    if abs(effect.change) < NOISE:
        return f"as likely as before (a change below {NOISE} nats per token is rounding)"
    return (
        f"{'less' if effect.change < 0 else 'more'} likely than before: {effect.change:+.2f} nats per token"
    )


def _likelihood(record: PairsRecord, t: Translator) -> str:
    name = record.name
    known = [(pair, pair.likelihood) for pair in record.pairs if pair.likelihood]
    harmed = [(pair, effect) for pair, effect in known if effect.change <= -NOISE]
    if not harmed:
        return t(
            "No change made the true rest of {name} less likely to the model beyond rounding. Nothing here "
            "suggests that it only recognises this code.",
            name=name,
        )
    worst, effect = min(harmed, key=lambda known: known[1].change)
    return t(
        "{harmed} of {all} changes that preserve the behaviour made the true rest of {name} less likely to "
        "the model, most of all {mutation} ({change} nats per token): there it expects the usual form of "
        "this code.",
        harmed=len(harmed),
        all=len(known),
        name=name,
        mutation=worst.mutation,
        change=t.number(effect.change, "+.2f"),
    )


def _repair_sentence(record: PairsRecord, t: Translator) -> str:
    name, summary = record.name, summarize(record.observations)
    if summary.average.n == 0:
        return t(
            "The model fixed no version of {name}, so these pairs are no evidence about its understanding.",
            name=name,
        )
    if summary.average.count == 0:
        return t(
            "The model fixed every version of {name}. Nothing here suggests that it only recognises the bug.",
            name=name,
        )
    n = summary.average.n
    return t(
        "The model's success in fixing {name} depends on the form of the code: of {pairs}, it fixed only "
        "the original in {lost} and only the counterfactual in {gained}.",
        name=name,
        pairs=t("1 pair") if n == 1 else t("{n} pairs", n=t.number(n)),
        lost=summary.lost,
        gained=summary.gained,
    )


def _mutations(pairs: list[PairRecord], t: Translator) -> str:
    return t(" and ").join(dict.fromkeys(pair.mutation for pair in pairs))


def _held_sentence(record: PairsRecord, changed: Proportion, t: Translator) -> str:
    held = changed.n - changed.count
    if not held:
        return ""
    if all(pair.discriminating is False for pair in record.pairs if pair.outcome is PairOutcome.HELD):
        sentence = t(
            "It held on {held} of {n} counterfactuals, but so would a copied completion.",
            held=held,
            n=t.number(changed.n),
        )
        return f" {sentence}"
    return " " + t("It held on {held} of {n} counterfactuals.", held=held, n=t.number(changed.n))


def _nothing_to_show(record: PairsRecord, t: Translator) -> str:
    name = record.name
    if record.dropped:
        return t(
            "Every counterfactual of {name} failed its own tests, so the model got no prompts.",
            name=name,
        )
    blind = next((refusal.reason for refusal in record.refused if is_blind(refusal.reason)), None)
    if blind is not None:
        return t(
            "Mutations apply to {name}, but {reason}. Add a doctest or a test that checks that code.",
            name=name,
            reason=t.recognised(blind),
        )
    if record.refused:
        reason = t.recognised(record.refused[0].reason)
        return t("No mutation could be applied safely to {name}: {reason}.", name=name, reason=reason)
    return t(
        "No mutation applies to {name}: it contains nothing that the chosen mutations change.",
        name=name,
    )


def unwritten(record: PairsRecord) -> bool:
    """Whether no completion was requested, so there are likelihoods only."""
    return all(pair.original.completion is None for pair in record.pairs)


def not_asked(record: PairsRecord) -> list[tuple[str, str, int]]:
    """The excluded sites: mutation, reason, and number of places."""
    tally: dict[tuple[str, str], int] = {}
    for site in record.refused:
        key = site.mutation, f"refused: {site.reason}"
        tally[key] = tally.get(key, 0) + 1
    for dropped in record.dropped:
        key = dropped.mutation, f"left out: its own program {dropped.verdict.replace('_', ' ')}"
        tally[key] = tally.get(key, 0) + 1
    return [(mutation, reason, n) for (mutation, reason), n in tally.items()]


def reached_sentence(pair: PairRecord, t: Translator = ENGLISH) -> str:
    """How many tests run the code after the cut, and how much of it; empty if unknown."""
    if pair.reached is None:
        return ""
    lines, tests = pair.reached.of, pair.reached.tests
    if tests == 1:
        return t(
            "One test runs the code after the cut: {ran} of its {lines} statements.",
            ran=t.number(pair.reached.lines),
            lines=t.number(lines),
        )
    return t(
        "{tests} tests run the code after the cut: {ran} of its {lines} statements.",
        tests=t.number(tests),
        ran=t.number(pair.reached.lines),
        lines=t.number(lines),
    )
