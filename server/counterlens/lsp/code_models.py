"""Commands: `counterlens.codeModels` lists offered models by name; `counterlens.fetchModel` fetches one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from counterlens.errors import Cancelled, CounterlensError, ModelError
from counterlens.lsp.base import CounterlensServer
from counterlens.lsp.language import recognised
from counterlens.lsp.model_host import ModelHost
from counterlens.lsp.progress import with_progress
from counterlens.lsp.settings import EditorSettings
from counterlens.lsp.targets import plain
from counterlens.models.code_models import CodeModel, code_models, measured_speed, noted_speed
from counterlens.models.registry import DEFAULT_MODEL
from counterlens.progress import Steps

LIST_COMMAND = "counterlens.codeModels"
FETCH_COMMAND = "counterlens.fetchModel"
_MEGA = 1_000_000


@dataclass(frozen=True, slots=True)
class OfferedModel:
    """One offered model."""

    id: str
    name: str
    spec: str
    repository: str
    licence: str
    commercial: bool
    parameters: int
    bytes: int
    alsoKnown: tuple[str, ...]  # noqa: N815 - as on the wire
    path: str = ""
    speed: float | None = None


@dataclass(frozen=True, slots=True)
class CodeModelListing:
    """The answer of `counterlens.codeModels`."""

    models: tuple[OfferedModel, ...]


@dataclass(frozen=True, slots=True)
class FetchedModel:
    """The answer of `counterlens.fetchModel`."""

    ok: bool
    error: str = ""
    hint: str = ""
    cancelled: bool = False
    spec: str = ""
    path: str = ""


def register(server: CounterlensServer) -> None:
    """Add this feature."""
    server.command(LIST_COMMAND)(_list)
    server.command(FETCH_COMMAND)(_fetch)


async def _list(ls: CounterlensServer, argument: Any = None) -> CodeModelListing:
    """List the offered models; with `{measure}`, measure this machine's speed first if it is unknown."""
    measure = bool(plain(argument).get("measure"))
    return CodeModelListing(await ls.offload(_offered, ls.host, ls.settings, measure))


def _offered(host: ModelHost, settings: EditorSettings, measure: bool) -> tuple[OfferedModel, ...]:
    embedded = noted_speed()
    if embedded is None and measure:
        try:
            with host.use_model(replace(settings, model=DEFAULT_MODEL)) as model:
                embedded = measured_speed(model.model)
        except ModelError:  # not on this machine, so nothing is known
            embedded = None
    return tuple(_shown(one, embedded) for one in code_models())


def _shown(one: CodeModel, embedded: float | None) -> OfferedModel:
    from counterlens.models.hub_file import HubFile  # imports an HTTP client

    path = HubFile(one.repository, one.file).here()
    return OfferedModel(
        id=one.id,
        name=one.name,
        spec=one.spec,
        repository=one.repository,
        licence=one.licence,
        commercial=one.commercial,
        parameters=one.parameters,
        bytes=one.bytes,
        alsoKnown=one.also_known,
        path=str(path) if path else "",
        speed=None if embedded is None else round(one.speed(embedded), 2),
    )


async def _fetch(ls: CounterlensServer, argument: Any = None) -> FetchedModel:
    """Fetch the model of `{id}`; a cancelled download keeps the downloaded part."""
    wanted = str(plain(argument).get("id") or "")
    found = next((one for one in code_models() if one.id == wanted), None)
    try:
        if found is None:
            raise ModelError(f"there is no offered model {wanted}", "Choose another model")
        path = await with_progress(ls, f"Downloading {found.name}", lambda steps: _fetched(found, steps))
    except Cancelled:
        return FetchedModel(ok=False, cancelled=True)
    except CounterlensError as error:
        return FetchedModel(ok=False, error=recognised(error.message), hint=recognised(error.hint or ""))
    return FetchedModel(ok=True, spec=found.spec, path=path)


def _fetched(one: CodeModel, steps: Steps) -> str:
    from counterlens.models.hub_file import HubFile

    shown = -1

    def progress(done: int, total: int) -> None:
        nonlocal shown
        share = 100 * done // max(1, total)
        if share != shown:
            shown = share
            steps.report(f"{done // _MEGA} of {total // _MEGA} MB", share, 100)

    return str(HubFile(one.repository, one.file).fetched(progress, steps.cancel))
