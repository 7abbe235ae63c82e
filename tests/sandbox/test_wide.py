"""A wide room: a program does what a plain one does, reaches nothing outside, and hears of its limits."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from counterlens.errors import SandboxError
from counterlens.sandbox import registry
from counterlens.sandbox.base import Ending, Job, JobOutcome, Limits
from counterlens.sandbox.process import ProcessSandbox
from tests.sandbox.test_isolation import gone

if sys.platform != "linux":
    pytest.skip("wide rooms are of Linux", allow_module_level=True)

from counterlens.sandbox.linux import calls

USABLE = [found.name for found in registry.available() if found.usable]
MACHINE = os.uname().machine


@pytest.fixture(scope="module", params=USABLE)
def sandbox(request: pytest.FixtureRequest) -> ProcessSandbox:
    made = registry._create(request.param)
    if not isinstance(made, ProcessSandbox) or not made.wide:
        pytest.skip("this kernel, or the container around it, has no wide rooms")
    return made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project that programs may change in a layer of their own."""
    (tmp_path / "project" / "inner").mkdir(parents=True)
    (tmp_path / "project" / "inner" / "old.txt").write_text("old")
    return tmp_path / "project"


def run(
    sandbox: ProcessSandbox, program: str, folder: Path | None = None, *, warm: bool = True, **limits: float
) -> JobOutcome:
    folders = (folder,) if folder else ()
    given = {"seconds": 30.0, "cpu_seconds": 30, "processes": 64, **limits}
    files = {"program.py": textwrap.dedent(program).encode()}
    job = Job(
        files,
        "program.py",
        Path(sys.executable),
        readable=folders,
        limits=Limits(**given),  # type: ignore[arg-type]
        writable=folders,
    )
    return sandbox.run(job) if warm else sandbox._cold(job, None)[0]


# What a plain program does.


@pytest.mark.parametrize("warm", [False, True])
def test_changes_are_seen_by_the_program_and_by_nobody_else(
    sandbox: ProcessSandbox, folder: Path, warm: bool
) -> None:
    program = f"""
    import os, pathlib, shutil
    os.chdir({str(folder)!r})
    seen = [str(path) for path in sorted(pathlib.Path().rglob("*"))]
    pathlib.Path("inner/old.txt").write_text("new"); pathlib.Path("made").mkdir()
    os.rename("inner/old.txt", "made/moved.txt"); os.rmdir("inner")
    for place in ("/tmp", "/var/tmp", "/dev/shm", os.path.expanduser("~")):
        if os.path.isdir(place): pathlib.Path(place, "counterlens-escaped").write_text("x")
    now = [str(path) for path in sorted(pathlib.Path().rglob("*"))]
    print(seen, now, pathlib.Path("made/moved.txt").read_text())
    """
    for _ in range(2):  # the next one finds nothing of it
        outcome = run(sandbox, program, folder, warm=warm)
        assert outcome.output.decode() == "['inner', 'inner/old.txt'] ['made', 'made/moved.txt'] new\n", (
            outcome
        )
        assert not outcome.refusals
    assert [path.name for path in folder.rglob("*")] == ["inner", "old.txt"]
    assert (folder / "inner" / "old.txt").read_text() == "old"
    for place in ("/tmp", "/var/tmp", "/dev/shm", str(Path.home())):  # noqa: S108
        assert not Path(place, "counterlens-escaped").exists()


def test_names_with_commas_colons_and_blanks_are_layered(sandbox: ProcessSandbox, tmp_path: Path) -> None:
    folder = tmp_path / "a, b:c=d \\ é"
    folder.mkdir()
    outcome = run(sandbox, f"open({str(folder / 'x')!r}, 'w').write('x'); print('written')", folder)
    assert outcome.output == b"written\n", outcome
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("warm", [False, True])
def test_a_program_does_not_run_without_its_layer(sandbox: ProcessSandbox, folder: Path, warm: bool) -> None:
    with pytest.raises(SandboxError, match="could not be given a layer"):
        run(sandbox, "print('ran')", folder / "inner" / "old.txt", warm=warm)


def test_a_child_does_not_outlive_the_program(sandbox: ProcessSandbox) -> None:
    marker = f"counterlens-wide-{os.getpid()}"
    program = f"""
    import subprocess, sys
    command = [sys.executable, "-c", "import time; time.sleep(60)", "{marker}"]
    subprocess.Popen(command, start_new_session=True)
    """
    assert run(sandbox, program).ending is Ending.EXITED
    assert gone(marker)


