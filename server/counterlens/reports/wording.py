"""What a result means, in one honest sentence: it claims no more than was measured."""

from __future__ import annotations

from counterlens.metrics.effects import Proportion
from counterlens.probes.likelihood import NOISE, LikelihoodEffect
from counterlens.probes.results import CompletionProbe, Pair
from counterlens.translating import ENGLISH, Translator


def share(probability: float, t: Translator = ENGLISH) -> str:
    """A probability for a reader: no more digits than tell it from its neighbours."""
    percent = 100 * probability
    if percent < 0.01:
        return t("below 0.01 %")
    return f"{t.number(percent, '.2f')} %" if percent < 1 else f"{percent:.0f} %"


def outcome(pair: Pair, t: Translator = ENGLISH) -> str:
    """What one pair shows, in a few words."""
    effect = pair.effect
    if effect is None:
        return t("not judged")
    if not effect.informative:
        return t("uninformative: both completions fail")
    if effect.mutation_effect == 0:
        return t("it held")
    if effect.signed > 0:
        return t("right only on the counterfactual")
    if pair.copied:
        return t("it wrote the same code as before the change")
    return t("right only on the original")


def meaning(probe: CompletionProbe, t: Translator = ENGLISH) -> str:
    """What the probe of a function means, for someone who has read no paper."""
    name = probe.function.name
    if not probe.pairs:
        return _nothing_to_show(probe, t)
    if probe.task == "likelihood":
        return _likelihood(probe, t)
    if probe.judged_by is None:
        said = t(
            "The model completed {name} in both shapes, but there is no test to judge by, so nothing can be "
            "said about right and wrong: add a doctest, or a test file beside it.",
            name=name,
        )
        return f"{said} {_likelihood(probe, t)}" if any(pair.likelihood for pair in probe.pairs) else said
    if probe.task == "repair":
        return _repaired(probe, t)
    average = probe.average
    if average.n == 0:
        return t(
            "The model could complete {name} in neither shape, so these pairs say nothing about what it "
            "understands; they only say that the task is too hard for it here.",
            name=name,
        )
    if average.count == 0:
        held = t("once") if average.n == 1 else t("all {n} times", n=average.n)
        return t(
            "The model completed {name} correctly before and after the change, {held}: no sign here that it "
            "only recognises this code. Few pairs prove little; more mutations and functions say more.",
            name=name,
            held=held,
        )
    broken = [pair for pair in probe.pairs if pair.effect and pair.effect.signed < 0]
    copied = [pair for pair in broken if pair.copied]
    if copied:
        said = t(
            "After {mutations}, the model finished {name} as if nothing had been changed: there it follows "
            "the usual shape of this code rather than what the code says.",
            mutations=_mutations(copied, t),
            name=name,
        )
        return said + _held(average, t)
    if broken:
        said = t(
            "After {mutations}, which keeps what {name} does, the model no longer completed it: its success "
            "depends on the shape of the code, not only on its meaning.",
            mutations=_mutations(broken, t),
            name=name,
        )
        return said + _held(average, t)
    return t(
        "The model failed on {name} as it stands but completed an equivalent way of writing it: its result "
        "here depends on the shape of the code, not only on its meaning.",
        name=name,
    )


def likelihood(effect: LikelihoodEffect) -> str:
    """What one likelihood effect shows; nothing that rounding could have done."""
    if not effect.visible:
        return f"as likely as before (a change below {NOISE} nats a token is rounding)"
    return f"{'less' if effect.change < 0 else 'more'} likely than before: {effect.change:+.2f} nats a token"


def _likelihood(probe: CompletionProbe, t: Translator) -> str:
    name = probe.function.name
    known = [(pair, pair.likelihood) for pair in probe.pairs if pair.likelihood]
    harmed = [(pair, effect) for pair, effect in known if effect.visible and effect.change < 0]
    if not harmed:
        return t(
            "No change made the true rest of {name} less likely to the model beyond rounding: no sign here "
            "that it only recognises this code.",
            name=name,
        )
    worst, effect = min(harmed, key=lambda one: one[1].change)
    return t(
        "{harmed} of {all} changes that keep what {name} does made the true rest of {name} less likely to "
        "the model, most of all {mutation} ({change} nats a token): there it expects the usual shape of this "
        "code.",
        harmed=len(harmed),
        all=len(known),
        name=name,
        mutation=worst.counterfactual.mutation,
        change=t.number(effect.change, "+.2f"),
    )


def _repaired(probe: CompletionProbe, t: Translator) -> str:
    name, found = probe.function.name, probe.summary
    if found.average.n == 0:
        return t(
            "The model mended {name} in no shape, so these pairs say nothing about what it understands.",
            name=name,
        )
    if found.average.count == 0:
        return t(
            "The model mended {name} in every shape of the bug: no sign here that it only recognises it.",
            name=name,
        )
    n = found.average.n
    return t(
        "Whether the model mends {name} depends on the shape of the code: of {pairs} it mended only the "
        "original in {lost} and only the counterfactual in {gained}.",
        name=name,
        pairs=t("1 pair") if n == 1 else t("{n} pairs", n=t.number(n)),
        lost=found.lost,
        gained=found.gained,
    )


def _mutations(pairs: list[Pair], t: Translator) -> str:
    return t(" and ").join(dict.fromkeys(pair.counterfactual.mutation for pair in pairs))


def _held(average: Proportion, t: Translator) -> str:
    held = average.n - average.count
    if not held:
        return ""
    return " " + t("On {held} of {n} counterfactuals it held.", held=held, n=t.number(average.n))


def _nothing_to_show(probe: CompletionProbe, t: Translator) -> str:
    name = probe.function.name
    if probe.dropped:
        return t(
            "Every counterfactual of {name} failed its own tests, so there was nothing to ask about.",
            name=name,
        )
    if probe.refusals:
        reason = t.recognised(probe.refusals[0].reason)
        return t("No mutation could be applied safely to {name}: {reason}.", name=name, reason=reason)
    return t(
        "No mutation applies to {name}: there is nothing in it that the chosen mutations could change.",
        name=name,
    )
