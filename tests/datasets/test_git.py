"""Git's settings take no effect: no program of a repository runs, and everyone sees the same differences."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from counterlens.datasets.changes import Lines, changed_lines
from counterlens.datasets.git import commit, line_commits, list_files
from counterlens.datasets.repository import python_files, repository
from counterlens.errors import DataError
from counterlens.syntax.document import Document
from counterlens.syntax.functions import functions

GIT = shutil.which("git") or ""
pytestmark = pytest.mark.skipif(not GIT, reason="needs git")
CODE = 'def f():\n    """\n    >>> f()\n    1\n    """\n    return 1\n'
CONFIG = {
    "file monitor": "[core]\n\tfsmonitor = {tool}\n",
    "filter": '[filter "x"]\n\tclean = {tool}\n\tsmudge = {tool}\n\trequired = true\n',
    "long-running filter": '[filter "a.b"]\n\tprocess = {tool}\n',
    "text conversion": '[diff "x"]\n\ttextconv = {tool}\n',
    "hooks": "[core]\n\thooksPath = {tool}\n\tpager = {tool}\n\tsshCommand = {tool}\n\taskPass = {tool}\n",
    "helpers": "[credential]\n\thelper = !{tool}\n[gpg]\n\tprogram = {tool}\n[alias]\n\tdiff = !{tool}\n",
    "difference": '[diff "x"]\n\tcommand = {tool}\n[diff]\n\texternal = {tool}\n',
}
MISSING = (
    "[core]\n\trepositoryFormatVersion = 1\n[extensions]\n\tpartialClone = origin\n"
    '[remote "origin"]\n\turl = ext::{tool}\n\tpromisor = true\n[protocol "ext"]\n\tallow = always\n'
)


def git(folder: Path, *arguments: str, day: str = "2026-01-01") -> None:
    who = ("-c", "user.name=A", "-c", "user.email=a@b.example", "-c", "commit.gpgSign=false")
    dated = os.environ | {"GIT_AUTHOR_DATE": f"{day}T00:30+0200"}
    subprocess.run([GIT, *who, *arguments], cwd=folder, check=True, capture_output=True, env=dated)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A repository with a committed and a changed file."""
    folder = tmp_path / "clone"
    (folder / "inner").mkdir(parents=True)
    (folder / "code.py").write_text(CODE)
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    (folder / "code.py").write_text(CODE.replace("return 1", "return 1  # more"))
    return folder


@pytest.fixture
def tool(tmp_path: Path) -> Path:
    """A program that leaves a trace."""
    path = tmp_path / "tool"
    path.write_text(f"#!/bin/sh\necho run >> {tmp_path / 'trace'}\ncat\n")
    path.chmod(0o755)
    return path


def use(folder: Path) -> None:
    """All that is asked of git."""
    assert python_files(folder)
    assert changed_lines(folder, "HEAD")
    assert line_commits(folder / "code.py", (folder / "code.py").read_bytes()) is not None
    assert repository(f"repo:{folder}").provenance.version != "unknown"


@pytest.mark.parametrize("kind", CONFIG)
def test_no_setting_of_a_repository_runs_anything(clone: Path, tool: Path, tmp_path: Path, kind: str) -> None:
    with (clone / ".git" / "config").open("a") as config:
        config.write(CONFIG[kind].format(tool=tool))
    (clone / ".gitattributes").write_text(f"*.py filter={'a.b' if 'long' in kind else 'x'} diff=x\n")
    use(clone)
    assert not (tmp_path / "trace").exists()


def test_what_is_missing_is_not_fetched(clone: Path, tool: Path, tmp_path: Path) -> None:
    asked = subprocess.run([GIT, "rev-parse", "HEAD:code.py"], cwd=clone, capture_output=True, check=True)
    name = asked.stdout.decode().strip()
    (clone / ".git" / "objects" / name[:2] / name[2:]).unlink()
    with (clone / ".git" / "config").open("a") as config:
        config.write(MISSING.format(tool=tool))
    with pytest.raises(DataError):
        changed_lines(clone, "HEAD")
    assert not (tmp_path / "trace").exists()


def test_a_repository_inside_the_files_is_none(clone: Path, tool: Path, tmp_path: Path) -> None:
    bare = clone / "inner" / "bare"
    git(clone, "init", "-q", "--bare", str(bare))
    (bare / "code.py").write_text(CODE)
    with (bare / "config").open("a") as config:
        config.write(f"[core]\n\tfsmonitor = {tool}\n\tbare = false\n\tworktree = {bare}\n")
    assert python_files(bare) == ["code.py"]  # as of any folder
    assert repository(f"repo:{bare}").provenance.version == "unknown"
    assert not (tmp_path / "trace").exists()


