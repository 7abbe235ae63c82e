"""The method of the pair probes: their own, and that of the protocol `cacp` (Hooda et al. 2024)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from counterlens.errors import OptionError
from counterlens.metrics.table import Table
from counterlens.mutations.languages import MutatedLanguage, mutated
from counterlens.mutations.mutation import AnyMutation
from counterlens.probes.pairs.published import CACP, PAPER_ORDER, SWAP
from counterlens.probes.pairs.record import PairsRecord
from counterlens.probes.protocols import Methods


class PairsMethod:
    """What the pair probes do without a protocol.

    Attributes:
        sensitive_only: Whether pairs are judged only by tests that are sensitive to their hole.
        repeatable: Whether a remote model must complete the same code in the same way twice.
        run_tables: Whether a report of a run has tables of its own, beside those of the probe.
    """

    sensitive_only = True
    repeatable = False
    run_tables = True

    def check_mutations(self, mutations: Sequence[str]) -> None:
        """Check that mutations belong to the method.

        Raises:
            OptionError: one of them does not.
        """

    def mutations(self, language: str) -> list[str]:
        """The default mutations: all that keep the meaning."""
        return [
            name
            for name, mutation in mutated(language).mutations.items()
            if mutation.preserving and not mutation.needs_observation
        ]

    def forms(self, mutated_language: MutatedLanguage) -> dict[str, AnyMutation]:  # noqa: ARG002
        """The mutations that have a form of their own, by id.

        Raises:
            OptionError: the language has no such form.
        """
        return {}

    def tables(self, models: Mapping[str, Sequence[PairsRecord]]) -> tuple[Table, ...]:
        """The tables of models side by side."""
        from counterlens.probes.pairs.tables import effect_tables  # one function has no tables

        return tuple(effect_tables(models))


class Cacp(PairsMethod):
    """The protocol `cacp`: its population and its tables; see `published.py`."""

    sensitive_only = False
    repeatable = True
    run_tables = False

    def check_mutations(self, mutations: Sequence[str]) -> None:
        """Check that the paper has the mutations; see `PairsMethod`."""
        others = [name for name in mutations if name not in PAPER_ORDER]
        if others:
            raise OptionError(
                f"--protocol {CACP} has no mutation {others[0]}",
                f"Its mutations are {', '.join(PAPER_ORDER)}; --add-mutation {others[0]} asks about it, too",
            )

    def mutations(self, language: str) -> list[str]:  # noqa: ARG002
        """The mutations of the paper."""
        return list(PAPER_ORDER)

    def forms(self, mutated_language: MutatedLanguage) -> dict[str, AnyMutation]:
        """The forms of the paper; see `PairsMethod`."""
        if mutated_language.published is None:
            raise OptionError(
                f"--protocol {CACP} supports Python only, the language of the paper's programs",
                "Leave out --protocol",
            )
        return dict(mutated_language.published)

    def tables(self, models: Mapping[str, Sequence[PairsRecord]]) -> tuple[Table, ...]:
        """The paper's tables, by model."""
        from counterlens.probes.pairs.published_tables import published_tables

        repair = next((record.probe == "repair" for records in models.values() for record in records), False)
        return published_tables(models, repair=repair)


METHODS = Methods(PairsMethod(), cacp=Cacp())


def forms_of(
    protocol: str, mutations: Sequence[str], reach: int, language: str = "python"
) -> list[str | AnyMutation]:
    """The mutations to probe with, each in the form of the options.

    Args:
        protocol: The protocol that is followed, if any.
        mutations: Ids.
        reach: Maximum distance, in statements, of statements that are swapped.
        language: The id of the language of the functions.

    Raises:
        OptionError: the language has no such form.
    """
    mutated_language = mutated(language)
    forms = METHODS[protocol].forms(mutated_language)
    if reach > 1 and mutated_language.reaching is None:
        raise OptionError(
            f"--reach {reach} supports Python only: in other languages, only adjacent statements are swapped",
            "Leave out --reach",
        )
    if reach > 1 and mutated_language.reaching is not None:
        forms[SWAP] = mutated_language.reaching(reach)
    return [forms.get(name, name) for name in mutations]
