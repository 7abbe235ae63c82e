"""CoRe's protocol (Xie et al. 2025): its questions on data dependence, control dependence, information flow.

The population consists of CoRe's own questions if the data has them (`datasets/core.py`), with people's
labels as truth; else of a sample of such questions with the dependence graph as truth, so that it works for
any function. `core_form.py` builds the questions, `core_replies.py` asks them and reads the answers, and
`core_figures.py` computes the figures.

The dependences of an unlabelled function, in CoRe's terms: by graph or rule.

A statement has an instance of each variable that it binds or changes; a statement without such variables, and
the header of a branch or loop, also has one of each variable that it reads; a statement without variables has
the instance `Null`, as in CoRe's labels. So the dependence graph, and the rules of `rules.py`, answer the
same questions as labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set

from counterlens.datasets.core import NO_VARIABLE, CoreLabels, CoreNode, CoreTask, LabelledInstance
from counterlens.dependence import Dependences, Kind
from counterlens.metrics.agreement import Agreement
from counterlens.models.base import Model
from counterlens.probes.dependence.core_answers import CoreAnswer, CoreTruth
from counterlens.probes.dependence.core_choices import with_choices
from counterlens.probes.dependence.core_form import CoreForm, OwnQuestion, own_questions
from counterlens.probes.dependence.core_replies import replies
from counterlens.probes.dependence.examined import ExaminedFunction, Part, Relation, StatementPair
from counterlens.probes.dependence.inferred import Closures, InferenceMethod
from counterlens.probes.dependence.instances import MOST_QUESTIONS
from counterlens.probes.dependence.record import DependenceRecord
from counterlens.probes.dependence.rules import pairs_by_rule
from counterlens.progress import Steps

Flow = tuple[int, int, str]
"""The ids of the statement that a value comes from and of the statement that reads it, and the variable."""

CORE = "core"
_TASKS = {Relation.CONTROL: CoreTask.CONTROL, Relation.DATA: CoreTask.DATA}


def asked_of(
    subject: ExaminedFunction,
    name: str,
    details: Mapping[str, str],
    *,
    lite: bool = False,
    limit: int | None = None,
    seed: int = 0,
) -> list[OwnQuestion]:
    """The questions of CoRe's protocol about a function; arguments and errors as for `own_questions`.

    Without a limit, these are all of CoRe's own questions, or the default sample of ours.
    """
    most = MOST_QUESTIONS if limit is None and "questions" not in details else limit
    return own_questions(name, _truth(subject, details).labels, details, lite=lite, limit=most, seed=seed)


def run_core(
    model: Model,
    dependences: Dependences,
    name: str,
    details: Mapping[str, str],
    *,
    lite: bool,
    limit: int | None,
    seed: int,
    max_tokens: int,
    steps: Steps,
) -> DependenceRecord:
    """Ask CoRe's questions about one function.

    Args:
        name: Its name in the dataset.
        details: Its data in the dataset.
        lite: Whether to use only CoRe Lite's questions.
        limit: Maximum questions of each task and form; None for all of CoRe's own.
        seed: Random seed of samples.
        max_tokens: Maximum new tokens of one answer.

    Raises:
        SourceError: the function has no statements, or the data has none of CoRe Lite's questions about it.
        ModelError: the model cannot answer.
        Cancelled: it was cancelled.
    """
    subject = ExaminedFunction.of(dependences)
    asked = asked_of(subject, name, details, lite=lite, limit=limit, seed=seed)
    truth = _truth(subject, details)
    said = replies(model, subject, asked, max_tokens, steps)
    written = [truth.answer(question, answered) for question, answered in zip(asked, said, strict=True)]
    answers = with_choices(model, subject, asked, written, steps)
    cut_off, looped = sum(answer.cut_off for answer in answers), sum(answer.looped for answer in answers)
    of_relation = {
        relation: [answer for answer in answers if answer.form is CoreForm.TRACE and answer.task is task]
        for relation, task in _TASKS.items()
    }
    none = {relation: Agreement() for relation in Relation}
    model_agreement = {relation: _agreement(these) for relation, these in of_relation.items()}
    return DependenceRecord(
        left_out={
            "unreadable answers": sum(not answer.read for answer in answers),
            **({"answers that reached the token limit": cut_off} if cut_off else {}),
            **({"answers that repeat themselves up to the limit": looped} if looped else {}),
        },
        method=InferenceMethod.TRACE,
        summary=core_summary(answers),
        statements=len(subject.parts),
        agreement=Closures(none, model_agreement),
        rules=Closures(none, {r: _agreement(these, rule=True) for r, these in of_relation.items()}),
        differing={
            relation: _agreement([answer for answer in these if answer.true != answer.ruled])
            for relation, these in of_relation.items()
        },
        edges=(),
        answers=tuple(answers),
    )


def core_summary(answers: Sequence[CoreAnswer]) -> str:
    """One line: how many answers are right, and how many answers of the rules that use no model."""
    parts = []
    for task in CoreTask:
        these = [answer for answer in answers if answer.task is task]
        if these:
            right, ruled = sum(map(core_right, these)), sum(map(core_ruled_right, these))
            parts.append(f"{task.words}: {right} of {len(these)} right (rule {ruled})")
    return "; ".join(parts)


def core_right(answer: CoreAnswer) -> bool:
    """Whether a yes-or-no answer is right, or the sources are exactly the true ones."""
    return _is_right(answer, yes=answer.said, sources=answer.said_sources)


def core_ruled_right(answer: CoreAnswer) -> bool:
    """The same for the rule's answer."""
    return _is_right(answer, yes=answer.ruled, sources=answer.ruled_sources)


