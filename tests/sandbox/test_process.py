"""Ordinary programs: what goes in, what comes out, what is limited."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from counterlens.errors import Cancelled, SandboxError
from counterlens.sandbox.base import Ending, Job, JobOutcome, Limits
from counterlens.sandbox.process import ProcessSandbox
from counterlens.sandbox.shell import remove
from tests.sandbox.conftest import patiently

Run = Callable[..., JobOutcome]


def test_output_errors_result_and_exit_code_come_back(run: Run) -> None:
    outcome = run(
        """
        import os, sys
        print("out", sys.argv[1:])
        print("err", file=sys.stderr)
        os.write(int(os.environ["COUNTERLENS_RESULT_FD"]), b"result")
        sys.exit(3)
        """,
        arguments=("a", "b c"),
    )
    assert (outcome.ending, outcome.code) == (Ending.EXITED, 3)
    assert outcome.output == b"out ['a', 'b c']\n"
    assert outcome.errors == b"err\n"
    assert outcome.result == b"result"
    assert not outcome.truncated
    assert 0 < outcome.cpu_seconds < outcome.seconds


def test_installed_packages_can_be_imported(run: Run) -> None:
    assert run("import numpy; print(numpy.arange(3).sum())").output == b"3\n"


def test_files_lie_in_the_working_directory_beside_home_and_scratch(sandbox: ProcessSandbox) -> None:
    program = b"""
import os, pathlib, sys, tempfile
print(open("data/x.txt").read())
home, scratch, here = pathlib.Path.home(), pathlib.Path(tempfile.gettempdir()), pathlib.Path.cwd()
assert home.parent == scratch.parent == here.parent, (home, scratch, here)
for place in (home, scratch, here):
    (place / "written").write_text("yes")
