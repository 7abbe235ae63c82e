"""The documentation as a site: it builds without a warning, loads nothing from elsewhere, omits nothing."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from counterlens.cli.main import cli
from counterlens.probes.options import declared
from counterlens.probes.registry import PROBES

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


def test_every_page_is_in_the_navigation(site: Path) -> None:
    start = (site / "index.html").read_text(encoding="utf-8")
    for page in (ROOT / "docs").rglob("*.md"):
        name = page.relative_to(ROOT / "docs").with_suffix(".html").as_posix()
        assert f'href="{name}"' in start, f"{name} is not in the navigation of mkdocs.yml"


def test_it_loads_nothing_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        loaded = re.findall(r'<(?:script|img|link|iframe)\b[^>]*?(?:src|href)="(https?://[^"]+)"', text)
        assert not loaded, f"{page.relative_to(site)} loads {loaded}"


def test_the_reference_names_everything(site: Path) -> None:
    def page(name: str) -> str:
        return (site / "reference" / f"{name}.html").read_text(encoding="utf-8")

    contributes = json.loads((ROOT / "client" / "package.json").read_text(encoding="utf-8"))["contributes"]
    configuration = contributes["configuration"]
    groups = configuration if isinstance(configuration, list) else [configuration]
    for name in (name for group in groups for name in group["properties"]):
        assert name in page("settings")
    for command in contributes["commands"]:
        assert command["command"] in page("editor-commands")
    for name in cli.list_commands(click.Context(cli)):
        assert f"counterlens {name}" in page("command-line")
    for name, probe in PROBES.items():
        assert f"<code>{name}</code>" in page("probes")
        assert probe.record.__name__ in page("records")
    for spec, _ in declared(PROBES.values()).values():
        assert f"<code>{spec.flag}</code>" in page("probes")
    assert "average_mutation_effect" in page("metrics")
