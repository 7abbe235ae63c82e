"""The server: its tools, and their descriptions for assistants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools.base import Tool
from mcp.types import CallToolResult, ToolAnnotations
from pydantic import ConfigDict, Field

import counterlens
from counterlens.mcp import tools
from counterlens.mcp.calls import answered
from counterlens.mcp.workspace import ToolWorkspace
from counterlens.probes.options import schema_of
from counterlens.probes.registry import PROBES

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
        return await answered(
            context,
            lambda cancel, report: tools.measure_confidence(
                workspace, path, source, language, function, cancel, report
            ),
        )

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
        return await answered(
            context,
            lambda cancel, report: tools.probe(
                workspace, path, function, task, options or {}, cancel, report
            ),
        )

    @tool(title="List counterfactuals", annotations=_READS)
    async def counterlens_counterfactuals(
        context: Context[Any, Any], path: Path, function: Function | None = None, seed: Seed = 0
    ) -> CallToolResult:
        """Rewrites of the code that keep or break its meaning, and the reasons for refused ones.

        No model is asked and nothing is run.
        """
        return await answered(context, lambda *_: tools.list_counterfactuals(workspace, path, function, seed))

    @tool(title="Show dependences", annotations=_READS)
    async def counterlens_dependences(
        context: Context[Any, Any], path: Path, function: Function
    ) -> CallToolResult:
        """The dependences of each statement, by control and by data, from the program alone."""
        return await answered(context, lambda *_: tools.show_dependences(workspace, path, function))

    @tool(title="List the available probes", annotations=_READS)
    async def counterlens_tasks(context: Context[Any, Any]) -> CallToolResult:
        """The tasks that counterlens_probe_function knows, and the model that is examined."""
        return await answered(context, lambda *_: tools.list_tasks(workspace))

    return MCPServer(
        "counterlens",
        instructions=INSTRUCTIONS,
        version=counterlens.__version__,
        log_level="WARNING",
        tools=offered,
    )


def _strict(tool: Tool) -> Tool:
    """The same tool, with unknown arguments refused."""
    known = tool.fn_metadata.arg_model
    model = type(known.__name__, (known,), {"model_config": ConfigDict(**known.model_config | _NO_OTHERS)})
    tool.fn_metadata.arg_model = model
    tool.parameters = {**tool.parameters, "additionalProperties": False}
    return tool
