"""The manifest: everything on which a record depends, so that others can repeat it."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any

import counterlens
from counterlens.evaluation.plan import Plan
from counterlens.judging.languages import judging_of
from counterlens.models.base import Capability, Model, ModelInfo
from counterlens.models.entries import entry_named
from counterlens.models.sentences import ModelSentences
from counterlens.probes.probe import Need, Target
from counterlens.probes.registry import probe_named
from counterlens.sandbox.registry import choose
from counterlens.text import sha256_of

_PARAMETERS = ("limit", "seed", "since", "paths", "minutes", "thinking_tokens")
# A commit that leaves the prompts unchanged, as `plan` and `dataset.sha256` show, does not matter to a run,
# nor does another time limit: `--resume` refuses one for a run that had none.
# The identity of a model already covers its number of parameters.
_HARMLESS = {
    *("model.details.threads", "model.details.parameters", "dataset.path", "dataset.version"),
    *("model.entry.concurrency", "model.entry.key", "model.entry.requests_per_minute"),
    *("model.entry.tokens_per_minute", "model.entry.price", "model.details.asked"),
    *("model.entry.price.input", "model.entry.price.output", "model.entry.price.currency"),
    *("model.entry.price.cached", "parameters.minutes"),
}
_PACKAGES = ("llama-cpp-python", "numpy", "tree-sitter", "tree-sitter-python", "libcst")


def manifest(plan: Plan, spec: str, info: ModelInfo, encoder: ModelSentences | None = None) -> dict[str, Any]:
    """The manifest of a run for one model, which the user named by `spec`.

    Keys: `counterlens`, `python`, `platform`, `packages` (versions); `tasks`, `parameters`; `options` (of
        each task); `settings_file` (name, SHA-256, and the choices that it made; null without one); `model`
        (identity, name, options and template; `entry`, its entry in a settings file, if any, without its
        key); `encoder` (identity and name of the sentence-similarity model, if one is named); `dataset`
        (licence, version, SHA-256, records); `not_drawn` (problems that cannot be probed, with the reason; if
        there are any); `judged_by` (test files, interpreter and installed packages of the repositories of the
        functions, see `JudgedLanguage.circumstances`; if there are any); `translated_from` (SHA-256 and
        records of the data that functions are translated from, by its language; if they are); `plan`
        (SHA-256 of names and sources of the functions); `sandbox`.
    """
    origin = plan.dataset.provenance
    settings = asdict(plan.settings)
    targets = [target for of_task in plan.targets.values() for target in of_task.values()]
    judged_by = _circumstances(targets)
    return {
        "counterlens": counterlens.__version__,
        "python": platform.python_version(),
        "platform": f"{sys.platform} {platform.machine()}",
        "packages": package_versions(),
        "tasks": list(plan.settings.tasks),
        "parameters": {name: settings[name] for name in _PARAMETERS}
        # Not named in the manifests of earlier versions, whose runs can be resumed.
        | ({"until_decided": True} if settings["until_decided"] else {})
        | {"api": plan.settings.served(spec)[0]},
        "options": settings["options"],
        "settings_file": settings["settings_file"],
        "model": {
            "asked_as": spec,
            **_names_of(info),
            "where": info.where,
            "context": info.context,
            "details": dict(info.details),
            **({"entry": asdict(entry)} if (entry := entry_named(spec, plan.settings.entries)) else {}),
        },
        "encoder": None if encoder is None else _names_of(encoder.model.info),
        "dataset": {
            "dataset": origin.dataset,
            "title": origin.title,
            "source": origin.source,
            "licence": origin.licence,
            "version": origin.version,
            "sha256": origin.sha256,
            "records": origin.records,
            "path": str(origin.path),
        },
        **({"not_drawn": dict(plan.not_drawn)} if plan.not_drawn else {}),
        **({"judged_by": judged_by} if judged_by else {}),
        **({"translated_from": _sources(plan)} if plan.translated_from else {}),
        "plan": plan.digest,
        "sandbox": choose().name,
    }


def _circumstances(targets: Sequence[Target]) -> dict[str, Any]:
    """What verdicts by the tests of projects depend on; empty if there are none."""
    files: dict[str, set[Path]] = {}
    for target in targets:
        if target.document.path is not None and target.judge is None:
            files.setdefault(target.document.language, set()).add(target.document.path)
    return {
        key: value
        for language, paths in files.items()
        for key, value in judging_of(language).circumstances(paths).items()
    }


def find_out(plan: Plan, model: Model) -> None:
    """Test the properties of a model that the manifest needs: exactness, if completions are requested.

    Raises:
        ModelError: the model cannot be asked.
    """
    if any(Need.COMPLETE in probe_named(task).needs for task in plan.settings.tasks):
        model.offers(Capability.EXACT)


def _sources(plan: Plan) -> dict[str, dict[str, Any]]:
    origins = {
        language: counterpart.dataset.provenance for language, counterpart in plan.translated_from.items()
    }
    return {
        language: {"sha256": origin.sha256, "records": origin.records} for language, origin in origins.items()
    }


def _names_of(info: ModelInfo) -> dict[str, str]:
    return {"id": info.id, "name": info.name, "identity": info.identity}


def canonical(document: dict[str, Any]) -> tuple[str, str]:
    """The SHA-256 of a manifest, and the hashed text."""
    text = json.dumps(document, sort_keys=True, ensure_ascii=False)
    return sha256_of(text), text


def differences(manifest: dict[str, Any], other: dict[str, Any], at: str = "") -> list[str]:
    """The differences of two manifests, such as `model.identity: a, now b`; harmless ones are skipped."""
    changes = []
    for key in sorted({*manifest, *other}):
        where, a, b = f"{at}{key}", manifest.get(key), other.get(key)
        if where in _HARMLESS or _plain(a) == _plain(b):
            continue
        if isinstance(a, dict) and isinstance(b, dict):
            changes += differences(a, b, f"{where}.")
        else:
            changes.append(f"{where}: {a}, now {b}")
    return changes


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value))


def package_versions() -> dict[str, str | None]:
    """The versions of the packages on which records depend; None for one that is not installed."""
    return {name: _version(name) for name in _PACKAGES}


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