def test_the_settings_of_a_submodule_count_as_little(clone: Path, tool: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "more.py").write_text(CODE)
    git(other, "init", "-q")
    git(other, "add", ".")
    git(other, "commit", "-qm", "first")
    git(clone, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other), "sub")
    git(clone, "commit", "-qm", "second")
    with (clone / ".git" / "modules" / "sub" / "config").open("a") as config:
        config.write(f"[core]\n\tfsmonitor = {tool}\n")
    use(clone)
    assert not (tmp_path / "trace").exists()


@pytest.mark.parametrize("known", [True, False], ids=["git", "no git"])
def test_links_out_of_the_folder_are_not_followed(clone: Path, tmp_path: Path, known: bool) -> None:
    (tmp_path / "outside.py").write_text(CODE)
    (clone / "link.py").symlink_to(tmp_path / "outside.py")
    (clone / "within.py").symlink_to(clone / "code.py")
    if not known:
        shutil.rmtree(clone / ".git")
    assert python_files(clone) == ["code.py", "within.py"]


SHOWN_OTHERWISE = {
    "mnemonic prefixes": "[diff]\n\tmnemonicPrefix = true\n",
    "no prefixes": "[diff]\n\tnoPrefix = true\n",
    "other prefixes": "[diff]\n\tsrcPrefix = b/\n\tdstPrefix = old/\n",
    "colours": "[color]\n\tui = always\n\tdiff = always\n\tstatus = always\n",
    "context": "[diff]\n\tcontext = 50\n\tinterHunkContext = 50\n",
    "algorithm": "[diff]\n\talgorithm = histogram\n\tindentHeuristic = false\n\twordRegex = .\n",
    "names": "[core]\n\tquotePath = true\n[diff]\n\trelative = false\n\torderFile = /nowhere\n",
    "no renames": "[diff]\n\trenames = false\n\trenameLimit = 1\n",
    "copies": "[diff]\n\trenames = copies\n[status]\n\trenames = copies\n",
    "submodules": "[diff]\n\tsubmodule = log\n\tignoreSubmodules = none\n[submodule]\n\trecurse = true\n",
    "status": "[status]\n\tshort = true\n\tbranch = true\n\tshowStash = true\n\tshowUntrackedFiles = no\n",
    "log": "[log]\n\tshowSignature = true\n\tdate = relative\n[core]\n\tabbrev = 4\n",
    "line ends": "[core]\n\tautocrlf = true\n\tsafecrlf = true\n\tcheckStat = minimal\n",
    "another program": "[diff]\n\texternal = true\n[core]\n\tpager = false\n\tattributesFile = attributes\n",
}
ELSEWHERE = {
    "GIT_DIR": "/nowhere",
    "GIT_WORK_TREE": "/",
    "GIT_INDEX_FILE": "/nowhere",
    "GIT_OBJECT_DIRECTORY": "/nowhere",
    "GIT_NAMESPACE": "other",
    "GIT_PREFIX": "inner/",
    "GIT_EXTERNAL_DIFF": "true",
    "GIT_DIFF_OPTS": "--unified=50",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_CONFIG": "/nowhere",
    "GIT_TRACE": "1",
}
NAMES = (
    "a blank.py",
    " around .py",
    "é.py",
    "e\u0301.py",
    "tab\t.py",
    "new\nline.py",
    '"quoted".py',
    "b/code.py",
)
NAMES += (
    "a -> b.py",
    "-r.py",
    ":(top)x.py",
    "back\\slash.py",
    "日本.py",
    "i/dev/null.py",
    "[x]*.py",
    "\udcff.py",
)


@pytest.fixture
def known(clone: Path) -> dict[Path, Lines]:
    """What differs in a clone that has a further changed, a moved, a new and an ignored file."""
    (clone / "inner" / "other.py").write_text(CODE)
    (clone / "long.py").write_text("".join(f"n{i} = {i}\n" for i in range(30)))
    (clone / ".gitignore").write_text("ignored.py\n")
    git(clone, "add", ".gitignore", "inner", "long.py")
    git(clone, "commit", "-qm", "second")
    (clone / "inner" / "other.py").write_text(CODE.replace("return", "a = 1\n    return"))
    git(clone, "mv", "long.py", "moved.py")
    (clone / "moved.py").write_text((clone / "moved.py").read_text().replace("= 7\n", "= 8\n"))
    (clone / "new.py").write_text(CODE)
    (clone / "ignored.py").write_text(CODE)
    return {
        clone / "code.py": Lines(((6, 6),)),
        clone / "inner" / "other.py": Lines(((6, 6),)),
        clone / "moved.py": Lines(((8, 8),)),
        clone / "new.py": Lines(None),
    }


