"""Hostile programs: each is really run, must be contained, and must leave nothing behind."""

from __future__ import annotations

import contextlib
import http.server
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from counterlens.sandbox.base import Ending, JobOutcome
from tests.sandbox.conftest import patiently

Run = Callable[..., JobOutcome]
Holds = Callable[[str], None]


def processes_saying(marker: str) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with contextlib.suppress(OSError):
                if marker.encode() in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
    return found


def gone(marker: str) -> bool:
    deadline = time.monotonic() + 60
    while processes_saying(marker) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not processes_saying(marker)


def test_a_fork_bomb_does_not_go_off(run: Run, holds: Holds) -> None:
    holds("processes")
    outcome = run(
        """
        import os
        made = 0
        for _ in range(200):  # a bound, for the day when nothing else is one
            try:
                if os.fork() == 0:
                    os.pause() if hasattr(os, "pause") else __import__("time").sleep(5)
                made += 1
            except OSError:
                pass
        print(made)
        """
    )
    assert outcome.output == b"0\n"


@pytest.mark.parametrize(
    "call",
    [
        "os.fork()",
        "os.posix_spawn('/bin/true', ['true'], {})",
        "-1 if os.system('true') else 0",
        "__import__('subprocess').run(['/bin/true'])",
        "__import__('ctypes').CDLL(None).vfork()",
    ],
)
def test_no_other_process_can_be_started(run: Run, holds: Holds, call: str) -> None:
    holds("processes")
    outcome = run(f"import os\ntry: print({call})\nexcept OSError as error: print(-1)")
    assert outcome.output.split()[-1] == b"-1"


def test_a_daemon_does_not_survive(run: Run) -> None:
    marker = f"counterlens-daemon-{os.getpid()}"
    outcome = run(
        f"""
        import subprocess, sys
        daemon = "import os, time\\nif os.fork() == 0:\\n os.setsid()\\n if os.fork() == 0: time.sleep(60)"
        child = subprocess.Popen([sys.executable, "-c", daemon, "{marker}"])
        print(child.wait(), flush=True)
        """,
        processes=4,
    )
    assert outcome.ending is Ending.EXITED
    assert outcome.output == b"0\n", outcome.errors
    assert gone(marker)


def test_children_do_not_survive_the_time_limit(run: Run) -> None:
    marker = f"counterlens-child-{os.getpid()}"
    program = f"""
    import subprocess, sys, time
    for _ in range(3):
        command = [sys.executable, "-c", "import time; time.sleep(60)", "{marker}"]
        subprocess.Popen(command, start_new_session=True)
    print("started", flush=True)
    time.sleep(60)
    """
    outcome = patiently(
        lambda seconds: run(program, processes=4, seconds=seconds), lambda outcome: bool(outcome.output), 1.5
    )
    assert outcome.output == b"started\n", outcome.errors
    assert outcome.ending is Ending.TIMED_OUT
    assert gone(marker)