print(sys.stdin.read() == "", os.environ["PYTHONHASHSEED"])
"""
    job = Job({"main.py": program, "data/x.txt": b"content"}, "main.py", Path(sys.executable))
    outcome = sandbox.run(job)
    assert outcome.output == b"content\nTrue 0\n", outcome.errors


def test_a_signal_is_reported(run: Run) -> None:
    outcome = run("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    assert (outcome.ending, outcome.code) == (Ending.SIGNALLED, signal.SIGSEGV)
    assert run("import os; os.abort()").code == signal.SIGABRT
    assert run("import ctypes; ctypes.string_at(0)").code == signal.SIGSEGV


def test_an_endless_sleep_is_ended(run: Run) -> None:
    outcome = patiently(
        lambda seconds: run("import time\nprint('hi', flush=True)\ntime.sleep(60)", seconds=seconds),
        lambda outcome: bool(outcome.output),
    )
    assert (outcome.ending, outcome.code) == (Ending.TIMED_OUT, signal.SIGKILL)
    assert outcome.output == b"hi\n"


def test_ignoring_signals_does_not_help(run: Run) -> None:
    outcome = run(
        """
        import signal, time
        for number in range(1, 32):
            try: signal.signal(number, signal.SIG_IGN)
            except OSError: pass
        while True: time.sleep(1)
        """,
        seconds=0.7,
    )
    assert outcome.ending is Ending.TIMED_OUT


def test_burnt_processor_time_is_a_time_out(run: Run) -> None:
    outcome = run("while True: pass", cpu_seconds=1)
    assert (outcome.ending, outcome.code) == (Ending.TIMED_OUT, signal.SIGXCPU)
    stubborn = "import signal; signal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass"
    assert run(stubborn, cpu_seconds=1).ending is Ending.TIMED_OUT


def test_memory_is_limited(run: Run) -> None:
    program = """
    hoard = []
    try:
        while True: hoard.append(bytearray(1 << 20))
    except MemoryError:
        print(len(hoard))
    """
    outcome = run(program, memory_bytes=256 << 20)
    assert 20 < int(outcome.output) < 256


def test_a_flood_of_output_is_cut_and_does_not_stop_the_program(run: Run) -> None:
    outcome = run("import sys\nfor _ in range(300): sys.stdout.write('x' * 100_000)", output_bytes=5000)
    assert outcome.output == b"x" * 5000
    assert outcome.truncated
    assert outcome.ending is Ending.EXITED
    flood = "import os\nfd = int(os.environ['COUNTERLENS_RESULT_FD'])\nwhile True: os.write(fd, b'y' * 65536)"
    endless = patiently(
        lambda seconds: run(flood, output_bytes=5000, seconds=seconds),
        lambda outcome: len(outcome.result) == 5000,
    )
    assert endless.ending is Ending.TIMED_OUT
    assert endless.result == b"y" * 5000


def test_one_file_is_limited(run: Run) -> None:
    program = """
    import os
    try:
        with open("big", "wb") as file:
            for _ in range(100): file.write(bytes(1 << 20))
    except OSError as error:
        print(os.path.getsize("big"), error.strerror)
    """
    assert run(program, file_bytes=5 << 20).output.split() == [b"5242880", b"File", b"too", b"large"]


def test_all_files_together_are_limited(run: Run, holds: Callable[[str], None]) -> None:
    holds("disk")
    program = """
    written = 0
    try:
        for number in range(1000):
            with open(f"{number}", "wb") as file: written += file.write(bytes(1 << 20))
    except OSError as error:
        print(written >> 20, error.strerror)
    """
    written, *reason = run(program, disk_bytes=8 << 20).output.split()
    assert 5 <= int(written) <= 8
    assert b" ".join(reason) == b"No space left on device"


def test_open_files_are_limited(run: Run) -> None:
    program = """
    kept = []
    try:
        while True: kept.append(open("/dev/null"))
    except OSError as error:
        print(len(kept), error.strerror)
    """
    count, *reason = run(program, open_files=32).output.split()
    assert 20 < int(count) < 32
    assert b" ".join(reason) == b"Too many open files"


def test_only_the_result_pipe_is_inherited(run: Run) -> None:
    secret = Path(tempfile.gettempdir(), "counterlens-test-inherited")
    with secret.open("w") as file:
        os.set_inheritable(file.fileno(), True)
        try:
            outcome = run(
                """
                import os
                known = {0, 1, 2, int(os.environ["COUNTERLENS_RESULT_FD"])}
                listing = os.open("/proc/self/fd", os.O_RDONLY)
                print({int(name) for name in os.listdir(listing)} - known - {listing, listing + 1})
                """
            )
        finally:
            secret.unlink()
    assert outcome.output == b"set()\n", outcome.errors


def test_cancelling_is_quick_and_leaves_nothing(
    sandbox: ProcessSandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    cancel = threading.Event()
    job = Job({"main.py": b"import time; time.sleep(60)"}, "main.py", Path(sys.executable))
    when: list[float] = []

    def set_it() -> None:
        when.append(time.monotonic())
        cancel.set()

    timer = threading.Timer(0.4, set_it)
    timer.start()
    with pytest.raises(Cancelled):
        sandbox.run(job, cancel=cancel)
    assert time.monotonic() - when[0] < 20  # of 60; 0.05 on an idle machine
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(Cancelled):
        sandbox.run(job, cancel=cancel)


def test_private_folders_are_gone_afterwards(run: Run) -> None:
    outcome = run(
        """
        import os
        os.makedirs("locked/inner"); open("locked/inner/file", "w").close()
        os.chmod("locked/inner", 0); os.chmod("locked", 0)
        print(os.path.dirname(os.getcwd()))
        """
    )
    folder = Path(outcome.output.decode().strip())
    assert folder.name.startswith("counterlens-")
    assert not folder.exists() or not any(folder.iterdir())  # an empty place where the next program's is put


def test_nothing_outside_is_unlocked(
    sandbox: ProcessSandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder is removed by the launcher first; what it lies in keeps its permissions."""
    tmp_path.chmod(0o755)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    sandbox.run(Job({"main.py": b"print(1)"}, "main.py", Path(sys.executable)))
    assert list(tmp_path.iterdir()) == []
    assert tmp_path.stat().st_mode & 0o777 == 0o755

    inner = tmp_path / "counterlens-x"
    (inner / "locked" / "deep").mkdir(parents=True)
    (inner / "outward").symlink_to(tmp_path)
    (inner / "locked" / "deep").chmod(0)
    (inner / "locked").chmod(0)
    remove(inner)
    remove(inner)  # it is gone already
    assert list(tmp_path.iterdir()) == []
    assert tmp_path.stat().st_mode & 0o777 == 0o755


