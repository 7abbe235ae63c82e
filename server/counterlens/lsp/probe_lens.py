"""The code lens of the completion probe, and its mark for clients without panels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from lsprotocol import types

from counterlens.evaluation.time_left import expected_seconds
from counterlens.judging.languages import JUDGED
from counterlens.lsp import code_lens
from counterlens.lsp.analysis import Analysis
from counterlens.lsp.base import CodeMark, CounterlensServer
from counterlens.lsp.code_lens import Askable
from counterlens.lsp.language import about, t, translate_known, translator
from counterlens.lsp.probing import COMMAND
from counterlens.lsp.prospects import KeptResult, counts_of_kind, is_hopeless, kept_results, refusal
from counterlens.metrics.effects import Proportion
from counterlens.metrics.summary import summarize
from counterlens.probes.pairs.contested_wording import contested_count
from counterlens.probes.pairs.record import PairsRecord
from counterlens.probes.pairs.seeing import is_blind
from counterlens.probes.pairs.stability_wording import unstable_changes
from counterlens.probes.pairs.wording import meaning
from counterlens.syntax.functions import Function, functions


def register(server: CounterlensServer) -> None:
    """Add this feature."""
    server.code_lenses.append(_lenses)
    server.marks.append(_effects)
    server.when_edited.append(_retract_refusals)


def _retract_refusals(ls: CounterlensServer, edited: Analysis) -> None:
    """Forget why probes were refused once another file was edited: it may have the tests."""
    for analysis in ls.analyses.values():
        if analysis is not edited:
            for name, known in analysis.known.items():
                analysis.known[name] = replace(known, refusal="")


def _lenses(ls: CounterlensServer, analysis: Analysis) -> list[types.CodeLens]:
    """A lens on each function for which a probe will say something, or whose result or refusal is known."""
    prompts, model = Askable(analysis).known(), ls.settings.model_spec
    kept = kept_results(analysis.uri, model) if ls.client_shows_results else {}
    titles = {
        function.qualname: title
        for function in functions(analysis.document)
        if (
            title := _title(
                ls, analysis, function, prompts.get(function.qualname, 0), kept.get(function.qualname)
            )
        )
    }
    return code_lens.lenses_over(
        ls,
        analysis,
        COMMAND,
        lambda function: f"{t('Probe counterfactually')} · {titles[function.qualname]}",
        lambda function: function.qualname in titles,
    )


def _title(
    ls: CounterlensServer, analysis: Analysis, function: Function, prompts: int, kept: KeptResult | None
) -> str:
    """The result for a function, else what is known before a probe; empty if it will say nothing."""
    known, model = analysis.known_function(function.qualname), ls.settings.model_spec
    if known.probe is not None:
        return _result(known.probe)
    if kept is not None and kept.source.encode() == analysis.source_of(function):
        return f"{_result(kept.record)} · {t('at once')}"
    if known.refusal:
        return t("refused: {reason}", reason=known.refusal)
    if not prompts:
        return ""
    language = JUDGED.get(analysis.document.language)
    weak = language.weak_assertion(analysis.document, function) if language else None
    if weak is not None:
        return t("will be refused: {reason}", reason=refusal(weak))
    counts = counts_of_kind(model, function)
    if is_hopeless(counts):
        return ""
    parts = [_effort(ls, prompts)]
    if counts.probed:
        parts.append(t("completed {count} of {n} such functions", count=counts.completed, n=counts.probed))
    if kept is not None:
        parts.append(t("of the older text: {result}", result=_result(kept.record)))
    return " · ".join(parts)


def _effort(ls: CounterlensServer, prompts: int) -> str:
    """How long a probe takes; if unknown, how many prompts it needs."""
    seconds = expected_seconds(ls.settings.model_spec, COMMAND, prompts)
    if seconds is None:
        return t("{n} prompts", n=prompts)
    return about(seconds)


def _changed_share(record: PairsRecord) -> Proportion:
    """The share of informative pairs whose verdict changed."""
    return summarize(record.observations).average


def _result(record: PairsRecord) -> str:
    changed = _changed_share(record)
    if changed.n:
        sentence = t("{count} of {n} changed the verdict", count=changed.count, n=changed.n)
        return ", ".join(filter(None, (sentence, *_caveats(record))))
    if record.pairs:
        return t("uninformative")
    blind = next((site.reason for site in record.refused if is_blind(site.reason)), None)
    return t("refused: {reason}", reason=translate_known(blind)) if blind else t("nothing to change")


def _caveats(record: PairsRecord) -> tuple[str, str]:
    return unstable_changes(record, translator()), contested_count(record, translator())


def _effects(ls: CounterlensServer, analysis: Analysis) -> Iterator[CodeMark]:
    """Show the result of a probe at the name of its function, for clients without a view for it.

    It is about the model, so it would be a false report among the problems of the code.
    """
    if ls.client_shows_results:
        return
    for function in functions(analysis.document) if analysis.known else []:
        record = analysis.known_function(function.qualname).probe
        if record is None:
            continue
        changed, counted = _changed_share(record), ""
        if changed.n:
            counted = t(
                "{count} of {n} informative counterfactual pairs changed the verdict.",
                count=changed.count,
                n=changed.n,
            )
        name = analysis.document.data.index(function.name.encode(), function.header)
        message = f"{counted} {meaning(record, translator())}".lstrip()
        yield CodeMark("counterfactual-effect", name, name + len(function.name.encode()), message)
