"""One answer to one of CoRe's questions, with the truth and the answers of the rules that ask no model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from counterlens.datasets.core_labels import CoreLabels, CoreNode, CoreTask
from counterlens.metrics.traces import judge
from counterlens.probes.dependence.core_form import CoreForm, OwnQuestion
from counterlens.probes.dependence.core_reading import CoreReply


@dataclass(frozen=True, slots=True)
class CoreAnswer:
    """One answer; nodes are texts such as `total 3`, of control lines such as `3`.

    Attributes:
        id: Of the question: CoRe's, or one of the same form.
        task: The subject.
        form: Whether for a trace, or for all sources.
        own_words: Whether it was CoRe's own question, in CoRe's words.
        lite: Whether it is in CoRe Lite.
        labelled: Whether people's labels say what is true; else the dependence graph does.
        source: The possible source; empty if all of that was asked for.
        target: The possible target.
        tries: How often it was asked.
        read: Whether the answer could be read; one that could not counts as no, or as no sources.
        true: Whether yes is true.
        said: Whether it says yes.
        ruled: Whether the rule that asks no model does.
        trace: The nodes of the trace that it tells.
        steps: How many steps that has.
        right: How many of them are direct dependences.
        false: The number that lead where no chain does.
        left_out: How many nodes are missing in the others, by the shortest chains.
        sources: The true sources.
        said_sources: Those that it says.
        ruled_sources: Those that the rule says.
    """

    id: str
    task: CoreTask
    form: CoreForm
    own_words: bool
    lite: bool
    labelled: bool
    source: str
    target: str
    tries: int
    read: bool
    true: bool = False
    said: bool = False
    ruled: bool = False
    trace: tuple[str, ...] = ()
    steps: int = 0
    right: int = 0
    false: int = 0
    left_out: int = 0
    sources: tuple[str, ...] = ()
    said_sources: tuple[str, ...] = ()
    ruled_sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CoreTruth:
    """The truth for a function's answers.

    Attributes:
        labels: The truth.
        labelled: Whether people say so.
        rules: The answers of the rules.
        first: For each line the first line of its statement, by which the rules name it.
    """

    labels: CoreLabels
    labelled: bool
    rules: CoreLabels
    first: dict[int, int]

    def answer(self, question: OwnQuestion, reply: CoreReply | None, tries: int) -> CoreAnswer:
        """Compare one answer."""
        by_rule = self.rules.sources(question.task, self._ruled(question.target))
        answer = CoreAnswer(
            id=question.id,
            task=question.task,
            form=question.form,
            own_words=bool(question.prompt),
            lite=question.lite,
            labelled=self.labelled,
            source="" if question.source is None else node_text(question.source),
            target=node_text(question.target),
            tries=tries,
            read=reply is not None,
        )
        nodes = reply.nodes if reply else ()
        if question.form is CoreForm.SOURCE or question.source is None:
            return replace(
                answer,
                sources=_texts(self.labels.sources(question.task, question.target)),
                said_sources=_texts(nodes),
                ruled_sources=_texts(by_rule),
            )
        trace = judge(nodes, self.labels.direct(question.task), question.source, question.target)
        return replace(
            answer,
            true=bool(question.true),
            said=bool(reply and reply.yes),
            ruled=self._ruled(question.source) in by_rule,
            trace=tuple(node_text(node) for node in nodes),
            steps=trace.steps,
            right=trace.right,
            false=trace.false,
            left_out=trace.left_out,
        )

    def _ruled(self, node: CoreNode) -> CoreNode:
        variable, line = node
        return variable, self.first.get(line, line)


def node_text(node: CoreNode) -> str:
    """A node in a record: `total 3`, or the line alone."""
    variable, line = node
    return f"{variable} {line}" if variable else str(line)


def _texts(nodes: Iterable[CoreNode]) -> tuple[str, ...]:
    return tuple(node_text(node) for node in sorted(set(nodes), key=lambda node: (node[1], node[0])))
