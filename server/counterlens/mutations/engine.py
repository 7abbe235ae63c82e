"""From a source to its counterfactuals: one parse, all mutations, every site accounted for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from counterlens.errors import CounterlensError, SourceError
from counterlens.mutations import cuts
from counterlens.mutations.base import Counterfactual, Refusal
from counterlens.mutations.conflicts import compatible
from counterlens.mutations.edits import render
from counterlens.mutations.module import MODULE, Module
from counterlens.mutations.mutation import Mutation, MutationContext, Site, SiteRefused
from counterlens.mutations.registry import MUTATIONS


@dataclass(frozen=True, slots=True)
class Survey:
    """All that the mutations found in one source, in the order of the mutations and of the text."""

    counterfactuals: tuple[Counterfactual, ...]
    refusals: tuple[Refusal, ...]


def survey(
    source: str | Module,
    *,
    mutations: Iterable[str | Mutation] | None = None,
    function: str | None = None,
    seed: int = 0,
    prefix_ratio: cuts.Ratio = cuts.PREFIX_RATIO,
    without: Collection[str] = (),
) -> Survey:
    """Every counterfactual of a source, and every site that was refused, with the reason.

    Args:
        source: The text of a Python file, without byte-order mark; or the module, parsed before.
        mutations: Ids, or mutations of one's own; all registered ones by default.
        function: Only the sites in the function of this qualified name.
        seed: Decides the random names and orders.
        prefix_ratio: Which part of a function's lines stays before the cut, or a range of it.
        without: Assumptions that must not be made; the sites that need one are refused.

    Raises:
        SourceError: the source does not parse, or has no such function.
        CounterlensError: there is no such mutation.
    """
    made: list[Counterfactual] = []
    refused: list[Refusal] = []
    for found in stream(
        source, mutations=mutations, function=function, seed=seed, prefix_ratio=prefix_ratio, without=without
    ):
        if isinstance(found, Counterfactual):
            made.append(found)
        else:
            refused.append(found)
    return Survey(tuple(made), tuple(refused))


def counterfactuals(
    source: str | Module,
    *,
    mutations: Iterable[str | Mutation] | None = None,
    function: str | None = None,
    seed: int = 0,
    prefix_ratio: cuts.Ratio = cuts.PREFIX_RATIO,
    without: Collection[str] = (),
) -> list[Counterfactual]:
    """Every counterfactual of a source; the arguments and errors are those of `survey`."""
    found = survey(
        source, mutations=mutations, function=function, seed=seed, prefix_ratio=prefix_ratio, without=without
    )
    return list(found.counterfactuals)


def refusals(
    source: str | Module,
    *,
    mutations: Iterable[str | Mutation] | None = None,
    function: str | None = None,
    seed: int = 0,
) -> list[Refusal]:
    """Every site that was refused, with the reason; the arguments and errors are those of `survey`."""
    return list(survey(source, mutations=mutations, function=function, seed=seed).refusals)


def apply_everywhere(
    source: str | Module, mutation: str | Mutation, *, seed: int = 0, without: Collection[str] = ()
) -> str:
    """One mutation at every safe site of a source at once.

    Of sites whose changes would not go together, the first one is taken.

    Raises:
        SourceError: the source does not parse.
        CounterlensError: there is no such mutation.
    """
    chosen = _chosen((mutation,))[0]
    module = source if isinstance(source, Module) else Module(source)
    found = chosen.sites(MutationContext(module, seed))
    sites = [site for site in found if isinstance(site, Site) and not set(without) & set(site.assumptions)]
    edits = [edit for site in compatible(sites) for edit in site.edits]
    return render(module.data, edits).data.decode() if edits else module.source


def stream(
    source: str | Module,
    *,
    mutations: Iterable[str | Mutation] | None = None,
    function: str | None = None,
    seed: int = 0,
    prefix_ratio: cuts.Ratio = cuts.PREFIX_RATIO,
    without: Collection[str] = (),
) -> Iterator[Counterfactual | Refusal]:
    """As `survey`, one at a time: a counterfactual holds the whole source, a long file has thousands."""
    chosen = _chosen(MUTATIONS.values() if mutations is None else mutations)
    module = source if isinstance(source, Module) else Module(source)
    if function is not None:
        _check_function(module, function)
    context = MutationContext(module, seed)
    for mutation in chosen:
        for found in mutation.sites(context):
            at = found.at if isinstance(found, SiteRefused) else found.span[0]
            around = module.function_at(at)
            name = around.qualname if around else MODULE
            if function is not None and name != function:
                continue
            if isinstance(found, SiteRefused):
                yield Refusal(mutation.id, name, module.line(at), found.reason)
            elif excluded := sorted(set(without) & set(found.assumptions)):
                yield Refusal(mutation.id, name, module.line(at), f"it needs to assume {', '.join(excluded)}")
            else:
                yield _make(module, mutation, found, name, seed, prefix_ratio)


def _make(
    module: Module, mutation: Mutation, site: Site, function: str, seed: int, ratio: cuts.Ratio
) -> Counterfactual:
    points = cuts.wanted_points(module, site, ratio)
    rendered = render(module.data, site.edits, points or ())
    return Counterfactual(
        mutation=mutation.id,
        concept=mutation.concept,
        preserving=mutation.preserving,
        function=function,
        start_line=module.line(site.span[0]),
        end_line=module.line(max(site.span[0], site.span[1] - 1)),
        description=site.description,
        source=rendered.data.decode(),
        changes=rendered.changes,
        cut=cuts.cut(points, rendered, own=site.cut is not None),
        seed=seed,
        assumptions=site.assumptions,
    )


def _chosen(mutations: Iterable[str | Mutation]) -> list[Mutation]:
    chosen: list[Mutation] = []
    for mutation in mutations:
        if isinstance(mutation, Mutation):
            chosen.append(mutation)
        elif mutation in MUTATIONS:
            chosen.append(MUTATIONS[mutation])
        else:
            raise CounterlensError(f"there is no mutation {mutation!r}", f"There are {', '.join(MUTATIONS)}")
    return chosen


def _check_function(module: Module, function: str) -> None:
    names = [known.qualname for known in module.functions]
    if function != MODULE and function not in names:
        there = f"It has {', '.join(names[:12])}{', …' if len(names) > 12 else ''}" if names else None
        raise SourceError(f"there is no function {function} in the source", there)