def test_four_threads_at_once(run: Run) -> None:
    program = "import sys, time; time.sleep(0.1); print(sys.argv[1])"
    with ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(lambda number: run(program, arguments=(str(number),)), range(12)))
    assert [outcome.output for outcome in outcomes] == [b"%d\n" % number for number in range(12)]


def test_threads_inside_work(run: Run) -> None:
    program = """
    from concurrent.futures import ThreadPoolExecutor
    import asyncio
    with ThreadPoolExecutor(4) as pool: print(sum(pool.map(abs, range(-5, 5))))
    print(asyncio.run(asyncio.to_thread(abs, -3)))
    """
    outcome = run(program)
    assert outcome.output == b"25\n3\n", outcome.errors


def test_no_descriptor_is_lost(run: Run) -> None:
    run("pass")
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(3):
        run("pass")
    assert len(list(Path("/proc/self/fd").iterdir())) <= before


def test_a_missing_interpreter_is_explained(sandbox: ProcessSandbox) -> None:
    with pytest.raises(SandboxError, match="no Python interpreter at /nowhere/python"):
        sandbox.run(Job({"a.py": b""}, "a.py", Path("/nowhere/python")))
    with pytest.raises(SandboxError, match="does not work as a Python interpreter"):
        sandbox.run(Job({"a.py": b""}, "a.py", Path("/bin/ls")))


@pytest.mark.parametrize("name", ["../escape.py", "/tmp/escape.py", "a/../../escape.py"])  # noqa: S108
def test_files_cannot_be_laid_out_elsewhere(sandbox: ProcessSandbox, name: str) -> None:
    with pytest.raises(SandboxError, match="outside the sandbox"):
        sandbox.run(Job({name: b"", "a.py": b""}, "a.py", Path(sys.executable), limits=Limits()))


def test_covered_files_show_another_content_and_stay_as_they_are(
    sandbox: ProcessSandbox, tmp_path: Path, holds: Callable[[str], None]
) -> None:
    holds("disk")
    (tmp_path / "hidden.py").write_text("original")
    program = f"""
import os
path = {str(tmp_path / "hidden.py")!r}
print(open(path).read())
for action in (lambda: open(path, "w"), lambda: os.unlink(path), lambda: os.rename(path, path + "2")):
    try: action(); print("changed")
    except OSError: pass
print(os.listdir(".."), os.listdir({str(tmp_path)!r}))
"""
    covers = {tmp_path / "hidden.py": b"instead", tmp_path / "nowhere.py": b"x"}
    files = {"a.py": program.encode()}
    outcome = sandbox.run(Job(files, "a.py", Path(sys.executable), readable=(tmp_path,), covers=covers))
    assert outcome.output.splitlines()[0] == b"instead", outcome
    assert b"changed" not in outcome.output
    assert b"cover" not in outcome.output
    assert b"['hidden.py']" in outcome.output
    assert (tmp_path / "hidden.py").read_text() == "original"
    again = sandbox.run(Job(files, "a.py", Path(sys.executable), readable=(tmp_path,)))
    assert again.output.startswith(b"original")
