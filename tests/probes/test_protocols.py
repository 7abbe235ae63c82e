"""The published protocols, as the documentation lists them."""

from __future__ import annotations

import re
from pathlib import Path

from counterlens.probes.options import specs
from counterlens.probes.protocols import PROTOCOLS
from counterlens.probes.registry import PROBES

REPOSITORY = Path(__file__).parents[2]


def tasks_of(protocol: str) -> list[str]:
    declared = ((task, specs(probe.options).get("protocol")) for task, probe in PROBES.items())
    return [task for task, spec in declared if spec is not None and protocol in spec.choices]


def test_the_page_lists_the_protocols_with_their_papers_and_tasks() -> None:
    page = (REPOSITORY / "docs" / "protocols.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([\w-]+)` \| ([^|]+) \| ([^|]+) \| \[results\]\((.+)\) \|$", page, re.MULTILINE)
    listed = {name: (paper, sorted(re.findall("`([^`]+)`", tasks))) for name, paper, tasks, _ in rows}
    assert listed == {name: (one.paper, sorted(tasks_of(name))) for name, one in PROTOCOLS.items()}
    assert all((REPOSITORY / "docs" / link).exists() for *_, link in rows)


def test_a_script_that_shares_no_code_computes_the_cells_of_each() -> None:
    for protocol in PROTOCOLS:
        name = f"{protocol.replace('-', '_')}.py"
        script = (REPOSITORY / "benchmarks" / "recompute" / name).read_text(encoding="utf-8")
        assert script.count("\n") <= 150, protocol
        assert not re.search(r"^\s*(?:from|import) counterlens", script, re.MULTILINE), protocol