# What reaches nothing.


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[dict[str, object]]:
    """Real targets: files, a process, servers."""
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "victim").write_text("original")
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_server(("::1", 0), family=socket.AF_INET6) as six,
        socket.socket(socket.AF_UNIX) as streams,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as datagrams,
        socket.socket(socket.AF_UNIX) as abstract,
        socket.socket(type=socket.SOCK_DGRAM) as udp,
        subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as bystander,
    ):
        udp.bind(("127.0.0.1", 0))
        streams.bind(str(tmp_path / "project" / "streams"))  # beside the sources, as some tools have them
        datagrams.bind(str(tmp_path / "project" / "datagrams"))
        abstract.bind(f"\0counterlens-{os.getpid()}")
        for line in (streams, abstract):
            line.listen()
        for line in (server, six, streams, datagrams, abstract, udp):
            line.setblocking(False)
        yield {
            "hidden": str(hidden), "victim": str(hidden / "victim"), "port": server.getsockname()[1],
            "six": six.getsockname()[1], "streams": str(tmp_path / "project" / "streams"),
            "datagrams": str(tmp_path / "project" / "datagrams"), "abstract": f"\0counterlens-{os.getpid()}",
            "udp": udp.getsockname()[1], "bystander": bystander.pid, "parent": os.getpid(),
        }  # fmt: skip
        assert bystander.poll() is None
        bystander.communicate(b"\n")
        for line in (server, six, streams, abstract):
            with pytest.raises(BlockingIOError):
                line.accept()
        for line in (datagrams, udp):
            with pytest.raises(BlockingIOError):
                line.recv(9)
    assert [path.name for path in hidden.iterdir()] == ["victim"]
    assert (hidden / "victim").read_text() == "original"


