"""A clone may be anywhere: nothing depends on its folder's name, on its path, or on files beside it."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
DEPENDS = {  # what would depend on it, and what to write instead
    r"""f"file://\{|`file://\$\{|vscode-remote://[^`]*\$\{file\}""": "Path.as_uri() or pathToFileURL()",
    r"""import\.meta\.url\)\.pathname""": "fileURLToPath()",
    r"""process\.argv\[1\] ===""": "isProgram() of scripts/paths.mjs",
    r"""["'`]/counterlens/["'`] (not )?in\b|includes\(["'`]/counterlens/""": "the folder of the package",
    r"""\bROOT\.parent\b|parents\[\d\]\.parent\b|join\(root, "\.\.""": "files of the repository",
    r"""skipif\(not \w+[^)]*\.(is_dir|is_file|exists)\(\)""": "samples, as in tests/published",
}
SOURCES = [
    path
    for folder in ("tests", "scripts", "client", "benchmarks")
    for suffix in ("py", "mjs", "ts")
    for path in (ROOT / folder).rglob(f"*.{suffix}")
    if not {"node_modules", "dist", "published", "run"} & {*path.relative_to(ROOT).parts}
]


def test_nothing_depends_on_where_the_repository_is() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}: use {better}"
        for path in SOURCES
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        for pattern, better in DEPENDS.items()
        if re.search(pattern, line) and path != Path(__file__)
    ]
    assert not wrong, "\n".join(wrong)