@pytest.mark.parametrize("warm", [True, False])
def test_nothing_survives_a_killed_parent(tmp_path: Path, warm: bool) -> None:
    scratch, started = tmp_path / "scratch", tmp_path / "host.py"
    scratch.mkdir()
    started.write_text(
        f"""
import sys
from pathlib import Path
from counterlens.sandbox.base import Job
from counterlens.sandbox.process import ProcessSandbox
sandbox = ProcessSandbox(warm={warm})
def run(program):
    return sandbox.run(Job({{"main.py": program}}, "main.py", Path(sys.executable)))
run(b"1")
print("ready", flush=True)
run(b"import time; time.sleep(60)")
"""
    )
    environment = {**os.environ, "TMPDIR": str(scratch)}
    host = subprocess.Popen([sys.executable, str(started)], stdout=subprocess.PIPE, env=environment)
    assert host.stdout is not None
    assert host.stdout.readline() == b"ready\n"
    family: list[psutil.Process] = []
    while len(family) < 4:
        family = psutil.Process(host.pid).children(recursive=True)
    host.kill()
    host.communicate()
    assert not psutil.wait_procs(family, timeout=60)[1]
    deadline = time.monotonic() + 60
    while list(scratch.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert list(scratch.iterdir()) == []


@pytest.fixture
def server() -> Iterator[int]:
    """A real server on the loopback interface; its port."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler) as made:
        threading.Thread(target=made.serve_forever, daemon=True).start()
        with socket.create_connection(("127.0.0.1", made.server_port), 5):
            pass  # it can be reached from here
        yield made.server_port
        made.shutdown()


def test_a_loopback_server_cannot_be_reached(run: Run, holds: Holds, server: int) -> None:
    holds("network")
    outcome = run(
        f"""
        import socket
        try:
            socket.create_connection(("127.0.0.1", {server}), 5)
            print("connected")
        except OSError as error:
            print(type(error).__name__)
        """
    )
    assert outcome.output in {b"PermissionError\n", b"ConnectionRefusedError\n", b"OSError\n"}


def test_a_unix_socket_cannot_be_reached(run: Run, holds: Holds, tmp_path: Path) -> None:
    holds("network")
    path = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()
        program = f"import socket; socket.socket(socket.AF_UNIX).connect({str(path)!r}); print('connected')"
        outcome = run(program, readable=(tmp_path,))
    assert b"connected" not in outcome.output
    assert b"PermissionError" in outcome.errors


def test_secrets_of_the_environment_are_not_passed_on(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "a-very-secret-value")
    outcome = run(
        """
        import os
        print(os.environ)
        for pid in ["self", *range(1, 5000)]:
            try: print(open(f"/proc/{pid}/environ").read())
            except OSError: pass
        """
    )
    assert outcome.code == 0
    assert b"PYTHONHASHSEED" in outcome.output
    assert b"a-very-secret-value" not in outcome.output


def test_files_elsewhere_cannot_be_read(run: Run, holds: Holds, tmp_path: Path) -> None:
    holds("reads")
    (tmp_path / "secret").write_text("treasure")
    program = f"print(open({str(tmp_path / 'secret')!r}).read())"
    assert b"PermissionError" in run(program).errors
    assert run(program, readable=(tmp_path,)).output == b"treasure\n"


def test_files_elsewhere_cannot_be_written(run: Run, holds: Holds, tmp_path: Path) -> None:
    holds("writes")
    victim = tmp_path / "victim"
    victim.write_text("original")
    attempts = {
        "overwrite": f"open({str(victim)!r}, 'w').write('changed')",
        "truncate": f"__import__('os').truncate({str(victim)!r}, 0)",
        "remove": f"__import__('os').unlink({str(victim)!r})",
        "rename": f"__import__('os').rename({str(victim)!r}, {str(victim)!r} + '2')",
        "create": f"open({str(tmp_path / 'new')!r}, 'w')",
        "link": f"__import__('os').link({str(victim)!r}, 'mine'); open('mine', 'w').write('changed')",
    }
    for name, attempt in attempts.items():
        outcome = run(attempt, readable=(tmp_path,))
        assert outcome.code == 1, name
        assert b"Error" in outcome.errors, name
    assert victim.read_text() == "original"
    assert [path.name for path in tmp_path.iterdir()] == ["victim"]


def test_other_processes_cannot_be_signalled_or_limited(run: Run, holds: Holds) -> None:
    holds("signals")
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as bystander:
        program = f"""
        import os, resource, signal
        for pid in [{bystander.pid}, {os.getpid()}, os.getppid(), 1, 0, -1]:
            for action in (lambda: os.kill(pid, signal.SIGTERM), lambda: os.kill(pid, signal.SIGKILL),
                           lambda: resource.prlimit(pid, resource.RLIMIT_CPU, (0, 0)) if pid > 0 else 1 / 0):
                try:
                    if pid != 0: action()
                except (OSError, ZeroDivisionError): pass
        print("alive")
        """
        outcome = run(program)
        assert outcome.output == b"alive\n", outcome
        assert bystander.poll() is None
        bystander.communicate(b"\n")
    assert bystander.returncode == 0


def test_ptrace_and_namespaces_are_closed(run: Run, holds: Holds) -> None:
    holds("signals")
    outcome = run(
        """
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        print(libc.ptrace(16, 1, 0, 0), libc.unshare(0x10000000), libc.mount(b"x", b"/", b"tmpfs", 0, 0))
        """
    )
    assert outcome.output == b"-1 -1 -1\n"


def test_the_next_run_is_not_affected(run: Run) -> None:
    for program in ("import os; os._exit(9)", "import ctypes; ctypes.string_at(0)", "1/0"):
        run(program)
        assert run("print(1)").output == b"1\n"


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may read; those of pytest are closed to others."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        if not all(above.stat().st_mode & 0o001 for above in Path(name).resolve().parents):
            pytest.skip(f"{name} cannot be reached by other users")
        yield Path(name)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
@pytest.mark.skipif(
    not Path("/usr/bin/python3").exists(), reason="needs an interpreter that everyone can read"
)
def test_an_ordinary_user_is_as_well_protected(open_folder: Path) -> None:
    """The same sandbox under another user, with the system's interpreter."""
    package = Path(__file__).parents[2] / "server" / "counterlens"
    copied = open_folder
    subprocess.run(["/bin/cp", "-r", str(package), str(copied)], check=True)
    script = """
import sys; sys.path.insert(0, sys.argv[1])
from pathlib import Path
from counterlens.sandbox.base import Job, Limits
from counterlens.sandbox.process import ProcessSandbox
sandbox = ProcessSandbox()
print(sorted(name for name, held in sandbox.guarantees if not held))
def run(program, **limits):
    return sandbox.run(Job({"a.py": program}, "a.py", Path(sys.executable), limits=Limits(**limits)))
print(run(b"import os; print(os.getuid() != 0)").output)
print(run(b"import os\\ntry: os.fork()\\nexcept OSError: print('no')").output)
print(run(b"import socket; socket.socket()").code, run(b"open('/tmp/x', 'w')").code)
crowd = b'''import os, time
made = 0
for _ in range(300):
    try:
        if os.fork() == 0: time.sleep(30)
        made += 1
    except OSError: break
print(made)'''
crowded = run(crowd, processes=3)
print(crowded.output, crowded.refusals)
"""
    as_nobody = ("/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
    done = subprocess.run(
        [*as_nobody, "/usr/bin/python3", "-B", "-c", script, str(copied)],
        capture_output=True,
        text=True,
        cwd="/",
        env={"PATH": "/usr/bin:/bin"},
        check=False,
    )
    *lines, crowded = done.stdout.splitlines()
    assert lines == ["[]", "b'True\\n'", "b'no\\n'", "1 1"], done.stderr
    # A busy supervisor looks late, and then it is the kernel that has held the crowd back.
    made, refused = re.fullmatch(r"b'(\d*)(?:\\n)?' (.*)", crowded).groups()
    assert refused == "('it may not have more than 3 processes and threads',)"
    assert int(made or 0) < 300