ATTACKS = {
    "TCP": "socket.create_connection(('127.0.0.1', of['port']), 2)",
    "TCP over IPv6": "socket.create_connection(('::1', of['six']), 2)",
    "another network": "socket.create_connection(('192.0.2.1', 80), 2)",
    "a fast open": "socket.socket().sendto(b'x', 0x20000000, ('127.0.0.1', of['port']))",
    "a Unix socket": "socket.socket(socket.AF_UNIX).connect(of['streams'])",
    "an abstract socket": "socket.socket(socket.AF_UNIX).connect(of['abstract'])",
    "a socket of a pair": "lone().connect(of['streams'])",
    "a packet of a pair": "lone(socket.SOCK_SEQPACKET).connect(of['streams'])",
    "a datagram of a pair": "lone().sendto(b'x', of['datagrams'])",
    "a pair of datagrams": "socket.socketpair(1, socket.SOCK_DGRAM)[0].sendto(b'x', of['datagrams'])",
    "a pair that listens": "(lambda line: (line.bind('/tmp/mine'), line.listen()))(lone())",
    "a raw socket": "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)",
    "packets": "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
    "netlink": "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)",
    "another interface": "os.stat('/sys/class/net/eth0') and socket.socket().setsockopt(1, 25, b'eth0')",
    "a signal": "os.kill(of['bystander'], 15)",
    "a signal to the parent": "os.kill(of['parent'], 15)",
    "reading": "open(of['victim']).read()",
    "writing": "open(of['victim'], 'w')",
    "making": "open(of['hidden'] + '/made', 'w')",
    "removing": "os.unlink(of['victim'])",
    "a link to the outside": "(os.symlink(of['victim'], 'link'), open('link').read())",
    "a hard link": "os.link(of['victim'], 'link')",
    "the owner of the outside": "os.chown(of['victim'], os.getuid(), os.getgid())",
    "an attribute of the outside": "os.setxattr(of['victim'], 'user.x', b'x')",
    "the owner of the interpreter": "os.chown(os.path.realpath(sys.executable), os.getuid(), os.getgid())",
    "an attribute of the interpreter": "os.setxattr(os.path.realpath(sys.executable), 'user.x', b'x')",
    "a file of the interpreter": "open(os.__file__, 'a')",
    "the changes beside the layer": "os.listdir(home + '/../layer0')[0]",
    "the work of the layer": "open(home + '/../layer0/work/x', 'w')",
    "a device": "os.mknod('device', 0o20600, os.makedev(1, 1))",
    "a namespace": "(lambda: 1 / 0 if libc.unshare(0x10000000) else None)()",
    "a mount": "(lambda: 1 / 0 if libc.mount(b'x', b'/tmp', b'tmpfs', 0, 0) else None)()",
    "unmounting the layer": "(lambda: 1 / 0 if libc.umount2(of['folder'].encode(), 2) else None)()",
    "becoming root": "os.setuid(0)",
    "a filter of its own": "(lambda: 1 / 0 if libc.syscall(317, 1, 8, 0) else None)()",
    "the memory of the supervisor": "open('/proc/1/mem', 'rb')",
    "the environment of the supervisor": "open('/proc/1/environ').read(1)[0]",
    "tracing the supervisor": "(lambda: 1 / 0 if libc.ptrace(16, 1, 0, 0) else None)()",
    "stopping the supervisor": "(os.kill(1, 9), time.sleep(0.2), 1 / 0)",
    "more processes for itself": "open('/proc/sys/kernel/pid_max', 'w').write('99999')",
    "a longer life": "open('/proc/self/oom_score_adj', 'w').write('-1000')",
}  # fmt: skip
"""Each raises, in the program itself and in a child of it."""
ATTACK = """
import ctypes, os, socket, sys, time
of, home, libc = {of!r}, os.path.expanduser("~"), ctypes.CDLL(None)
def lone(kind=socket.SOCK_STREAM):
    one, other = socket.socketpair(socket.AF_UNIX, kind)
    other.close()
    return one
os.chdir(of["folder"])
child = os.fork()
done = []
for name, text in {attacks!r}.items():
    try: eval(text)
    except Exception: continue
    done.append(name)
if child == 0: os._exit(len(done))
print(done, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.parametrize("warm", [False, True])
def test_nothing_outside_is_written_or_reached(
    sandbox: ProcessSandbox, folder: Path, outside: dict[str, object], warm: bool
) -> None:
    program = ATTACK.format(of={**outside, "folder": str(folder)}, attacks=ATTACKS)
    outcome = run(sandbox, program, folder, warm=warm)
    assert outcome.output == b"[] 0\n", outcome
    assert sorted(path.name for path in folder.iterdir()) == ["datagrams", "inner", "streams"]


def test_the_replaced_file_stays_hidden_under_a_layer(sandbox: ProcessSandbox, folder: Path) -> None:
    (folder / "hidden.py").write_text("original")
    program = f"""
    import os, pathlib, shutil
    os.chdir({str(folder)!r})
    print(open("hidden.py").read())
    name = "hidden.py"
    for act in (lambda: os.unlink(name), lambda: os.rename(name, "x"), lambda: open(name, "w"),
                lambda: os.link(name, "y"), lambda: os.rename("inner", name)):
        try: act(); print("changed")
        except OSError: pass
    os.makedirs("copy"); shutil.move("inner", "copy/inner")
    print(any("original" in path.read_text() for path in pathlib.Path().rglob("*") if path.is_file()))
    """
    job = Job(
        {"program.py": textwrap.dedent(program).encode()},
        "program.py",
        Path(sys.executable),
        readable=(folder,),
        limits=Limits(processes=4, seconds=30.0),
        covers={folder / "hidden.py": b"instead"},
        writable=(folder,),
    )
    assert sandbox.run(job).output == b"instead\nFalse\n"


# Every limit is told, whatever the program makes of it.

EXCEEDING = {
    "use more than 256 MiB of memory": "hoard = [bytearray(b'x') * (1 << 20) for _ in range(3000)]",
    "use more than 256 MiB of memory (children)": """
        import os, time
        for _ in range(8):
            if os.fork() == 0: hoard = bytearray(b'x') * (60 << 20); time.sleep(60)
        time.sleep(60)
    """,
    "use more than 256 MiB of memory (shared)": """
        import mmap
        memory = mmap.mmap(-1, 1 << 30)
        for at in range(0, 1 << 30, 4096): memory[at] = 1
    """,
    "write more than 64 MiB of files": """
        for name in range(40):
            with open(f"f{name}", "wb") as file: file.write(bytes(2 << 20))
        import time; time.sleep(9)
    """,
    "write more than 64 MiB of files (of the project)": """
        with open("/dev/shm/x", "wb") as file:
            for _ in range(40): file.write(bytes(2 << 20))
        import time; time.sleep(9)
    """,
    "write more than 64 MiB of files (empty ones)": """
        for name in range(30000): open(f"f{name}", "w").close()
        import time; time.sleep(9)
    """,
    "have more than 64 processes and threads": """
        import threading, time
        for _ in range(100): threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
        time.sleep(9)
    """,
    "have more than 64 processes and threads (forks)": """
        import os, time
        for _ in range(100):
            if os.fork() == 0: time.sleep(30)
        time.sleep(9)
    """,
}


@pytest.mark.parametrize("name", EXCEEDING)
def test_what_exceeds_a_limit_is_told(sandbox: ProcessSandbox, name: str) -> None:
    body = textwrap.indent(textwrap.dedent(EXCEEDING[name]), "    ")
    program = f"try:\n{body}\nexcept BaseException: pass\nprint('it goes on')"
    outcome = run(sandbox, program, memory_bytes=256 << 20, disk_bytes=64 << 20, processes=64)
    assert outcome.refusals == (f"it may not {name.partition(' (')[0]}",), outcome
    assert b"it goes on" not in outcome.output


def test_every_refused_call_is_told_once(sandbox: ProcessSandbox) -> None:
    numbers = {**calls.refused_calls(MACHINE), "memfd_create": calls.allowed_calls(MACHINE)["memfd_create"]}
    names = [*numbers]
    for start in range(0, len(names), 12):
        some = {name: numbers[name] for name in names[start : start + 12]}
        program = f"""
        import ctypes, errno
        libc = ctypes.CDLL(None, use_errno=True)
        for number in {[*some.values()]!r} * 2:
            assert libc.syscall(number, -1, 0, 0, 0, 0, 0) == -1 and ctypes.get_errno() == errno.EPERM
        print("caught")
        """
        outcome = run(sandbox, program)
        assert outcome.output == b"caught\n", outcome
        assert outcome.refusals == tuple(f"it may not make the system call {name}" for name in some)


@pytest.mark.parametrize(
    "family", [name for name in ("AF_UNIX", "AF_PACKET", "AF_NETLINK") if hasattr(socket, name)]
)
def test_every_refused_socket_is_told(sandbox: ProcessSandbox, family: str) -> None:
    program = f"""
    import os, socket
    if (child := os.fork()) == 0:
        try: socket.socket(socket.{family}, socket.SOCK_STREAM)
        except PermissionError: os._exit(7)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    outcome = run(sandbox, program)
    what = (
        "a Unix socket" if family == "AF_UNIX" else f"a socket of the family {getattr(socket, family).value}"
    )
    assert (outcome.output, outcome.refusals) == (b"7\n", (f"it may not open {what}",))


