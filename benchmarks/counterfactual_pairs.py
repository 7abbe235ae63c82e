"""Counts the counterfactual pairs of Hooda et al. 2024, Table 1. No model is needed.

    python benchmarks/counterfactual_pairs.py OUT DATA [DATA ...] [--limit N] [--seed N]

Prepares the completion probe under the protocol cacp for every function of each dataset (a name or a path,
as `counterlens bench --data` takes it): the function's own tests run on it, and on the program of each
counterfactual. OUT gets one JSON line per function, in the seeded order; an interrupted run goes on there.
`python benchmarks/publish.py OUT NAME` keeps the lines in the repository.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from counterlens.datasets import open_dataset
from counterlens.errors import CounterlensError
from counterlens.models.base import Completion, Model, ModelInfo, Prompt
from counterlens.probes.dataset_subjects import targets_of
from counterlens.probes.pairs.discrimination import discriminating
from counterlens.probes.pairs.preparing import CompletionOptions, prepare
from counterlens.probes.pairs.published import CACP
from counterlens.probes.probe import Context, Target
from counterlens.sandbox.registry import best_sandbox

OPTIONS = CompletionOptions(protocol=CACP, **CompletionOptions.published[CACP])
_SANDBOX = cache(best_sandbox)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("data", nargs="+")
    parser.add_argument("--limit", type=int, help="functions per dataset; all by default")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    known = given.out.read_text().splitlines() if given.out.exists() else []
    done = {(line["dataset"], line["problem"]) for line in map(json.loads, known)}
    manifests = {}
    for data in given.data:
        dataset = open_dataset(data)
        provenance = asdict(dataset.provenance) | {"path": dataset.path.name}
        options = {"completion": {"protocol": CACP, "seed": given.seed, "limit": given.limit}}
        manifests[dataset.id] = {"dataset": provenance, "options": options}
        given.out.with_suffix(".manifests.json").write_text(json.dumps(manifests, indent=1, default=str))
        targets = targets_of(dataset, sandbox=_SANDBOX())
        random.Random(given.seed).shuffle(targets)  # noqa: S311 - no secret
        for target in targets[: given.limit]:
            if (dataset.id, target.name) not in done:
                line = {"dataset": dataset.id, "problem": target.name, **pairs_of(target)}
                with given.out.open("a") as opened:
                    opened.write(json.dumps(line) + "\n")


class NoModel(Model):
    """Nothing is asked."""

    info = ModelInfo("none", "no model", "0", "local", frozenset())

    def complete(self, prompts: Sequence[Prompt], **_options: Any) -> list[Completion]:
        """Like `Model.complete`."""
        raise NotImplementedError


def pairs_of(target: Target) -> dict[str, object]:
    """The counterfactual pairs of a function, and those that were left out, with the reasons."""
    try:
        prepared = prepare(Context(NoModel(), _SANDBOX), target, OPTIONS)
    except CounterlensError as error:
        return {"left_out": str(error), "pairs": [], "dropped": []}
    exposed = discriminating(prepared.judging, prepared.gaps, prepared.judging.steps)
    return {
        "left_out": "",
        "pairs": [
            {"mutation": made.mutation, "line": made.start_line, "discriminating": verdict}
            for made, verdict in zip(prepared.asked, exposed, strict=True)
        ],
        "dropped": [made.mutation for made, _ in prepared.dropped],
    }


if __name__ == "__main__":
    main()
