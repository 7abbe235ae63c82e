"""One run of chosen tasks on a worker thread; what comes of each is published as it comes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from threading import Event

from counterlens.confidence import Confidence
from counterlens.errors import Cancelled, CounterlensError
from counterlens.lsp.base import LOG
from counterlens.lsp.model_host import ModelHost
from counterlens.lsp.progress import Report
from counterlens.lsp.probe_request import comparing, request_of
from counterlens.lsp.settings import EditorSettings
from counterlens.models.base import Model
from counterlens.probes.offers import Offer
from counterlens.probes.running import Outcome, State, run_offer
from counterlens.probes.task import Target
from counterlens.reports.task_words import standing, summary
from counterlens.reports.tasks_html import outcome_fragment, overview_fragment, section_id
from counterlens.reports.tasks_markdown import tasks_markdown
from counterlens.syntax.document import Document

DEFECT = "it failed in a way that it should not: {0}. The log of Counterlens says more"


@dataclass(frozen=True, slots=True)
class TaskNews:
    """What a client is told of every task when a run begins, and whenever something has changed.

    Attributes:
        run: Of which run, as the client named it.
        task: What has changed; empty where only the overview has.
        state: How far that task is.
        summary: What it found so far, or why it was not run.
        section: The id of its section.
        html: Its section: a fragment of HTML.
        overview: All tasks: a fragment of HTML.
        status: How far everything is, in one line.
        over: Whether nothing more will come.
    """

    run: str
    task: str = ""
    state: str = ""
    summary: str = ""
    section: str = ""
    html: str = ""
    overview: str = ""
    status: str = ""
    over: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be run.

    Attributes:
        title: What is probed, such as `parity`.
        document: The version of the document.
        targets: Its functions.
        offers: The tasks, in their order.
        blocked: Why some of them cannot be run here, by id.
        run: What the client calls it; without a name there are no news.
    """

    title: str
    document: Document
    targets: tuple[Target, ...]
    offers: tuple[Offer, ...]
    blocked: Mapping[str, str]
    run: str = ""

    @property
    def about(self) -> str:
        """Where it is."""
        name = self.document.path.name if self.document.path else "the text"
        several = len(self.targets) > 1
        return f"{name}: {len(self.targets)} functions" if several else name


class TaskRun:
    """Runs tasks one after the other.

    Args:
        asked: What is to be run.
        publish: Called with news; from the thread that runs.
        probed: Called with each outcome of a task that has ended; from the thread that runs.
    """

    def __init__(
        self, asked: Asked, publish: Callable[[TaskNews], None], probed: Callable[[Outcome], None]
    ) -> None:
        self.asked, self._publish, self._probed = asked, publish, probed
        self.model_name = ""
        self._outcomes = {
            one.id: Outcome(one, State.FAILED, asked.blocked[one.id])
            if one.id in asked.blocked
            else Outcome(one)
            for one in asked.offers
        }

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """What there is so far, in the order of the tasks."""
        return tuple(self._outcomes.values())

    def markdown(self) -> str:
        """The report."""
        return tasks_markdown(f"Probes of {self.asked.title}", self._about, self.outcomes)

    def run(
        self,
        host: ModelHost,
        settings: EditorSettings,
        scored: Confidence | None,
        cancel: Event,
        report: Report,
    ) -> None:
        """Run all; what was not reached when `cancel` was set is cancelled.

        Raises:
            ModelError: there is no model to ask.
        """
        try:
            report("opening the model", 0, 1)
            for one in self.outcomes:  # so that the sections stand in the order of the tasks
                self._tell(one)
            with host.lend(settings) as model:
                self.model_name = f"{model.info.name} ({model.info.where})"
                self._run_all(host, model, settings, scored, cancel, report)
        except Cancelled:
            LOG.info("the run of tasks was cancelled")
        finally:
            for one in self.outcomes:
                if one.state in (State.WAITING, State.RUNNING):
                    self._set(replace(one, state=State.CANCELLED))
            self._tell(over=True)

    def _run_all(
        self,
        host: ModelHost,
        model: Model,
        settings: EditorSettings,
        scored: Confidence | None,
        cancel: Event,
        report: Report,
    ) -> None:
        waiting = [one for one in self.outcomes if one.state is State.WAITING]
        for number, one in enumerate(waiting):
            if cancel.is_set():
                raise Cancelled
            self._set(replace(one, state=State.RUNNING))
            told = partial(_told, report, one.offer.id, number, len(waiting))
            path, targets = self.asked.document.path, self.asked.targets
            request = request_of(model, settings, cancel, told, targets=targets, path=path)
            try:
                with comparing(request, one.offer.id, host, settings) as complete:
                    ended = run_offer(one.offer, complete, scored=scored, update=self._set)
            except Cancelled:
                raise
            except CounterlensError as error:
                ended = replace(one, state=State.FAILED, reason=str(error))
            except Exception as defect:  # the other tasks can still be run
                LOG.exception("the task %s failed", one.offer.id)
                ended = replace(one, state=State.FAILED, reason=DEFECT.format(type(defect).__name__))
            self._set(ended)
            self._probed(ended)

    def _set(self, outcome: Outcome) -> None:
        self._outcomes[outcome.offer.id] = outcome
        self._tell(outcome)

    def _tell(self, outcome: Outcome | None = None, *, over: bool = False) -> None:
        news = TaskNews(
            self.asked.run,
            overview=overview_fragment(f"Probes of {self.asked.title}", self._about, self.outcomes),
            status=standing(self.outcomes),
            over=over,
        )
        if outcome is not None:
            news = replace(
                news,
                task=outcome.offer.id,
                state=str(outcome.state),
                summary=summary(outcome),
                section=section_id(outcome),
                html=outcome_fragment(outcome),
            )
        self._publish(news)

    @property
    def _about(self) -> str:
        return f"{self.asked.about}{f', asked of {self.model_name}' if self.model_name else ''}"


def _told(report: Report, task: str, number: int, tasks: int, what: str, done: int, total: int) -> None:
    """The progress of one task as that of all."""
    share = 100 * min(done, total) // max(total, 1)
    report(f"{task}: {what}", 100 * number + share, 100 * tasks)