def test_a_program_that_stays_within_its_limits_is_told_nothing(
    sandbox: ProcessSandbox, folder: Path
) -> None:
    program = """
    import hypothesis, numpy, pytest, sqlite3, ssl, socket, subprocess, sys, multiprocessing, platform
    numpy.ones((300, 300)) @ numpy.ones((300, 300)); socket.getaddrinfo("localhost", 80); platform.platform()
    subprocess.run([sys.executable, "-c", "import numpy"], check=True)
    pytest.main(["--version"]); multiprocessing.Queue()
    """
    outcome = run(sandbox, program, folder, processes=200)
    assert (outcome.code, outcome.refusals) == (0, ()), outcome


# Time is the program's own.


@pytest.mark.parametrize(
    "program",
    [
        "import time; time.sleep(60)",
        "import threading; threading.Event().wait()",
        "import subprocess; subprocess.run(['sleep', '60'])",
        "import socket; socket.create_server(('', 0)).accept()",
    ],
)
def test_a_program_that_only_waits_is_ended(sandbox: ProcessSandbox, program: str) -> None:
    outcome = run(sandbox, program, seconds=0.5)
    assert outcome.ending is Ending.TIMED_OUT
    assert outcome.refusals == ()


def test_a_program_that_computes_is_not_ended_for_the_time_it_takes(sandbox: ProcessSandbox) -> None:
    program = """
    import threading, time
    def compute():
        while time.process_time() < 1.5: pass
    thread = threading.Thread(target=compute); thread.start(); thread.join(); print("done")
    """
    assert run(sandbox, program, seconds=0.7).output == b"done\n"


def test_processor_time_is_that_of_all_processes(sandbox: ProcessSandbox) -> None:
    program = "import os\nfor _ in range(3):\n    if os.fork() == 0: break\nwhile True: pass"
    outcome = run(sandbox, program, cpu_seconds=2)
    assert (outcome.ending, outcome.refusals) == (Ending.TIMED_OUT, ())
