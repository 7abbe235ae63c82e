"""The inputs of a probe, from the settings: its options, and its context."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from counterlens.lsp.model_host import ModelHost
from counterlens.lsp.settings import EditorSettings
from counterlens.models.base import Capability, Model
from counterlens.models.sentences import ModelSentences
from counterlens.probes.options import ProbeOptions, declared, make
from counterlens.probes.probe import Context
from counterlens.probes.runner import AnyProbe
from counterlens.progress import Steps
from counterlens.sandbox.registry import best_sandbox


def options_of(
    probe: AnyProbe, settings: EditorSettings, path: Path | None = None, **chosen: Any
) -> ProbeOptions:
    """The options of a probe.

    Args:
        settings: Values of the options that have a setting.
        path: Path of the file; a relative path of a corpus is resolved beside it.
        chosen: Values of the other options.

    Raises:
        OptionError: a value is out of range.
    """
    declarations = declared([probe])
    given = {name: value for name, value in settings.probe.items() if name in declarations}
    if given.get("corpus") and path is not None and (corpus := path.parent / given["corpus"]).exists():
        given["corpus"] = str(corpus)
    options: ProbeOptions = make(probe.options, given | chosen)
    return options


@contextmanager
def context_of(
    probe: AnyProbe,
    options: ProbeOptions,
    host: ModelHost,
    model: Model,
    settings: EditorSettings,
    steps: Steps,
) -> Iterator[Context]:
    """The context of a probe, and the model that compares sentences if its options name one.

    Raises:
        ModelError: that model cannot be opened, or returns no embeddings.
    """
    context = Context(model, steps=steps)
    if probe.runs_programs:
        context = replace(context, sandbox=best_sandbox)
    encoder = getattr(options, "encoder", None)
    if not encoder:
        yield context
        return
    # it is used for embeddings, whatever the prompting mode of the probed model
    with host.use_model(replace(settings, model=encoder, remote_api="completions")) as opened:
        yield replace(context, encoder=ModelSentences(opened))


def try_decoding(model: Model, steps: Steps) -> None:
    """Name the trial of a model before its first completion, which would take some seconds without a reason.

    Raises:
        ModelError, Cancelled: as `Model.offers`.
    """
    if model.info.local and Capability.EXACT not in model.info.capabilities:
        steps.next("trying which prompts this model may decode together, once per model and machine")
        model.offers(Capability.EXACT, cancel=steps.cancel)