@pytest.mark.parametrize("whose", ["the repository's", "the user's"])
def test_settings_do_not_hide_a_difference(
    clone: Path, known: dict[Path, Lines], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whose: str
) -> None:
    file = tmp_path / "gitconfig" if "user" in whose else clone / ".git" / "config"
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    (clone / "attributes").write_text("*.py binary\n")
    settings = file.read_text() if file.exists() else ""
    for kind, more in SHOWN_OTHERWISE.items():
        file.write_text(settings + more)
        assert changed_lines(clone, "HEAD") == known, kind
        assert commit(clone).endswith("+changes"), kind
        assert list_files(clone) == list_files(clone, "--cached"), kind


def test_variables_of_git_lead_nowhere_else(clone: Path, known: dict[Path, Lines]) -> None:
    for name, value in ELSEWHERE.items():
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(name, value)
            assert changed_lines(clone, "HEAD") == known, name
            assert "ignored.py" not in python_files(clone), name


def test_a_user_s_own_settings_still_say_whose_repositories_are_safe(
    clone: Path, known: dict[Path, Lines], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")  # dropped, too
    for name, value in {"COUNT": "1", "KEY_0": "core.excludesFile", "VALUE_0": str(clone / "mine")}.items():
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    (clone / "mine").write_text("new.py\n")
    assert clone / "new.py" in known
    assert clone / "new.py" not in changed_lines(clone, "HEAD")


def test_marks_in_the_index_and_attributes_hide_nothing(clone: Path) -> None:
    (clone / ".gitattributes").write_text("*.py -diff -text binary\n")
    git(clone, "update-index", "--assume-unchanged", "code.py")
    assert changed_lines(clone, "HEAD") == {clone / "code.py": Lines(((6, 6),))}
    git(clone, "update-index", "--no-assume-unchanged", "--skip-worktree", "code.py")
    assert changed_lines(clone, "HEAD") == {clone / "code.py": Lines(((6, 6),))}


def test_the_same_size_and_time_hide_nothing(clone: Path) -> None:
    file = clone / "code.py"
    git(clone, "add", ".")
    git(clone, "commit", "-qm", "second")
    before = file.stat()
    file.write_text(file.read_text().replace("return 1", "return 2"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert changed_lines(clone, "HEAD") == {file: Lines(((6, 6),))}


def test_files_may_have_any_name(clone: Path) -> None:
    files = [clone / name for name in NAMES]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(CODE)
    code = {clone / "code.py": Lines(((6, 6),))}
    assert changed_lines(clone, "HEAD") == code | dict.fromkeys(files, Lines(None))
    git(clone, "add", ".")
    git(clone, "commit", "-qm", "second")
    assert changed_lines(clone, "HEAD") == {}
    for file in files:
        file.write_text(CODE.replace("return 1", "return 2"))
    assert changed_lines(clone, "HEAD") == dict.fromkeys(files, Lines(((6, 6),)))
    assert {*NAMES} < {*python_files(clone)}


def test_a_repository_may_have_longer_hashes(tmp_path: Path) -> None:
    file = tmp_path / "code.py"
    file.write_text(CODE)
    git(tmp_path, "init", "-q", "--object-format=sha256")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "first")
    assert changed_lines(tmp_path, "HEAD") == {}
    file.write_text(CODE.replace("return 1", "return 2"))
    assert changed_lines(tmp_path, "HEAD") == {file: Lines(((6, 6),))}
    assert commit(tmp_path).endswith("+changes")


def test_line_ends_are_no_difference(clone: Path) -> None:
    git(clone, "commit", "-qam", "second")
    file = clone / "code.py"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert changed_lines(clone, "HEAD") == {}
    file.write_bytes(file.read_bytes().replace(b"1  # more", b"2"))
    assert changed_lines(clone, "HEAD") == {file: Lines(((6, 6),))}


DELETIONS = {
    "a decorator": ("@cache\ndef f():\n    return 1\n", "def f():\n    return 1\n", {"f"}),
    "a statement at the end": (
        "def f():\n    a()\n    b()\n\n\ndef g(): ...\n",
        "def f():\n    a()\n\n\ndef g(): ...\n",
        {"f"},
    ),
    "a function": (
        "def f(): ...\n\n\ndef g():\n    return 1\n\n\ndef h(): ...\n",
        "def f(): ...\n\n\ndef h(): ...\n",
        set(),
    ),
    "the end of the last line": ("def f(): ...\n", "def f(): ...", set()),
    "a line after a form feed": (
        "a = 1\n\x0c\x1c\ndef f():\n    a()\n    b()\n",
        "a = 1\n\x0c\x1c\ndef f():\n    a()\n",
        {"f"},
    ),
}


def test_what_was_deleted_changes_the_function_that_had_it(clone: Path) -> None:
    files = {what: clone / f"{number}.py" for number, what in enumerate(DELETIONS)}
    for what, file in files.items():
        file.write_text(DELETIONS[what][0])
    git(clone, "add", ".")
    git(clone, "commit", "-qm", "second")
    for what, file in files.items():
        file.write_text(DELETIONS[what][1])
    changed = changed_lines(clone, "HEAD")
    for what, file in files.items():
        lines = changed.get(file, Lines(()))
        known = functions(Document.read(file))
        names = {one.qualname for one in known if lines.overlaps(one.start_line, one.end_line)}
        assert names == DELETIONS[what][2], what


def test_many_files_and_a_long_one_are_compared_in_time(clone: Path) -> None:
    rows = [f"    {i % 7}: 'x',\n" for i in range(20_000)]
    (clone / "table.py").write_text("".join(rows))
    for i in range(50):
        (clone / f"m{i}.py").write_text(f"a = {i}\n")
    git(clone, "add", ".")
    git(clone, "commit", "-qm", "second")
    rows[5] = rows[19_990] = "    other\n"
    (clone / "table.py").write_text("".join(rows))
    for i in range(50):
        (clone / f"m{i}.py").write_text(f"b = {i}\n")
    changed = changed_lines(clone, "HEAD")
    assert len(changed) == 51
    assert changed[clone / "table.py"].overlaps(6, 6)


def test_links_are_compared_as_links(clone: Path) -> None:
    (clone / "within.py").symlink_to("code.py")
    (clone / "loop.py").symlink_to("loop.py")
    assert changed_lines(clone, "HEAD").keys() >= {clone / "within.py"}
    git(clone, "add", ".")
    git(clone, "commit", "-qm", "second")
    (clone / "within.py").unlink()
    (clone / "within.py").symlink_to("inner.py")
    (clone / "loop.py").unlink()
    if hasattr(os, "mkfifo"):
        os.mkfifo(clone / "loop.py")
    assert clone / "within.py" in changed_lines(clone, "HEAD")


def test_a_hook_asks_about_its_own_repository(clone: Path, known: dict[Path, Lines], tmp_path: Path) -> None:
    """Git sets GIT_DIR, GIT_INDEX_FILE and GIT_PREFIX for a hook."""
    script = "import sys; from pathlib import Path; from counterlens.datasets.changes import changed_lines\n"
    script += "print(len(changed_lines(Path(sys.argv[1]), 'HEAD')))"
    hook = clone / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    trace = tmp_path / "said"
    hook.write_text(f'#!/bin/sh\n"{sys.executable}" -c "{script}" "{clone}" > "{trace}"\n')
    hook.chmod(0o755)
    git(clone, "commit", "-qam", "from a hook")
    assert int(trace.read_text()) == len(known)


def test_a_line_has_the_commit_that_added_it(clone: Path) -> None:
    git(clone, "config", "blame.showRoot", "true")
    file = clone / "code.py"
    text = CODE.replace("    return 1", "    a = 1\n    return a")
    file.write_text(text)
    git(clone, "commit", "-qam", "second", day="2026-02-03")
    (second,) = {*filter(None, line_commits(file, text.encode()) or ())}
    assert second.written == "2026-02-02"  # in UTC
    (clone / "ignored").write_text(f"{second.id}\n")
    before = line_commits(file, text.encode())
    git(clone, "config", "blame.ignoreRevsFile", "ignored")
    assert line_commits(file, text.encode()) == before
    text = text.replace("    a = 1\n", "    if True:\n        a = 1\n").replace("\n", "\r\n")
    file.write_bytes(text.encode())
    git(clone, "commit", "-qam", "third", day="2027-01-01")
    lines = line_commits(file, text.replace("return a", "return a + 0").encode())
    assert lines is not None
    assert lines[:5] == [None] * 5  # of the first commit
    assert lines[5] is not None
    assert (lines[5].written, lines[5].id[:12]) == ("2026-12-31", commit(clone))
    assert lines[6:] == [second, None]  # indented; not committed
    assert line_commits(clone / "other.py", b"a = 1\n") is None
    assert line_commits(clone.parent / "alone.py", b"a = 1\n") is None
