"""What a result means, in one honest sentence: it claims no more than was measured."""

from __future__ import annotations

from counterlens.counting import plural
from counterlens.metrics.effects import Proportion
from counterlens.probes.likelihood import NOISE, LikelihoodEffect
from counterlens.probes.results import CompletionProbe, Pair


def share(probability: float) -> str:
    """A probability for a reader: no more digits than tell it from its neighbours."""
    percent = 100 * probability
    if percent < 0.01:
        return "below 0.01 %"
    return f"{percent:.2f} %" if percent < 1 else f"{percent:.0f} %"


def outcome(pair: Pair) -> str:
    """What one pair shows, in a few words."""
    effect = pair.effect
    if effect is None:
        return "not judged"
    if not effect.informative:
        return "uninformative: both completions fail"
    if effect.mutation_effect == 0:
        return "it held"
    if effect.signed > 0:
        return "right only on the counterfactual"
    if pair.copied:
        return "it wrote the same code as before the change"
    return "right only on the original"


def meaning(probe: CompletionProbe) -> str:
    """What the probe of a function means, for someone who has read no paper."""
    name = probe.function.name
    if not probe.pairs:
        return _nothing_to_show(probe)
    if probe.task == "likelihood":
        return _likelihood(probe)
    if probe.judged_by is None:
        told = f" {_likelihood(probe)}" if any(pair.likelihood for pair in probe.pairs) else ""
        return (
            f"The model completed {name} in both shapes, but there is no test to judge by, "
            f"so nothing can be said about right and wrong: add a doctest, or a test file beside it.{told}"
        )
    if probe.task == "repair":
        return _repaired(probe)
    average = probe.average
    if average.n == 0:
        return (
            f"The model could complete {name} in neither shape, so these pairs say nothing about "
            "what it understands; they only say that the task is too hard for it here."
        )
    if average.count == 0:
        held = "once" if average.n == 1 else f"all {average.n} times"
        return (
            f"The model completed {name} correctly before and after the change, {held}: no sign here that "
            "it only recognises this code. Few pairs prove little; more mutations and functions say more."
        )
    broken = [pair for pair in probe.pairs if pair.effect and pair.effect.signed < 0]
    copied = [pair for pair in broken if pair.copied]
    if copied:
        return (
            f"After {_mutations(copied)}, the model finished {name} as if nothing had been changed: there it "
            f"follows the usual shape of this code rather than what the code says.{_held(average)}"
        )
    if broken:
        return (
            f"After {_mutations(broken)}, which keeps what {name} does, the model no longer completed it: "
            f"its success depends on the shape of the code, not only on its meaning.{_held(average)}"
        )
    return (
        f"The model failed on {name} as it stands but completed an equivalent way of writing it: "
        "its result here depends on the shape of the code, not only on its meaning."
    )


def likelihood(effect: LikelihoodEffect) -> str:
    """What one likelihood effect shows; nothing that rounding could have done."""
    if not effect.visible:
        return f"as likely as before (a change below {NOISE} nats a token is rounding)"
    return f"{'less' if effect.change < 0 else 'more'} likely than before: {effect.change:+.2f} nats a token"


def _likelihood(probe: CompletionProbe) -> str:
    name = probe.function.name
    known = [(pair, pair.likelihood) for pair in probe.pairs if pair.likelihood]
    harmed = [(pair, effect) for pair, effect in known if effect.visible and effect.change < 0]
    if not harmed:
        return (
            f"No change made the true rest of {name} less likely to the model beyond rounding: no sign here "
            "that it only recognises this code."
        )
    worst, effect = min(harmed, key=lambda one: one[1].change)
    return (
        f"{len(harmed)} of {len(known)} changes that keep what {name} does made the true rest of {name} less "
        f"likely to the model, most of all {worst.counterfactual.mutation} ({effect.change:+.2f} nats a "
        "token): there it expects the usual shape of this code."
    )


def _repaired(probe: CompletionProbe) -> str:
    name, found = probe.function.name, probe.summary
    if found.average.n == 0:
        return f"The model mended {name} in no shape, so these pairs say nothing about what it understands."
    if found.average.count == 0:
        return f"The model mended {name} in every shape of the bug: no sign here that it only recognises it."
    return (
        f"Whether the model mends {name} depends on the shape of the code: of "
        f"{plural(found.average.n, 'pair')} it mended only the original in {found.lost} and only the "
        f"counterfactual in {found.gained}."
    )


def _mutations(pairs: list[Pair]) -> str:
    return " and ".join(dict.fromkeys(pair.counterfactual.mutation for pair in pairs))


def _held(average: Proportion) -> str:
    held = average.n - average.count
    return f" On {held} of {plural(average.n, 'counterfactual')} it held." if held else ""


def _nothing_to_show(probe: CompletionProbe) -> str:
    name = probe.function.name
    if probe.dropped:
        return f"Every counterfactual of {name} failed its own tests, so there was nothing to ask about."
    if probe.refusals:
        return f"No mutation could be applied safely to {name}: {probe.refusals[0].reason}."
    return f"No mutation applies to {name}: there is nothing in it that the chosen mutations could change."
