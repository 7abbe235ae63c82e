"""Computes the counterfactuals of a source: one parse, all mutations, and a result for every site."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from counterlens.errors import SourceError
from counterlens.languages.registry import title_of
from counterlens.mutations import cuts
from counterlens.mutations.base import Concept, Counterfactual, Cut, Refusal
from counterlens.mutations.edits import Edit, render
from counterlens.mutations.languages import PARSED_SOURCES, MutatedLanguage, chosen_mutation, mutated, parse
from counterlens.mutations.mutation import AnyMutation, Site, SiteRefused, compatible
from counterlens.mutations.parsed import FunctionSpan, ParsedSource
from counterlens.syntax.functions import MODULE
from counterlens.syntax.tree import deep_recursion


@dataclass(frozen=True, slots=True)
class Survey:
    """All results of the mutations for one source, ordered by mutation and then by position."""

    counterfactuals: tuple[Counterfactual, ...]
    refusals: tuple[Refusal, ...]


def survey(
    source: str | ParsedSource,
    *,
    mutations: Iterable[str | AnyMutation] | None = None,
    function: str | None = None,
    seed: int = 0,
    prefix_ratio: cuts.Ratio = cuts.PREFIX_RATIO,
    without: Collection[str] = (),
    every_cut: bool = False,
    language: str = "python",
) -> Survey:
    """Find all counterfactuals of a source, and all refused sites with the reasons.

    Args:
        source: The text of a file, without byte-order mark; or an already parsed source.
        mutations: Ids, or mutation objects; all registered ones by default.
        function: Qualified name of the function whose sites to use; `MODULE` for all, as parts of one whole
            program that no other code imports; None for all.
        seed: Random seed of the names and orders.
        prefix_ratio: Share of a function's lines before the cut, or a range of it.
        without: Assumptions that are not allowed; sites that need one are refused.
        every_cut: Whether counterfactuals list all their possible cuts.
        language: The id of the text's language.

    Raises:
        SourceError: the source does not parse, or has no such function.
        CounterlensError: there is no such mutation.
    """
    made: list[Counterfactual] = []
    refused: list[Refusal] = []
    with deep_recursion():
        module, mutated_language = _read(source, language)
        wanted = mutated_language.mutations if mutations is None else mutations
        chosen = [chosen_mutation(module.language, mutation) for mutation in wanted]
        if function is not None:
            _check_function(module, function)
        if function == MODULE:
            chosen = [mutation.for_whole_program() for mutation in chosen]
        for mutation in chosen:
            for site in _sites(mutation, module, seed):
                at = site.at if isinstance(site, SiteRefused) else site.span[0]
                around = module.program if function == MODULE else module.function_at(at) or module.program
                if function is not None and around.qualname != function:
                    continue
                reason = _why_not(site, without)
                if not isinstance(site, Site) or reason is not None:
                    refused.append(Refusal(mutation.id, around.qualname, module.line(at), reason or ""))
                    continue
                counterfactual = make(module, mutation, site, around, seed, prefix_ratio)
                if every_cut:
                    counterfactual = replace(
                        counterfactual, other_cuts=_other_cuts(module, site, around, prefix_ratio)
                    )
                made.append(counterfactual)
    for name in mutated_language.missing if mutations is None else ():
        missing = f"{title_of(module.language)} does not have it yet"
        refused.append(Refusal(name, function or MODULE, 1, missing))
    return Survey(tuple(made), tuple(refused))


def counterfactuals(source: str | ParsedSource, **options: Any) -> list[Counterfactual]:
    """All counterfactuals of a source; arguments and errors are those of `survey`."""
    return list(survey(source, **options).counterfactuals)


def refusals(source: str | ParsedSource, **options: Any) -> list[Refusal]:
    """All refused sites with the reasons; arguments and errors are those of `survey`."""
    return list(survey(source, **options).refusals)


def apply_everywhere(
    source: str | ParsedSource, mutation: str | AnyMutation, *, seed: int = 0, without: Collection[str] = ()
) -> str:
    """Apply one mutation at every safe site of a source at once.

    The first of several conflicting sites is used.

    Raises:
        SourceError: the source does not parse.
        CounterlensError: there is no such mutation.
    """
    module, _ = _read(source)
    candidates = _sites(chosen_mutation(module.language, mutation), module, seed)
    sites = [
        site for site in candidates if isinstance(site, Site) and not set(without) & set(site.assumptions)
    ]
    edits = [edit for site in compatible(sites) for edit in site.edits]
    return render(module.data, edits).data.decode() if edits else module.source


def everywhere(
    source: str | ParsedSource,
    mutation: str | AnyMutation,
    function: str,
    *,
    seed: int = 0,
    without: Collection[str] = (),
) -> Survey:
    """Apply one mutation at every safe site of one function at once, nested functions included.

    The outer of sites whose changes conflict, as in nested ones, is applied first, and the others to the
    result.

    Args:
        source: See `survey`.
        mutation: An id, or a mutation object.
        function: The qualified name of the function; `MODULE` for the whole program.
        seed: Random seed of the names and choices.
        without: Assumptions that are not allowed; sites that need one are refused.

    Returns:
        One counterfactual without a cut, described by its first site, or none if there is no site; and the
        refused sites.

    Raises:
        SourceError: the source does not parse, or has no such function.
        CounterlensError: there is no such mutation.
    """
    original, mutated_language = _read(source)
    module, chosen = original, chosen_mutation(original.language, mutation)
    _check_function(module, function)
    if function == MODULE:
        chosen = chosen.for_whole_program()
    sites, refused = sites_in(module, chosen, function, seed, without)
    done: list[Site] = []
    lines: list[int] = []
    while sites:
        together = compatible(sites)
        lines = lines or [module.line(at) for site in together for at in (site.span[0], max(site.span) - 1)]
        done += together
        later = [site.span[0] for site in sites if site not in together]
        rendered = render(module.data, [edit for site in together for edit in site.edits], later)
        module, left = mutated_language.parse(rendered.data.decode()), set(rendered.points.values())
        again, _ = sites_in(module, chosen, function, seed, without) if left else ([], [])
        sites = [site for site in again if site.span[0] in left]
    if not done:
        return Survey((), tuple(refused))
    made = Counterfactual(
        mutation=chosen.id,
        concept=chosen.concept,
        preserving=chosen.preserving,
        function=function,
        start_line=min(lines),
        end_line=max(lines),
        description=done[0].description,
        original=original.data,
        edits=(_difference(original.source, module.source),),
        cut=None,
        seed=seed,
        assumptions=tuple(sorted({assumed for site in done for assumed in site.assumptions})),
    )
    return Survey((made,), tuple(refused))


def sites_in(
    module: ParsedSource, mutation: AnyMutation, function: str, seed: int, without: Collection[str] = ()
) -> tuple[list[Site], list[Refusal]]:
    """The safe sites in a function and in the functions nested in it, and the refusals."""
    around = [span for span in (module.program, *module.functions) if span.qualname == function]
    sites: list[Site] = []
    refused: list[Refusal] = []
    for site in _sites(mutation, module, seed):
        at = site.at if isinstance(site, SiteRefused) else site.span[0]
        if not any(span.start <= at < span.end for span in around):
            continue
        reason = _why_not(site, without)
        if isinstance(site, Site) and reason is None:
            sites.append(site)
        else:
            refused.append(Refusal(mutation.id, function, module.line(at), reason or ""))
    return sites, refused


def _sites(mutation: AnyMutation, module: ParsedSource, seed: int) -> Sequence[Site | SiteRefused]:
    """The sites in the whole source; those of registered mutations are kept for the other functions.

    The language checks those of a mutation that claims to keep the meaning; a placebo must.
    """
    mutated_language = mutated(module.language)
    registered = mutated_language.mutations.get(mutation.id) is mutation
    kept, key = _kept_sites(module.language, module.source) if registered else {}, (mutation.id, seed)
    if key not in kept:
        context = mutated_language.context(module, seed)
        sites = [*mutation.sites(context)]
        if mutation.preserving and mutation.concept is not Concept.NOTHING:
            sites = [
                mutated_language.checked(context, site) if isinstance(site, Site) else site for site in sites
            ]
        kept[key] = tuple(sites)
    return kept[key]


@lru_cache(maxsize=PARSED_SOURCES)
def _kept_sites(_language: str, _source: str) -> dict[tuple[str, int], tuple[Site | SiteRefused, ...]]:
    """The known sites of a source, by mutation and seed."""
    return {}


def _why_not(site: Site | SiteRefused, without: Collection[str]) -> str | None:
    """The reason why a site is refused; None if it is not."""
    if isinstance(site, SiteRefused):
        return site.reason
    excluded = sorted(set(without) & set(site.assumptions))
    return f"it needs to assume {', '.join(excluded)}" if excluded else None


def _difference(text: str, other: str) -> Edit:
    """The edit from the first to the last character in which two texts differ."""
    start = _alike(text, other)
    behind = _alike(text[start:][::-1], other[start:][::-1])
    before, end = len(text[:start].encode()), len(text[: len(text) - behind].encode())
    return Edit(before, end, (other[start : len(other) - behind],))


def _alike(text: str, other: str) -> int:
    """Number of characters that two texts have in common at their beginning."""
    return next(
        (at for at, (a, b) in enumerate(zip(text, other, strict=False)) if a != b),
        min(map(len, (text, other))),
    )


def make(
    module: ParsedSource,
    mutation: AnyMutation,
    site: Site,
    function: FunctionSpan,
    seed: int,
    ratio: cuts.Ratio = cuts.PREFIX_RATIO,
) -> Counterfactual:
    """The counterfactual of one site of a function or of the program; arguments as in `survey`."""
    points = cuts.wanted_points(module, site, function, ratio)
    rendered = render(module.data, site.edits, points or ())
    return Counterfactual(
        mutation=mutation.id,
        concept=mutation.concept,
        preserving=mutation.preserving,
        function=function.qualname,
        start_line=module.line(site.span[0]),
        end_line=module.line(max(site.span[0], site.span[1] - 1)),
        description=site.description,
        original=module.data,
        edits=site.edits,
        cut=cuts.cut(points, rendered, own=site.cut is not None),
        seed=seed,
        assumptions=site.assumptions,
    )


def _other_cuts(
    module: ParsedSource, site: Site, function: FunctionSpan, ratio: cuts.Ratio
) -> tuple[Cut, ...]:
    points = cuts.other_points(module, site, function, ratio)
    rendered = render(module.data, site.edits, [at for _, at in points])
    return tuple(made for point in points if (made := cuts.cut(point, rendered)) is not None)


def _read(source: str | ParsedSource, language: str = "python") -> tuple[ParsedSource, MutatedLanguage]:
    """The parsed source and its language."""
    if isinstance(source, str):
        return parse(language, source), mutated(language)
    return source, mutated(source.language)


def _check_function(module: ParsedSource, function: str) -> None:
    names = [span.qualname for span in module.functions]
    if function != MODULE and function not in names:
        there = f"It has {', '.join(names[:12])}{', …' if len(names) > 12 else ''}" if names else None
        raise SourceError(f"there is no function {function} in the source", there)
