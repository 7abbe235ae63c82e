"""The files that a program sees besides its own, in every sandbox available here."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import pytest

from counterlens.errors import SandboxError
from counterlens.sandbox.base import Job, Limits, Sandbox
from counterlens.sandbox.process import ProcessSandbox
from counterlens.sandbox.shell import Bubblewrap


@pytest.fixture(params=[Bubblewrap, lambda: None], ids=["bubblewrap", "process"])
def back_end(request: pytest.FixtureRequest) -> Sandbox:
    try:
        return ProcessSandbox(request.param())
    except SandboxError as error:
        pytest.skip(str(error))


def test_the_folder_of_temporary_files_may_be_read_like_any_other(back_end: Sandbox) -> None:
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("read me")
        file.flush()
        program = (
            f"print(open({file.name!r}).read(), end='')\n"
            "import os, tempfile\n"
            "print(tempfile.NamedTemporaryFile().name.startswith(os.environ['TMPDIR']))\n"
        ).encode()
        readable = (Path(tempfile.gettempdir()),)
        job = Job({"p.py": program}, "p.py", Path(sys.executable), (), readable, Limits(seconds=20.0))
        outcome = back_end.run(job)
    assert outcome.code == 0, outcome.errors
    assert outcome.output == b"read meTrue\n"


@pytest.mark.parametrize("readable", ["code", "code/told.txt"])
def test_a_folder_or_file_that_is_made_again_is_seen_as_it_is_now(
    back_end: Sandbox, readable: str, tmp_path: Path
) -> None:
    file, program = tmp_path / "code" / "told.txt", b"import sys; print(open(sys.argv[1]).read())"
    said = []
    for text in ("first", "second"):
        shutil.rmtree(file.parent, ignore_errors=True)
        file.parent.mkdir()
        file.write_text(text)
        job = Job(
            {"p.py": program},
            "p.py",
            Path(sys.executable),
            (str(file),),
            (tmp_path / readable,),
            Limits(20.0),
        )
        said.append(back_end.run(job).output.decode().strip())
    assert said == ["first", "second"]


def test_folders_below_a_readable_one_are_no_other_view(tmp_path: Path) -> None:
    try:
        shell = Bubblewrap()
    except SandboxError as error:
        pytest.skip(str(error))
    (tmp_path / "below").mkdir()
    assert shell.view([str(tmp_path)]) == shell.view([str(tmp_path / "below"), str(tmp_path)])
    assert shell.view([str(tmp_path)]) != shell.view([str(tmp_path / "below")])
