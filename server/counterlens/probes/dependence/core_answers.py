"""One answer to one of CoRe's questions, with the truth and the answer of the rule that uses no model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from counterlens.datasets.core import CoreLabels, CoreNode, CoreTask
from counterlens.metrics.traces import judge
from counterlens.probes.dependence.core_form import CoreForm, OwnQuestion
from counterlens.probes.dependence.core_replies import ReadReply


@dataclass(frozen=True, slots=True)
class CoreAnswer:
    """One answer; nodes are texts such as `total 3`, for control lines such as `3`.

    Attributes:
        id: The id of the question: CoRe's, or one of the same form.
        form: The form of the question: with a trace, or for all sources.
        own_words: Whether it was CoRe's own question, in CoRe's words.
        lite: Whether it is in CoRe Lite.
        labelled: Whether the truth comes from people's labels; else it comes from the dependence graph.
        source: The possible source; empty if all sources were asked for.
        target: The possible target.
        tries: Number of requests.
        read: Whether the answer could be read; an unreadable one counts as no, or as no sources.
        true: Whether yes is true.
        said: Whether the answer is yes.
        ruled: Whether the answer of the rule that uses no model is yes.
        steps: Number of steps of the trace.
        right: Number of steps that are direct dependences.
        false: Number of steps without even a chain of dependences.
        left_out: Number of nodes missing in the other steps, by the shortest chains.
        sources: The true sources.
        cut_off: Whether the token limit ended it.
        looped: Whether it repeats itself up to the token limit.
        copied: Whether it is wrong, and has the nodes of a worked example of the prompt.
        candidates: Yes and no, or the lines of the function; empty if the model gives no probabilities.
        logprobs: The log-probability of each, in nats, given that one of them is the answer.
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
    cut_off: bool = False
    looped: bool = False
    copied: bool = False
    candidates: tuple[str, ...] = ()
    logprobs: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class CoreTruth:
    """The truth for a function's answers.

    Attributes:
        labelled: Whether it comes from people's labels.
        first: For each line, the first line of its statement, which the rules use.
    """

    labels: CoreLabels
    labelled: bool
    rules: CoreLabels
    first: dict[int, int]

    def answer(self, question: OwnQuestion, answered: ReadReply) -> CoreAnswer:
        """Compare one answer."""
        reply = answered.reply
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
            tries=answered.tries,
            read=reply is not None,
            cut_off=answered.cut_off,
            looped=answered.looped,
        )
        nodes = reply.nodes if reply else ()
        if question.form is CoreForm.SOURCE or question.source is None:
            sources, said = self.labels.sources(question.task, question.target), _texts(nodes)
            return replace(
                answer,
                sources=_texts(sources),
                said_sources=said,
                copied=answered.copied and said != _texts(sources),
                ruled_sources=_texts(by_rule),
            )
        trace = judge(nodes, self.labels.direct(question.task), question.source, question.target)
        return replace(
            answer,
            true=bool(question.true),
            said=bool(reply and reply.yes),
            copied=answered.copied and not question.true,
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
    """The text of a node in a record: `total 3`, or only the line."""
    variable, line = node
    return f"{variable} {line}" if variable else str(line)


def _texts(nodes: Iterable[CoreNode]) -> tuple[str, ...]:
    return tuple(node_text(node) for node in sorted(set(nodes), key=lambda node: (node[1], node[0])))