def _is_right(answer: CoreAnswer, *, yes: bool, sources: Sequence[str]) -> bool:
    return yes == answer.true if answer.form is CoreForm.TRACE else set(sources) == set(answer.sources)


def _truth(subject: ExaminedFunction, details: Mapping[str, str]) -> CoreTruth:
    labels = CoreLabels.read(details.get("label", ""))
    return CoreTruth(
        labels if labels.instances else labels_of_graph(subject),
        bool(labels.instances),
        labels_of_rules(subject),
        first_lines(subject),
    )


def _agreement(answers: Sequence[CoreAnswer], *, rule: bool = False) -> Agreement:
    yes = {at for at, answer in enumerate(answers) if (answer.ruled if rule else answer.said)}
    return Agreement.of(yes, {at for at, answer in enumerate(answers) if answer.true})


def labels_of_graph(subject: ExaminedFunction) -> CoreLabels:
    """The dependence graph as labels."""
    edges = subject.dependences.edges
    return _labels(
        subject,
        [(edge.source, edge.target, edge.variable) for edge in edges if edge.kind is not Kind.CONTROL],
        [(edge.source, edge.target) for edge in edges if edge.kind is Kind.CONTROL],
    )


def labels_of_rules(subject: ExaminedFunction) -> CoreLabels:
    """The dependences by indentation and recurring names, as labels."""
    flows = [
        (source, target, name)
        for source, target in pairs_by_rule(subject, Relation.DATA)
        for name in {read.name for read in subject.parts[target].reads} & subject.parts[source].binds
    ]
    return _labels(subject, flows, pairs_by_rule(subject, Relation.CONTROL))


def first_lines(subject: ExaminedFunction) -> dict[int, int]:
    """Return, for each line of the function, the first line of its statement."""
    lines: dict[int, int] = {}
    for part in subject.parts:
        for line in range(part.statement.line, part.statement.end_line + 1):
            lines.setdefault(line, part.statement.line)
    return lines | {part.statement.line: part.statement.line for part in subject.parts}


def _labels(
    subject: ExaminedFunction, flows: Iterable[Flow], controls: Iterable[StatementPair]
) -> CoreLabels:
    binds = {part.statement.id: set(part.binds) for part in subject.parts}
    data: dict[int, set[CoreNode]] = {}
    of_name: dict[tuple[int, str], set[CoreNode]] = {}
    for source, target, name in flows:
        binds[source].add(name)
        node = name, subject.parts[source].statement.line
        data.setdefault(target, set()).add(node)
        of_name.setdefault((target, name), set()).add(node)
    control: dict[int, set[CoreNode]] = {}
    for source, target in controls:
        part = subject.parts[source]
        names = _variables(part, binds[source])
        control.setdefault(target, set()).update((name, part.statement.line) for name in names)
    labels: dict[CoreNode, LabelledInstance] = {}
    for part in subject.parts:
        at = part.statement.id
        for name in _variables(part, binds[at]):
            bound = name in binds[at]
            before = data.get(at, set()) if bound else of_name.get((at, name), set())
            node = name, part.statement.line
            same = labels.get(node)  # from another statement on the line
            labels[node] = LabelledInstance(
                *node,
                binds=bound or bool(same and same.binds),
                data=frozenset(before) | (same.data if same else frozenset()),
                control=frozenset(control.get(at, ())) | (same.control if same else frozenset()),
            )
    return CoreLabels.of(list(labels.values()))


def _variables(part: Part, binds: Set[str]) -> list[str]:
    """The variables that a statement binds; if none, or for a branch or loop, also those that it reads."""
    read = part.names if part.branch or not binds else frozenset[str]()
    return sorted(binds | read) or [NO_VARIABLE]
