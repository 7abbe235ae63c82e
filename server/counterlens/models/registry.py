"""Model back ends by the form of their names, and loading a model by name.

To add a back end: one file that builds a `Model`, and one `Backend` here; or a `counterlens.models` plug-in.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Self

from counterlens.errors import ModelError
from counterlens.models.base import Api, Capability, Model, Progress
from counterlens.models.code_models import code_model, code_models
from counterlens.models.default import default_model
from counterlens.models.entries import ModelEntry, entry_named
from counterlens.models.files import EMBEDDED_MODEL
from counterlens.plugins import Registry

CODE_MODEL = "|".join(model.id for model in code_models())
"""The names of the offered code models, as a form."""

GPU_LAYERS = "N|all|auto"
"""The form of `Options.gpu_layers`."""

MASKS = ("word", "piece")
"""The units that a masked model can mask; `models/onnx/protocol.py` defines each."""
SOME_TAKE = {
    "threads": "local models",
    "gpu_layers": "GGUF models on this machine",
    "mask": "masked models (onnx:FOLDER)",
    "base_url": "remote:NAME; models named in [models] state it there",
    "thinking_tokens": "remote models",
}
"""Options that affect some models only, with those models."""
_LOCAL = frozenset({"threads"})
_GGUF = _LOCAL | {"gpu_layers"}
_BY_ENTRY = frozenset({"thinking_tokens"})


@dataclass(frozen=True, slots=True, kw_only=True)
class OpeningChoices:
    """The choices of how a model is opened; each back end uses those that apply to it.

    Attributes:
        threads: Threads of a local model; 0 for automatic.
        gpu_layers: Number of layers of a GGUF model to offload to a graphics processor, `all`, or `auto` for
            as many as fit into its free memory.
        base_url: Address of a remote model, such as `http://127.0.0.1:8000/v1`; None: from the environment
            variable COUNTERLENS_BASE_URL.
        entries: Named models of settings files, to which a name may refer, with endpoint and prompt format.
            They contain the variable of a key, not the key.
        api: Prompt format: `completions`, `fill` or `chat`. None: as the entry of the model says, else as
            `default_api`.
        mask: The unit that a masked model masks to score: `word` or `piece`.
        exact: Whether to refuse a model whose completions are not exact.
        thinking_tokens: Maximum tokens of reasoning of a remote model, besides those of its answer; None: as
            its entry says, else without a separate limit.
    """

    threads: int = 0
    gpu_layers: str = "auto"
    base_url: str | None = None
    entries: tuple[ModelEntry, ...] = ()
    api: str | None = None
    mask: str = "word"
    exact: bool = False
    thinking_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(OpeningChoices):
    """How to open a model.

    Attributes:
        context: Maximum number of tokens of context of a local model; 0 for automatic.
        progress: Called with the loading progress of a local model. It does not affect the model.
    """

    context: int = 0
    progress: Progress | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, choices: OpeningChoices) -> Self:
        """The options for choices that are among others, such as those of a run."""
        return cls(**{field.name: getattr(choices, field.name) for field in fields(OpeningChoices)})


@dataclass(frozen=True, slots=True)
class Backend:
    """One kind of model.

    Attributes:
        form: The form of its names, for help texts.
        description: One-line description.
        accepts: Whether a name is of this kind.
        here: Whether such a model runs on the machine that opens it.
        fallback: Whether it applies only if no other kind accepts the name.
        takes: The options of `SOME_TAKE` that affect such a model; None: possibly all.
        packages: Packages needed to open one, besides those that are always installed.
    """

    form: str
    description: str
    accepts: Callable[[str], bool]
    open: Callable[[str, Options], Model]
    here: bool = True
    fallback: bool = False
    takes: frozenset[str] | None = None
    packages: tuple[str, ...] = ()

    @property
    def missing(self) -> str | None:
        """The first of its packages that is not installed; None if none is missing."""
        return next((name for name in self.packages if importlib.util.find_spec(name) is None), None)


def load(spec: str | None = None, options: Options | None = None) -> Model:
    """Open a model by name.

    Args:
        spec: `smollm2-135m`, the id of an offered code model, a path to a GGUF file,
            `hf:owner/repo/file.gguf`, `onnx:FOLDER`, or `remote:NAME`. None: the default model.
        options: How to open it.

    Raises:
        ModelError: there is no such model, or it cannot be opened, or it is not exact although that was
            requested; the message gives the reason.
    """
    spec, options = spec or default_model().spec, options or Options()
    entry = entry_named(spec, options.entries)
    model = _backend(spec).open(spec, options) if entry is None else _open_entry(entry, options)
    try:
        if options.exact and not model.offers(Capability.EXACT):
            raise ModelError(
                f"the completions of {model.info.name} are not exact: other prompts in the batch may change "
                f"them",
                "Omit --exact, or choose a local model that decodes exactly",
            )
    except BaseException:
        model.close()
        raise
    return model


def default_api(spec: str) -> Api:
    """The prompt format of a model if the user names none: completions, unless another was measured better.

    Args:
        spec: See `load`; not the name of an entry.
    """
    offered = code_model(spec)
    return Api.COMPLETIONS if offered is None else offered.api


def runs_here(spec: str, entries: Iterable[ModelEntry] = ()) -> bool:
    """Whether a model with this name runs on the machine that opens it, not behind an endpoint.

    Args:
        spec: See `load`.
        entries: Named models of settings files.

    Raises:
        ModelError: there is no such model.
    """
    return entry_named(spec, entries) is None and _backend(spec).here


def takes(spec: str, option: str, entries: Iterable[ModelEntry] = ()) -> bool:
    """Whether an option of `SOME_TAKE` affects a model with this name.

    Args:
        spec: See `load`.
        option: Name of the option in `Options`.
        entries: Named models of settings files.

    Raises:
        ModelError: there is no such model.
    """
    if entry_named(spec, entries) is not None:
        return option in _BY_ENTRY
    taken = _backend(spec).takes
    return taken is None or option in taken


def _backend(spec: str) -> Backend:
    accepting = [backend for backend in BACKENDS.values() if backend.accepts(spec)]
    if not accepting:
        raise ModelError(
            f"there is no model {spec!r}",
            f"A model is one of: {', '.join(BACKENDS)}; or has a name in [models] of a settings file. "
            f"A model of a server is remote:{spec}",
        )
    return min(accepting, key=lambda backend: backend.fallback)


def _open_file(path: Path, spec: str, options: Options, name: str | None, sha256: str | None) -> Model:
    from counterlens.models.llama.model import LlamaModel
    from counterlens.models.local.model import DEFAULT_CONTEXT

    return LlamaModel(
        path,
        spec=spec,
        name=name,
        threads=options.threads,
        context=options.context or DEFAULT_CONTEXT,
        sha256=sha256,
        api=options.api or default_api(spec),
        gpu_layers=options.gpu_layers,
        progress=options.progress,
    )


def _open_embedded(spec: str, options: Options) -> Model:
    from counterlens.models.files import EMBEDDED_SHA256, embedded_model

    return _open_file(embedded_model(), spec, options, "SmolLM2-135M-Instruct Q4_1", EMBEDDED_SHA256)


def _open_code_model(spec: str, options: Options) -> Model:
    from counterlens.models.code_models import fetch_code_model

    offered = code_model(spec)
    if offered is None:
        raise ModelError(f"there is no offered model {spec}", "Choose another model")
    path = fetch_code_model(offered, options.progress)
    return _open_file(path, spec, options, f"{offered.name} {offered.quantization}", offered.sha256 or None)


def _open_path(spec: str, options: Options) -> Model:
    return _open_file(Path(spec).expanduser(), spec, options, None, None)


def _open_hub(spec: str, options: Options) -> Model:
    from counterlens.models.hub import fetch

    return _open_file(fetch(spec.removeprefix("hf:"), options.progress), spec, options, None, None)


def _open_export(spec: str, options: Options) -> Model:
    from counterlens.models.local.model import DEFAULT_CONTEXT
    from counterlens.models.onnx.model import ExportedModel, find_export

    return ExportedModel(
        find_export(spec.removeprefix("onnx:")),
        spec=spec,
        threads=options.threads,
        context=options.context or DEFAULT_CONTEXT,
        api=options.api or default_api(spec),
        mask=options.mask,
        progress=options.progress,
    )


def _open_remote(spec: str, options: Options) -> Model:
    from counterlens.models.remote.connecting import connect

    return connect(
        spec.partition(":")[2] or None,
        base_url=options.base_url,
        api=options.api or default_api(spec),
        thinking_tokens=options.thinking_tokens or 0,
    )


def _open_entry(entry: ModelEntry, options: Options) -> Model:
    from counterlens.models.remote.connecting import connect_entry

    return connect_entry(entry, api=options.api, thinking_tokens=options.thinking_tokens)


_OWN = (
    Backend(
        EMBEDDED_MODEL,
        "the embedded model: SmolLM2-135M-Instruct Q4_1, Apache-2.0, runs on this machine",
        lambda spec: spec == EMBEDDED_MODEL,
        _open_embedded,
        takes=_GGUF,
        packages=("llama_cpp",),
    ),
    Backend(
        CODE_MODEL,
        "a code model, downloaded once, runs on this machine",
        lambda spec: code_model(spec) is not None,
        _open_code_model,
        takes=_GGUF,
        packages=("llama_cpp",),
    ),
    Backend(
        "hf:OWNER/REPO/FILE.gguf",
        "a GGUF file from the Hugging Face hub, downloaded once, runs on this machine",
        lambda spec: spec.startswith("hf:"),
        _open_hub,
        takes=_GGUF,
        packages=("llama_cpp", "huggingface_hub"),
    ),
    Backend(
        "onnx:FOLDER|OWNER/REPO",
        "a Hugging Face model exported to ONNX, causal or masked, runs on this machine",
        lambda spec: spec.startswith("onnx:"),
        _open_export,
        takes=_LOCAL | {"mask"},
        packages=("onnxruntime", "tokenizers"),
    ),
    Backend(
        "remote[:NAME]",
        "a model behind an OpenAI-compatible endpoint: the code is sent there",
        lambda spec: spec == "remote" or spec.startswith("remote:"),
        _open_remote,
        here=False,
        takes=frozenset({"base_url", "thinking_tokens"}),
    ),
    Backend(
        "PATH/FILE.gguf",
        "a GGUF file, runs on this machine",
        lambda spec: spec.endswith(".gguf") or "/" in spec,
        _open_path,
        fallback=True,
        takes=_GGUF,
        packages=("llama_cpp",),
    ),
)

BACKENDS = Registry("counterlens.models", _OWN, name=lambda backend: backend.form, kind=Backend)
