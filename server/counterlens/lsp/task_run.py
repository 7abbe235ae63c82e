"""One run of chosen probes on a worker thread; each result is published as it arrives."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from counterlens.errors import Cancelled, CounterlensError
from counterlens.evaluation.time_left import note_pace
from counterlens.lsp.base import LOG
from counterlens.lsp.model_host import ModelHost
from counterlens.lsp.probe_request import context_of, options_of
from counterlens.lsp.settings import EditorSettings
from counterlens.models.base import Model
from counterlens.probes.probe import Target
from counterlens.probes.runner import AnyProbe, ProbeRun, State, attempt
from counterlens.progress import Steps
from counterlens.reports.build.probe_run import overview, progress_line, section, section_id, several_report
from counterlens.reports.render import html, markdown
from counterlens.syntax.document import Document

DEFECT = "unexpected error: {0}. See the log of Counterlens"


@dataclass(frozen=True, slots=True)
class TaskNews:
    """The state of every probe, sent to the client when a run begins and after each change."""

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
class ChosenProbes:
    """The probes to run.

    Attributes:
        title: The name of the probed object, such as `parity`.
        document: The version of the document.
        path: Its path, as a report names it.
        probes: The probes, in order.
        blocked: Why some probes cannot run here, by id.
        run: The client's name of the run; without a name, no news are sent.
    """

    title: str
    document: Document
    path: str | None
    targets: tuple[Target, ...]
    probes: tuple[AnyProbe, ...]
    blocked: Mapping[str, str]
    run: str = ""

    @property
    def about(self) -> str:
        """Its location."""
        name = self.document.path.name if self.document.path else "the text"
        several = len(self.targets) > 1
        return f"{name}: {len(self.targets)} functions" if several else name


class TaskRun:
    """Runs probes one after the other.

    Args:
        publish: Called with news, on the thread that runs.
        ended: Called with each finished probe, on the thread that runs.

    Attributes:
        runs: Results so far, by probe id, in the order of the probes.
    """

    def __init__(
        self,
        chosen: ChosenProbes,
        settings: EditorSettings,
        publish: Callable[[TaskNews], None],
        ended: Callable[[ProbeRun], None],
    ) -> None:
        self._chosen, self._settings, self._publish, self._ended = chosen, settings, publish, ended
        self._model_name = ""
        self.runs: dict[str, ProbeRun] = {}
        for probe in chosen.probes:
            blocked = chosen.blocked.get(probe.id, "")
            options = options_of(probe, settings, chosen.document.path)
            self.runs[probe.id] = ProbeRun(
                probe, options, State.FAILED if blocked else State.WAITING, blocked
            )

    @property
    def status(self) -> str:
        """The progress of all probes, in one line."""
        return progress_line([*self.runs.values()])

    def markdown(self) -> str:
        """The report."""
        runs = [*self.runs.values()]
        return markdown.render(several_report(self._title, self._about, runs, path=self._chosen.path))

    def run(self, host: ModelHost, steps: Steps) -> None:
        """Run all probes; after a cancel, mark those that did not run.

        Raises:
            ModelError: there is no model.
        """
        try:
            steps.report("opening the model", 0, 1)
            for run in self.runs.values():  # so that the sections are in the order of the probes
                self._notify(run)
            with host.use_model(self._settings) as model:
                self._model_name = f"{model.info.name} ({model.info.where})"
                waiting = [run for run in self.runs.values() if run.state is State.WAITING]
                for number, run in enumerate(waiting):
                    self._run(run, host, model, steps.part(run.probe.id, number, len(waiting)))
        except Cancelled:
            LOG.info("the run of probes was cancelled")
        finally:
            for run in [*self.runs.values()]:
                if run.state in (State.WAITING, State.RUNNING):
                    self._set(replace(run, state=State.CANCELLED))
            self._notify(over=True)

    def _run(self, run: ProbeRun, host: ModelHost, model: Model, steps: Steps) -> None:
        """Run one probe.

        Raises:
            Cancelled: the user cancelled.
        """
        steps.check()
        probe, options, begun = run.probe, run.options, time.monotonic()
        self._set(replace(run, state=State.RUNNING, model=model.info))
        try:
            with context_of(probe, options, host, model, self._settings, steps) as context:
                run = attempt(probe, context, self._chosen.targets, options, update=self._set)
        except Cancelled:
            raise
        except CounterlensError as error:  # an error of the sentence-similarity model
            run = replace(run, state=State.FAILED, reason=str(error))
        except Exception as defect:  # the other probes can still run
            LOG.exception("the task %s failed", probe.id)
            run = replace(run, state=State.FAILED, reason=DEFECT.format(type(defect).__name__))
        self._set(run)
        if run.state is State.DONE and run.probed:
            seconds = time.monotonic() - begun
            note_pace(self._settings.model_spec, probe.id, len(run.probed), seconds)
        self._ended(run)

    def _set(self, run: ProbeRun) -> None:
        self.runs[run.probe.id] = run
        self._notify(run)

    def _notify(self, run: ProbeRun | None = None, *, over: bool = False) -> None:
        news = TaskNews(
            self._chosen.run,
            overview=html.fragment(overview(self._title, self._about, [*self.runs.values()])),
            status=self.status,
            over=over,
        )
        if run is not None:
            news = replace(
                news,
                task=run.probe.id,
                state=str(run.state),
                summary=run.summary,
                section=section_id(run),
                html=html.fragment(section(run, self._chosen.path)),
            )
        self._publish(news)

    @property
    def _title(self) -> str:
        return f"Probes of {self._chosen.title}"

    @property
    def _about(self) -> str:
        asked = f", asked of {self._model_name}" if self._model_name else ""
        return f"{self._chosen.about}{asked}"
