"""The filter lets interpreters do what they need, and nothing else; both are tried for real."""

from __future__ import annotations

import errno
import os
import re
import sys
import textwrap
from pathlib import Path

import pytest

from counterlens.sandbox import registry
from counterlens.sandbox.base import Job, Limits, Sandbox

if sys.platform != "linux":
    pytest.skip("seccomp is of Linux", allow_module_level=True)

from counterlens.sandbox.linux import calls, seccomp

MACHINES = sorted(calls.MACHINES)
USABLE = [found.name for found in registry.available() if found.usable]
ALLOW, REFUSE, ABSENT = 0x7FFF0000, 0x50000 | errno.EPERM, 0x50000 | errno.ENOSYS
OWN = 77
HEADERS = {
    "x86_64": ("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "/usr/include/asm/unistd_64.h"),
    "aarch64": ("/usr/include/asm-generic/unistd.h",),
}


def decision(machine: str, number: int, *arguments: int, wide: bool = False) -> int:
    """The answer of the filter, by an interpreter of its few instructions."""
    code = seccomp.program(machine, OWN, wide=wide)
    words = {0: number, 4: {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}[machine]}
    words |= {16 + 8 * at: value for at, value in enumerate(arguments)}
    held, at = 0, 0
    while True:
        kind, yes, no, value = code[at]
        at += 1
        if kind == 0x20:
            held = words.get(value, 0)
        elif kind == 0x54:
            held &= value
        elif kind == 0x06:
            return value
        else:
            true = {0x15: held == value, 0x35: held >= value, 0x45: bool(held & value)}[kind]
            at += yes if true else no


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("wide", [False, True])
def test_what_is_not_in_the_list_is_not_allowed(machine: str, wide: bool) -> None:
    allowed = {*(calls.wide_calls if wide else calls.allowed_calls)(machine).values()}
    named = {*calls.conditional(machine).values()}
    for number in {*range(1200), 2**30, 2**30 + 1, 2**31, 2**32 - 1} - named:
        answer = decision(machine, number, wide=wide)
        assert (answer == ALLOW) == (number in allowed), number
        if calls.NEWEST < number < 2**30:
            assert answer == ABSENT, number
    assert decision(machine, 435) == ABSENT  # clone3, for which libc has clone


@pytest.mark.parametrize("machine", MACHINES)
def test_some_calls_depend_on_what_they_are_asked(machine: str) -> None:
    of = calls.conditional(machine)
    for name, good, bad in (
        ("kill", (OWN, 9), (OWN + 1, 9)),
        ("tgkill", (OWN, 5, 6), (1, 5, 6)),
        ("prlimit64", (0,), (1,)),
        ("sched_setaffinity", (OWN,), (1,)),
        ("setpriority", (0, 0), (2, 0)),
        ("setpriority", (0, OWN), (0, 1)),
        ("socketpair", (1, 1 | 0o2000000), (1, 2)),
        ("socketpair", (1, 5), (2, 1)),
        ("setsockopt", (5, 1, 20), (5, 1, 26)),  # a time-out; a filter of packets
        ("setsockopt", (5, 1, 7), (5, 6, 7)),
        ("clone", (0x3D0F00,), (17,)),
        ("clone", (0x3D0F00,), (0x3D0F00 | 0x10000000,)),
        ("fcntl", (3, 1030), (3, 8)),  # a duplicate; F_SETOWN
        ("fcntl", (3, 6), (3, 1024)),  # a lock; F_SETLEASE
        ("fcntl", (3, 4), (3, 1026)),  # flags; F_NOTIFY
        ("prctl", (15,), (22,)),  # a name; PR_SET_SECCOMP
    ):
        assert decision(machine, of[name], *good) == ALLOW, name
        assert decision(machine, of[name], *bad) == REFUSE, name
    assert decision(machine, of["ioctl"], 0, 0x5413) == ALLOW
    assert decision(machine, of["ioctl"], 0, 0x5412) == 0x50000 | errno.ENOTTY  # TIOCSTI


@pytest.mark.parametrize("machine", MACHINES)
def test_a_wide_room_has_processes_and_the_internet_but_no_other_sockets(machine: str) -> None:
    of = calls.conditional(machine)
    no_such = 0x50000 | errno.EAFNOSUPPORT
    for name, arguments, closed, wide in (
        ("clone", (17,), REFUSE, ALLOW),
        ("clone", (17 | 0x10000000,), REFUSE, REFUSE),
        ("kill", (1, 9), REFUSE, ALLOW),
        *(
            ("socket", (family, kind, 0), REFUSE, ALLOW)
            for family in (2, 10)
            for kind in (1, 2, 1 | 0o2004000)
        ),
        *(("socket", (2, 1, protocol), REFUSE, ALLOW) for protocol in (6, 17)),
        *(("socket", (2, 1, protocol), REFUSE, REFUSE) for protocol in (1, 132, 262)),
        *(("socket", (2, kind, 0), REFUSE, REFUSE) for kind in (3, 5, 10)),
        *(("socket", (family, 1, 0), REFUSE, REFUSE) for family in (0, 1, 3, 16, 17, 38, 40)),
        *(("socket", (family, 0x80801, 0), REFUSE, REFUSE) for family in (3, 16, 17)),
        ("socket", (1, 0x80801, 0), REFUSE, no_such),  # the C library asks `nscd` for a name
        ("socket", (16, 0x80003, 0), REFUSE, no_such),  # and the kernel for the addresses here
        ("setsockopt", (5, 1, 26), REFUSE, REFUSE),
        ("setsockopt", (5, 6, 1), REFUSE, ALLOW),  # no delay
        ("setsockopt", (5, 6, 31), REFUSE, REFUSE),  # another protocol in TCP's place
        ("setsockopt", (5, 41, 26), REFUSE, ALLOW),
        ("setsockopt", (5, 41, 1), REFUSE, REFUSE),  # another family
        ("setsockopt", (5, 0, 35), REFUSE, REFUSE),
    ):
        assert decision(machine, of[name], *arguments) == closed, (name, arguments)
        assert decision(machine, of[name], *arguments, wide=True) == wide, (name, arguments)
    assert decision(machine, calls.allowed_calls(machine)["memfd_create"], wide=True) == REFUSE


@pytest.mark.parametrize("machine", MACHINES)
def test_the_numbers_are_the_kernels(machine: str) -> None:
    found = [Path(name) for name in HEADERS[machine] if Path(name).is_file()]
    if not found:
        pytest.skip("the kernel's headers are not here")
    pattern = re.compile(r"#define __NR(?:3264)?_(\w+)\s+(\d+)")
    known = dict(pattern.findall(found[0].read_text(encoding="ascii")))
    known.setdefault("newfstatat", known.get("fstatat", ""))
    ours = calls.allowed_calls(machine) | calls.wide_calls(machine) | calls.conditional(machine)
    ours |= calls.absent(machine) | calls.refused_calls(machine)
    compared = [name for name in ours if name in known]
    assert len(compared) > 140
    assert {name: ours[name] for name in compared} == {name: int(known[name]) for name in compared}


FORBIDDEN = """
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
let = []
def call(name, number, *arguments):
    ctypes.set_errno(0)
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    if libc.syscall(ctypes.c_long(number), *words) >= 0 or ctypes.get_errno() not in (1, 38):
        let.append((name, errno.errorcode.get(ctypes.get_errno())))
for name, number in {calls!r}.items():
    call(name, number, -1, 0, 0, 0, 0, 0)
for number in range({newest} + 1, {newest} + 60):
    call(str(number), number, 0, 0, 0)
handle = os.open("program.py", os.O_RDONLY)
folder = os.open(".", os.O_RDONLY)
for name, number, arguments in (
    ("F_SETLEASE", {fcntl}, (handle, 1024, 0)), ("F_NOTIFY", {fcntl}, (folder, 1026, 2)),
    ("F_SETOWN", {fcntl}, (handle, 8, os.getpid())), ("F_SETSIG", {fcntl}, (handle, 10, 9)),
    ("PR_SET_SECCOMP", {prctl}, (22, 2, 0)), ("PR_SET_DUMPABLE", {prctl}, (4, 1, 0)),
    ("another's priority", {setpriority}, (0, 1, 19)), ("a user's", {setpriority}, (2, 0, 19)),
    ("another's affinity", {sched_setaffinity}, (1, 8, bytes(8))),
    ("a namespace", {clone}, (0x10000011, 0, 0, 0, 0)), ("clone3", 435, (bytes(88), 88)),
):
    call(name, number, *arguments)
print(let)
"""
NAMES = """
    socket connect bind listen accept4 ptrace process_vm_readv process_vm_writev process_madvise pidfd_getfd
    pidfd_send_signal kcmp unshare setns mount umount2 pivot_root chroot open_tree move_mount fsopen
    fsconfig fsmount fspick mount_setattr name_to_handle_at open_by_handle_at fchown fchownat setxattr
    fsetxattr removexattr inotify_init1 inotify_add_watch fanotify_init fanotify_mark quotactl quotactl_fd
    shmget shmat semget semop msgget mq_open add_key request_key keyctl bpf perf_event_open userfaultfd
    seccomp io_uring_setup io_uring_enter io_uring_register io_setup io_submit setuid setgid setgroups
    capset sched_setscheduler sched_setattr ioprio_set migrate_pages move_pages mbind mlock mlockall
    init_module finit_module delete_module kexec_load kexec_file_load reboot swapon swapoff settimeofday
    clock_settime adjtimex sethostname acct syslog personality vhangup vmsplice splice tee remap_file_pages
    timer_create landlock_create_ruleset landlock_restrict_self memfd_secret process_mrelease lookup_dcookie
    tkill rt_sigqueueinfo rt_tgsigqueueinfo execveat
"""


@pytest.fixture(scope="module", params=USABLE)
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    made = registry._create(request.param)
    if not dict(made.guarantees)["processes"]:
        pytest.skip("no filter can be installed here")
    return made


def output(sandbox: Sandbox, program: str, **limits: int) -> str:
    job = Job(
        {"program.py": textwrap.dedent(program).encode()},
        "program.py",
        Path(sys.executable),
        limits=Limits(seconds=30.0, open_files=128, **limits),
    )
    outcome = sandbox.run(job)
    assert outcome.code == 0, outcome.errors.decode()
    return outcome.output.decode().strip()


@pytest.mark.parametrize("wide", [False, True])
def test_the_kernel_never_hears_of_what_is_forbidden(sandbox: Sandbox, wide: bool) -> None:
    """Any other error than "not permitted" and "no such call" is one of the call itself."""
    machine = os.uname().machine
    place = next((Path(name) for name in HEADERS.get(machine, ()) if Path(name).is_file()), None)
    if place is None:
        pytest.skip("the kernel's headers are not here")
    found = dict(re.findall(r"#define __NR_(\w+)\s+(\d+)", place.read_text(encoding="ascii")))
    free = {*calls.wide_calls(machine), "socket"} if wide else {*calls.allowed_calls(machine)}
    closed = {name: int(found[name]) for name in NAMES.split() if name in found and name not in free}
    assert len(closed) > (80 if wide else 90)
    some = {
        name: calls.conditional(machine)[name]
        for name in ("fcntl", "prctl", "setpriority", "sched_setaffinity", "clone")
    }
    program = FORBIDDEN.format(calls=closed, newest=calls.NEWEST, **some)
    assert output(sandbox, program, processes=8 * wide) == "[]"


REAL = {
    "files": """
        import fcntl, mmap, os, pathlib, shutil, sqlite3, tarfile, tempfile, zipfile
        with tempfile.TemporaryDirectory() as folder:
            one = pathlib.Path(folder, "one"); one.write_text("x" * 70000)
            shutil.copy2(one, one.with_name("two")); shutil.copytree(folder, folder + "/../tree")
            os.link(one, folder + "/hard"); os.symlink(one, folder + "/soft"); os.mkfifo(folder + "/pipe")
            one.chmod(0o600); os.utime(one, (1, 1)); os.truncate(one, 5)
            os.replace(one, one.with_name("new"))
            with zipfile.ZipFile("a.zip", "w") as made: made.write(folder + "/new")
            with tarfile.open("a.tar.xz", "w:xz") as made: made.add(folder + "/new")
            with tarfile.open("a.tar.xz") as made: made.extractall("out")
            base = sqlite3.connect("base"); base.execute("pragma journal_mode = wal")
            base.execute("create table t (x)"); base.execute("insert into t values (1)"); base.commit()
            with open(folder + "/new", "r+b") as file, mmap.mmap(file.fileno(), 0) as seen:
                fcntl.flock(file, fcntl.LOCK_EX); fcntl.lockf(file, fcntl.LOCK_EX)
                seen[0] = 65; seen.flush(); os.fsync(file.fileno()); os.posix_fadvise(file.fileno(), 0, 0, 0)
            names = sorted(path.name for path in pathlib.Path(folder).rglob("*"))
        shutil.rmtree("tree", ignore_errors=True)
        print(names, base.execute("select * from t").fetchall(), os.statvfs(".").f_bsize > 0)
    """,
    "threads and waiting": """
        import asyncio, concurrent.futures, os, queue, select, selectors, signal, socket, threading, time
        one, other = socket.socketpair(); one.settimeout(2); other.setblocking(False)
        one.sendall(b"hello"); print(select.select([other], [], [], 1)[0][0].recv(9))
        poll = select.epoll(); poll.register(one); poll.poll(0)
        signal.signal(signal.SIGALRM, lambda *_: print("alarm")); signal.setitimer(signal.ITIMER_REAL, 0.01)
        signal.sigtimedwait([signal.SIGUSR1], 0.05); signal.raise_signal(signal.SIGALRM)
        os.kill(os.getpid(), signal.SIGALRM); signal.pthread_kill(threading.get_ident(), signal.SIGALRM)
        with concurrent.futures.ThreadPoolExecutor(4) as pool: print(sum(pool.map(abs, range(50))))
        async def child(n): await asyncio.sleep(0.001); return n
        async def main():
            reader, writer = await asyncio.open_connection(sock=one)
            await asyncio.get_running_loop().sock_sendall(other, b"line\\n")
            print(await reader.readline(), sum(await asyncio.gather(*map(child, range(20)))))
            print(await asyncio.to_thread(time.monotonic) > 0)
        asyncio.run(main())
    """,
    "the process itself": """
        import ctypes, os, platform, random, resource, ssl, time, uuid
        print(os.getpid() > 0, os.times().user >= 0, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > 0)
        resource.setrlimit(resource.RLIMIT_NOFILE, (60, 60)); resource.getrlimit(resource.RLIMIT_AS)
        print(len(os.sched_getaffinity(0)) > 0, os.cpu_count() > 0, platform.machine() != "")
        os.sched_setaffinity(0, os.sched_getaffinity(0)); os.nice(1); os.umask(0o22); os.getgroups()
        print(len(os.urandom(8)), len(random.SystemRandom().randbytes(3)), len(str(uuid.uuid4())))
        handle = os.memfd_create("x"); os.write(handle, b"abc")
        print(os.pread(handle, 3, 0), os.isatty(handle))
        print(os.eventfd(1) > 0, time.get_clock_info("monotonic").resolution > 0)
        ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 3)(); ssl.create_default_context()
    """,
    "processes": """
        import asyncio, multiprocessing, os, signal, subprocess, sys
        given = {"text": True, "capture_output": True}
        print(subprocess.run([sys.executable, "-c", "print(input())"], input="hi", **given).stdout)
        print(subprocess.run("echo one | tr a-z A-Z", shell=True, start_new_session=True, **given).stdout)
        child = subprocess.Popen(["sleep", "9"]); child.send_signal(signal.SIGTERM); print(child.wait(5))
        print(os.posix_spawn("/bin/true", ["true"], {}) > 0, os.waitpid(-1, 0)[1])
        if os.fork() == 0: os._exit(3)
        print(os.waitstatus_to_exitcode(os.wait()[1]))
        async def main():
            made = await asyncio.create_subprocess_exec("cat", stdin=-1, stdout=-1)
            print((await made.communicate(b"through"))[0])
        asyncio.run(main())
        fork = multiprocessing.get_context("fork")
        one, other = fork.Pipe(); made = fork.Process(target=other.send, args=({"a": 1},)); made.start()
        print(one.recv(), made.join(), made.exitcode)
    """,
}  # fmt: skip
SAID = {
    "files": "['hard', 'new', 'pipe', 'soft', 'two'] [(1,)] True",
    "threads and waiting": "b'hello'\nalarm\nalarm\nalarm\nalarm\n1225\nb'line\\n' 190\nTrue",
    "the process itself": "True True True\nTrue True True\n8 3 36\nb'abc' False\nTrue True",
    "processes": "hi\n\nONE\n\n-15\nTrue 0\n3\nb'through'\n{'a': 1} None 0",
}


@pytest.mark.parametrize("name", REAL)
def test_real_programs_have_what_they_need(sandbox: Sandbox, name: str) -> None:
    more = {"processes": 8} if name == "processes" else {}
    assert output(sandbox, REAL[name], **more) == SAID[name]


def test_pytest_and_compiled_packages_run(sandbox: Sandbox) -> None:
    program = """
    import pathlib, sys
    import numpy, pytest
    assert numpy.linalg.inv(numpy.random.default_rng(0).random((60, 60))).shape == (60, 60)
    pathlib.Path("test_it.py").write_text(
        "import numpy\\n"
        "def test_it(tmp_path, capfd, monkeypatch):\\n"
        "    numpy.save(tmp_path / 'a.npy', numpy.arange(4))\\n"
        "    assert numpy.load(tmp_path / 'a.npy', mmap_mode='r').sum() == 6\\n"
    )
    sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "test_it.py"]))
    """
    assert "1 passed" in output(sandbox, program)
