"""The server: its tools, and their descriptions for assistants."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Event
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools.base import Tool
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import ConfigDict, Field

import counterlens
from counterlens.confidence.scoring import measure
from counterlens.counting import plural
from counterlens.dependence import dependences
from counterlens.doubt.blaming import culprits
from counterlens.doubt.generating import scopes
from counterlens.doubt.marking import Mark
from counterlens.errors import CounterlensError, SourceError
from counterlens.languages.language import Feature
from counterlens.languages.registry import language_named
from counterlens.mcp.workspace import ToolWorkspace
from counterlens.mutations.engine import survey
from counterlens.mutations.line_differences import line_difference
from counterlens.probes import probe as probing
from counterlens.probes.options import distribute, schema_of
from counterlens.probes.reading.checking import DocstringReader, marks_of
from counterlens.probes.registry import PROBES, probe_named
from counterlens.probes.runner import require_probed, run_targets
from counterlens.probes.subjects import targets_in
from counterlens.progress import ProgressCallback, Steps
from counterlens.reports.build.confidence import confidence_report
from counterlens.reports.build.probe_run import probe_report
from counterlens.reports.dependence_views import dependence_markdown
from counterlens.reports.expected import code
from counterlens.reports.export import json as plain
from counterlens.reports.export.counterfactuals import counterfactual, refusal
from counterlens.reports.export.dependences import dependences_json
from counterlens.reports.export.doubts import mark_data
from counterlens.reports.render import markdown
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function, require_feature, require_functions

_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_RUNS = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)

_NO_OTHERS = ConfigDict(extra="forbid")

INSTRUCTIONS = (
    "Counterlens asks a code model whether it understands code or only recognises it. Use "
    "counterlens_confidence to see where a model's expectations fail, and counterlens_probe_function for "
    "evidence: the model completes the function and equivalent ways of writing it, and the function's own "
    "tests judge. Only probes with tests distinguish right from wrong; report n and the interval with "
    "every figure. The user chose the examined model; it is not you, unless they say so."
)

Path = Annotated[str, Field(description="The file, relative to the folder that the server was started in.")]
Function = Annotated[str, Field(description="The function's qualified name, such as Stack.push.")]
Options = Annotated[
    dict[str, Any],
    Field(
        description="Options of the task; unknown ones are rejected.",
        json_schema_extra=schema_of(PROBES.values()),
    ),
]
Seed = Annotated[int, Field(description="Random seed for names and sites.")]


def create_server(workspace: ToolWorkspace) -> MCPServer:
    """A server over one workspace; run it with `run("stdio")`."""
    offered: list[Tool] = []

    def tool(title: str, annotations: ToolAnnotations) -> Callable[[Any], None]:
        def add(function: Any) -> None:
            offered.append(_strict(Tool.from_function(function, title=title, annotations=annotations)))

        return add

    @tool(title="How likely the model finds code", annotations=_READS)
    async def counterlens_confidence(
        context: Context[Any, Any],
        path: Path | None = None,
        source: Annotated[str | None, Field(description="Code, instead of a path.")] = None,
        language: Annotated[str, Field(description="The language of `source`.")] = "python",
        function: Function | None = None,
    ) -> CallToolResult:
        """How expected each concept and statement is to the model, and which places surprise it.

        Low confidence means that this model did not expect the code; it does not mean that the code is wrong.
        """
        return await answer(
            context,
            lambda cancel, report: measure_confidence(
                workspace, path, source, language, function, cancel, report
            ),
        )

    @tool(title="Find likely mistakes", annotations=_RUNS)
    async def counterlens_check(
        context: Context[Any, Any], path: Path, function: Function | None = None
    ) -> CallToolResult:
        """Functions that fail their tests, with a fix if one is known, or that contradict their docstring.

        Without a failing test, nothing says whether the code or its docstring is wrong. Code runs only in a
        sandbox. Takes seconds for each function.
        """
        return await answer(context, lambda cancel, report: check(workspace, path, function, cancel, report))

    @tool(title="Probe a function counterfactually", annotations=_RUNS)
    async def counterlens_probe_function(
        context: Context[Any, Any],
        path: Path,
        function: Function,
        task: Annotated[str, Field(description="See counterlens_tasks.")] = "completion",
        options: Options | None = None,
    ) -> CallToolResult:
        """Does the model hold when the code changes its form but not its meaning?

        Takes from seconds to minutes. Code that the model writes runs only in a sandbox, under the function's
        tests.
        """
        return await answer(
            context,
            lambda cancel, report: probe(workspace, path, function, task, options or {}, cancel, report),
        )

    @tool(title="List counterfactuals", annotations=_READS)
    async def counterlens_counterfactuals(
        context: Context[Any, Any], path: Path, function: Function | None = None, seed: Seed = 0
    ) -> CallToolResult:
        """Rewrites of the code that keep or break its meaning, and the reasons for refused ones.

        No model is asked and nothing is run.
        """
        return await answer(context, lambda *_: list_counterfactuals(workspace, path, function, seed))

    @tool(title="Show dependences", annotations=_READS)
    async def counterlens_dependences(
        context: Context[Any, Any], path: Path, function: Function
    ) -> CallToolResult:
        """The dependences of each statement, by control and by data, from the program alone."""
        return await answer(context, lambda *_: show_dependences(workspace, path, function))

    @tool(title="List the available probes", annotations=_READS)
    async def counterlens_tasks(context: Context[Any, Any]) -> CallToolResult:
        """The tasks that counterlens_probe_function knows, and the model that is examined."""
        return await answer(context, lambda *_: list_tasks(workspace))

    return MCPServer(
        "counterlens",
        instructions=INSTRUCTIONS,
        version=counterlens.__version__,
        log_level="WARNING",
        tools=offered,
    )


def _strict(tool: Tool) -> Tool:
    """The same tool, with unknown arguments refused."""
    arguments_model = tool.fn_metadata.arg_model
    config = ConfigDict(**arguments_model.model_config | _NO_OTHERS)
    model = type(arguments_model.__name__, (arguments_model,), {"model_config": config})
    tool.fn_metadata.arg_model = model
    tool.parameters = {**tool.parameters, "additionalProperties": False}
    return tool


def measure_confidence(
    workspace: ToolWorkspace,
    path: str | None,
    source: str | None,
    language: str,
    function: str | None,
    cancel: Event,
    progress: ProgressCallback,
) -> ToolAnswer:
    """The confidence in code, by concept and place.

    Raises:
        SourceError: neither or both of path and source were given, or they cannot be read.
        ModelError: the model cannot score.
        Cancelled: `cancel` was set.
    """
    if (path is None) == (source is None):
        raise SourceError("give either a path or a source")
    document = (
        workspace.read(path)
        if path is not None
        else Document(source or "", language=language_named(language))
    )
    if not document.text.strip():
        raise SourceError("there is nothing to score", "The text is empty")
    definition = find_function(document, function) if function else None
    span = (definition.start, definition.end) if definition else None
    progress("loading the model", 0, 1)
    model = workspace.model()
    scored = measure(model, document, span=span, cancel=cancel, progress=progress)
    # A method is scored with its class, but the answer is about the method alone.
    part = span or (0, len(document.data))
    return ToolAnswer(
        markdown.render(confidence_report(scored, model.info, span=span)),
        {
            "model": plain.model(model.info),
            "bits_per_byte": scored.bits_per_byte_in(*part),
            "concepts": {
                name: {"mean_probability": value, "nodes": n}
                for name, (value, n) in scored.concepts_in(*part).items()
            },
        },
    )


def probe(
    workspace: ToolWorkspace,
    path: str,
    function: str,
    task: str,
    given: Mapping[str, Any],
    cancel: Event,
    progress: ProgressCallback,
) -> ToolAnswer:
    """Run one probe on one function.

    Args:
        workspace: The folder, the model and the sandbox.
        path: The file.
        task: The id of the probe.
        given: Values of its options, by name.
        progress: Called with a description of the current step.

    Raises:
        CounterlensError: there is no such task.
        SourceError: there is no such file or function, or it cannot be probed.
        OptionError: the probe does not take an option, or a value is out of range.
        ModelError, SandboxError: the model or the sandbox failed.
        Cancelled: `cancel` was set.
    """
    chosen = probe_named(task)
    options = distribute([chosen], given, PROBES.values())[task]
    document = require_functions(workspace.read(path))
    targets = targets_in(document, function, root=workspace.root)
    progress("loading the model", 0, 1)
    context = probing.Context(workspace.model(), workspace.sandbox, Steps(cancel, progress))
    run = run_targets(chosen, context, targets, options)
    require_probed(run)
    return ToolAnswer(markdown.render(probe_report(run, f"{path}::{function}")), plain.probe_document(run))


def check(
    workspace: ToolWorkspace,
    path: str,
    function: str | None,
    cancel: Event,
    progress: ProgressCallback,
) -> ToolAnswer:
    """The marks of a file or a function, by tests, docstrings and likelier alternatives.

    Raises:
        SourceError: there is no such file or function, or it is not Python.
        ModelError, SandboxError: the model or the sandbox failed.
        TrustError: the user has not trusted the folder.
        Cancelled: `cancel` was set.
    """
    document = workspace.read(path)
    require_feature(document, Feature.DOUBTS)
    wanted = find_function(document, function) if function else None
    chosen = [
        scope
        for scope in scopes(document)
        if wanted is None or scope.function.start <= wanted.start < scope.function.end
    ]
    sandbox = workspace.sandbox()
    progress("loading the model", 0, 1)
    model = workspace.model()
    reader, steps = DocstringReader(model, sandbox), Steps(cancel)
    marks: list[Mark] = []
    for number, scope in enumerate(chosen):
        progress(f"checking {scope.function.qualname}", number, len(chosen))
        marks += marks_of(model, scope, sandbox, reader, steps)
    rows = [mark_data(mark) | {"path": path} for mark in culprits(marks)]
    parts = [f"{plural(len(rows), 'mark')} in {plural(len(chosen), 'function')}."]
    for row in rows:
        shown = f"- line {row['line']}: {markdown.prose(row['message'])}"
        parts.append(f"{shown}\n\n{markdown.fence(row['patch'], 'diff')}" if row["patch"] else shown)
    return ToolAnswer("\n\n".join(parts) + "\n", {"marks": rows})


def list_counterfactuals(workspace: ToolWorkspace, path: str, function: str | None, seed: int) -> ToolAnswer:
    """The counterfactuals of a file or a function, as differences; and the refusals, with reasons.

    Raises:
        SourceError: there is no such file or function.
    """
    document = require_functions(workspace.read(path))
    qualname = find_function(document, function).qualname if function else None
    surveyed = survey(document.text, function=qualname, seed=seed, language=document.language)
    tally = plural(len(surveyed.counterfactuals), "counterfactual")
    parts = [f"{tally}, {plural(len(surveyed.refusals), 'site')} refused."]
    for variant in surveyed.counterfactuals:
        kind = "preserves" if variant.preserving else "breaks"
        changed = "\n".join(line_difference(variant))
        parts.append(
            f"### {variant.mutation}, line {variant.start_line}: {kind} the meaning\n\n"
            f"{markdown.prose(variant.description)}\n\n{markdown.fence(changed, 'diff')}"
        )
    if surveyed.refusals:
        rows = [
            f"- line {site.line}, {site.mutation}: {markdown.prose(site.reason)}"
            for site in surveyed.refusals
        ]
        parts.append("### Refused\n\n" + "\n".join(rows))
    return ToolAnswer(
        "\n\n".join(parts) + "\n",
        {
            "counterfactuals": [counterfactual(mutant) for mutant in surveyed.counterfactuals],
            "refused": [refusal(site) for site in surveyed.refusals],
        },
    )


def show_dependences(workspace: ToolWorkspace, path: str, function: str) -> ToolAnswer:
    """List the dependences of each statement of a function, from the program alone.

    Raises:
        SourceError: there is no such file or function.
    """
    document = workspace.read(path)
    graph = dependences(document.text, function, language=document.language)
    return ToolAnswer(
        f"Dependences of {code(function)}:\n\n{dependence_markdown(graph)}", dependences_json(graph)
    )


def list_tasks(workspace: ToolWorkspace) -> ToolAnswer:
    """List the available probes, and the examined model."""
    described = {name: probe.title for name, probe in PROBES.items()}
    rows = "\n".join(f"- {code(name)}: {what}" for name, what in described.items())
    return ToolAnswer(
        f"Model: {markdown.escape(workspace.model_name)}. Tasks:\n\n{rows}\n",
        {"model": workspace.model_name, "tasks": described},
    )


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The answer of a tool.

    Attributes:
        text: The answer as Markdown.
        data: The same as plain data.
    """

    text: str
    data: dict[str, Any] = field(default_factory=dict)

    def result(self) -> CallToolResult:
        """The answer in the protocol's format."""
        return CallToolResult(
            content=[TextContent(type="text", text=self.text)], structured_content=self.data or None
        )


Work = Callable[[Event, ProgressCallback], ToolAnswer]
"""A tool's work, on a separate thread; it gets an event that cancels it, and a progress callback."""


async def answer(context: Context[Any, Any], work: Work) -> CallToolResult:
    """Run a tool.

    Raises:
        ToolError: an expected failure, with a message that says what an assistant can do.
    """
    loop, cancel = asyncio.get_running_loop(), Event()
    reports: set[asyncio.Task[None]] = set()

    def send_progress(step: str, done: int, total: int) -> None:
        task = loop.create_task(context.report_progress(done, total or None, step))
        reports.add(task)
        task.add_done_callback(reports.discard)

    def report(step: str, done: int, total: int) -> None:
        loop.call_soon_threadsafe(send_progress, step, done, total)

    try:
        answer = await asyncio.to_thread(work, cancel, report)
    except asyncio.CancelledError:
        cancel.set()
        raise
    except CounterlensError as error:
        raise ToolError(str(error)) from error
    finally:
        if reports:
            await asyncio.gather(*reports, return_exceptions=True)
    return answer.result()
