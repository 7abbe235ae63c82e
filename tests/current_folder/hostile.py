"""A folder of other people: whatever Python, git, pip, uv or an editor could load from it leaves a mark."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path
from pkgutil import iter_modules

from tests.conftest import short_model

SHOP = '''def total(prices, limit):
    """The sum of the prices below a limit.

    >>> total([1, 5], 3)
    1
    """
    whole = 0
    for price in prices:
        if price < limit:
            whole = whole + price
    return whole
'''
PROBLEM = (
    r'{"task_id": "HumanEval/0", "prompt": "def add(a, b):\n    \"\"\"Add.\"\"\"\n", "canonical_solution":'
    r' "    c = a\n    if b:\n        c = c + b\n    return c\n", "test": "def check(candidate):\n'
    r'    assert candidate(1, 2) == 3\n", "entry_point": "add"}'
)
# It leaves a mark and hands over to the real module, so that nothing else tells.
MODULE = """import sys
with open({mark!r}, "a") as mark:
    mark.write(__name__ + "\\n")
path = sys.path[:]
sys.path[:] = [entry for entry in path if entry not in ("", ".", {folder!r})]
del sys.modules[__name__]
try:
    __import__(__name__)
finally:
    sys.path[:] = path
"""
PROGRAM = "#!/bin/sh\necho {name} >> {mark}\nexit 1\n"
PROGRAMS = ("git", "java", "javac", "bwrap", "python", "python3", "uv", "gcc", "ldconfig", "uname", "file")
GROUPS = ("probes", "models", "mutations", "datasets", "languages")


def module_names() -> set[str]:
    """The top-level name of every module that a process of this interpreter could import.

    These are the modules of the standard library and of all packages, and two that Python tries to import.
    """
    names = {*sys.stdlib_module_names, *packages_distributions(), *(each.name for each in iter_modules())}
    return names | {"sitecustomize", "usercustomize"}


class HostileFolder:
    """The folder, below another one that also holds the mark.

    Args:
        above: An empty folder.
    """

    def __init__(self, above: Path) -> None:
        self._mark = above / "mark"
        self.path = above / "shop"
        self.path.mkdir()
        module = MODULE.format(mark=str(self._mark), folder=str(self.path))
        for name in {*module_names(), "conftest", "evil"}:
            (self.path / f"{name}.py").write_text(module)
        for name in (
            "git",
            "java",
            "javac",
            "bwrap",
            "python",
            "python3",
            "uv",
            "gcc",
            "ldconfig",
            "uname",
            "file",
        ):
            program = self.path / name
            program.write_text(PROGRAM.format(name=name, mark=self._mark))
            program.chmod(0o755)
        metadata = self.path / "evil-1.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n")
        entries = "".join(f"[counterlens.{group}]\nevil = evil:EVIL\n" for group in GROUPS)
        (metadata / "entry_points.txt").write_text(entries)
        for name, text in {
            "evil.pth": f"import sys; open({str(self._mark)!r}, 'a').write('pth')",
            "pyvenv.cfg": f"home = {self.path}\ninclude-system-site-packages = true\n",
            ".env": f"PYTHONPATH={self.path}\nPYTHONSTARTUP={self.path}/evil.py\n",
            "pip.conf": f"[global]\nfind-links = {self.path}\npython = {self.path}/python\n",
            "uv.toml": f"find-links = ['{self.path}']\n",
            "target.py": SHOP,
            "problems.jsonl": PROBLEM + "\n",
        }.items():
            (self.path / name).write_text(text)
        (self.path / ".git").mkdir()

    def take_marks(self) -> set[str]:
        """What has run since the last call."""
        marks = set(self._mark.read_text().split()) if self._mark.exists() else set()
        self._mark.unlink(missing_ok=True)
        return marks

    def environment(self, **changes: str) -> dict[str, str]:
        """The environment of a user who trusts nothing and names no folder to Python."""
        kept = {name: value for name, value in os.environ.items() if name != "COUNTERLENS_TRUST"}
        kept = {name: value for name, value in kept.items() if not name.startswith("PYTHON")}
        kept |= {"XDG_CONFIG_HOME": f"{self.path.parent}/config", "HF_HUB_OFFLINE": "1"}
        return {**kept, "PATH": f".:{kept['PATH']}:", **changes}

    def call(self, command: list[str], seconds: float = 280) -> subprocess.CompletedProcess[bytes]:
        """Run a command in the folder."""
        return subprocess.run(
            command,
            cwd=self.path,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            check=False,
        )

    def variables(self) -> dict[str, str]:
        """Every variable that an `.env` file of the folder could set to run its code."""
        here = str(self.path)
        return {
            "PYTHONPATH": f":{here}",
            "PYTHONUSERBASE": here,
            "PYTHONHOME": here,
            "PYTHONSTARTUP": f"{here}/evil.py",
            "PYTHONINSPECT": "1",
            "PYTHONBREAKPOINT": "evil.EVIL",
            "PYTHONWARNINGS": "error::evil.Evil",
            "PYTHONPYCACHEPREFIX": here,
            "JAVA_HOME": here,
            "JAVA_TOOL_OPTIONS": f"-javaagent:{here}/evil.jar",
            "CLASSPATH": here,
            "PATH": f"{here}:{os.environ['PATH']}",
            "LD_LIBRARY_PATH": ":",
            "LLAMA_CPP_LIB_PATH": here,
        }


def short() -> list[str]:
    """The options of a quick model."""
    return ["--model", str(short_model()), "--threads", "1"]
