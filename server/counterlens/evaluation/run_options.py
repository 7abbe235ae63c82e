"""The choices of a run that are not options of probes, declared once: for flags and for a settings file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from counterlens.models.base import APIS
from counterlens.models.registry import GPU_LAYERS, MASKS
from counterlens.probes.options import option
from counterlens.probes.registry import PROBES


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The options of runs that a repository may set.

    The address of a model, and the permission for a weak sandbox, are not among them: a file that comes with
    code must determine neither where code and keys are sent, nor how programs are isolated.
    """

    models: Annotated[
        tuple[str, ...],
        option(
            "Model to evaluate (repeatable): the name of a code model, a GGUF file, hf:OWNER/REPO/FILE.gguf "
            "or remote:NAME. Default: `counterlens models` marks it.",
            flag="model",
            metavar="M",
        ),
    ] = ()
    tasks: Annotated[
        tuple[str, ...], option("The probe to run (repeatable).", flag="task", choices=tuple(PROBES))
    ] = ("completion",)
    paths: Annotated[
        tuple[str, ...],
        option("With repo: only these files or folders (repeatable).", metavar="PATTERN"),
    ] = ()
    limit: Annotated[int | None, option("Sample size; --seed draws the sample.", metavar="N", low=1)] = None
    minutes: Annotated[
        float | None,
        option(
            "Time limit in minutes, shared by the models; functions that show most per minute come first.",
            metavar="N",
            low=0,
        ),
    ] = None
    fail_under: Annotated[
        float | None,
        option(
            "Exit with 3 if a model keeps a smaller share of its right verdicts, with its whole interval "
            "below SHARE.",
            metavar="SHARE",
            low=0,
            high=1,
        ),
    ] = None
    api: Annotated[
        str | None,
        option(
            "Prompt format: plain completion, fill-in-the-middle (with what follows), or chat. Default: "
            "completions, unless another suits the model better.",
            choices=APIS,
        ),
    ] = None
    mask: Annotated[
        str,
        option(
            "Unit that a masked model masks when it scores: whole words, or single tokens.",
            choices=MASKS,
        ),
    ] = "word"
    threads: Annotated[int, option("CPU threads for a local model (0 = auto).", low=0)] = 0
    gpu_layers: Annotated[
        str,
        option(
            "Layers of a GGUF model that a graphics processor computes; auto: as many as fit into its free "
            "memory.",
            form=GPU_LAYERS,
        ),
    ] = "auto"
    thinking_tokens: Annotated[
        int | None,
        option(
            "Token limit for the reasoning of a remote model, in addition to its answer (default: its entry "
            "in [models]).",
            metavar="N",
            low=0,
        ),
    ] = None
    budget: Annotated[
        float | None,
        option(
            "Cost after which no further function is started, in the currency of the models' prices; shared "
            "by the models.",
            metavar="AMOUNT",
            low=0,
        ),
    ] = None
    exact: Annotated[
        bool,
        option("Refuse a model whose completions are not exact. Local models decode exactly if they can."),
    ] = False
