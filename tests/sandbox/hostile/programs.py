"""Hostile programs. Each prints ESCAPED if its attack succeeded; the test fills in `{...}`.

`NEEDS` names the guarantee that each program attacks, besides time.
"""

from __future__ import annotations

PROGRAMS: dict[str, str] = {
    # exhausting resources
    "fork bomb": """
        import os
        made = 0
        for _ in range(3000):
            try:
                if os.fork() == 0:
                    while True: pass
                made += 1
            except OSError: break
        print("ESCAPED" if made else "no")
    """,
    "thread bomb": """
        import threading, time
        threading.stack_size(32768)
        made = 0
        try:
            for _ in range(5000):
                threading.Thread(target=time.sleep, args=(9,), daemon=True).start()
                made += 1
        except (RuntimeError, MemoryError): pass
        print("ESCAPED" if made > 1000 else made, flush=True)
        import os; os._exit(0)
    """,
    "memory bomb": """
        hoard = []
        try:
            while len(hoard) < 4000: hoard.append(bytearray(1 << 20))
            print("ESCAPED")
        except MemoryError: print(len(hoard))
    """,
    "disk filler": """
        written = 0
        try:
            for number in range(300):
                with open(f"fill{number}", "wb") as file: written += file.write(bytes(1 << 20))
        except OSError: pass
        print("ESCAPED" if written > 70 << 20 else "full")
    """,
    "inode filler": """
        made = 0
        try:
            for number in range(60000):
                open(f"f{number}", "w").close(); made += 1
        except OSError: pass
        print("ESCAPED" if made >= 60000 else made)
    """,
    "one huge sparse file": """
        try:
            with open("sparse", "wb") as file: file.truncate(1 << 40)
            print("ESCAPED")
        except OSError as error: print(error)
    """,
    "endless output": "while True: print('x' * 10000)",
    "endless errors": "import sys\nwhile True: sys.stderr.write('x' * 10000)",
    "endless result": """
        import os
        descriptor = int(os.environ["COUNTERLENS_RESULT_FD"])
        while True: os.write(descriptor, b"x" * 65536)
    """,
    "endless loop": "while True: pass",
    "endless sleep": "import time; time.sleep(3600)",
    "ignores SIGTERM": """
        import signal, time
        for number in range(1, 65):
            try: signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError): pass
        while True: time.sleep(1)
    """,
    "blocks all signals": """
        import signal, time
        signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
        while True: time.sleep(1)
    """,
    "file descriptors": """
        import os
        kept = []
        try:
            while len(kept) < 5000: kept.append(os.dup(1))
            print("ESCAPED")
        except OSError: print(len(kept))
    """,
    "raises its own limits": """
        import resource
        for which in (resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_NPROC, resource.RLIMIT_FSIZE):
            try:
                resource.setrlimit(which, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
                print("ESCAPED")
            except (OSError, ValueError): pass
    """,
    "deep recursion": """
        import sys
        sys.setrecursionlimit(10**9)
        def f(n): return f(n + 1)
        f(0)
    """,
    "crash in C": "import ctypes; ctypes.string_at(0)",
    "abort": "import os; os.abort()",
    "stops itself": "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
    # leaving processes behind
    "daemon": """
        import os, time
        try:
            if os.fork() == 0:
                os.setsid()
                if os.fork() == 0: time.sleep(30)
                os._exit(0)
            print("ESCAPED")
        except OSError as error: print(error)
    """,
    "spawns a shell": """
        import subprocess
        try:
            subprocess.Popen(["/bin/sh", "-c", "sleep 30"], start_new_session=True)
            print("ESCAPED")
        except OSError as error: print(error)
    """,
    "clones by hand": """
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        for number, flags in ((56, 17), (57, 0), (58, 0), (435, 0)):
            if libc.syscall(number, flags, 0, 0, 0, 0) > 0: print("ESCAPED", number)
    """,
    # reading what is not theirs
    "reads the home folder": """
        import os, pathlib
        for name in ({secret!r}, {real_home!r} + "/.bashrc", {real_home!r} + "/.ssh", "/root/.bashrc"):
            try:
                (os.listdir if os.path.isdir(name) else open)(name)
                print("ESCAPED", name)
            except OSError: pass
    """,
    "reads the system's secrets": """
        import os
        for name in ("shadow", "gshadow", "sudoers", "machine-id", "fstab", "hostname", "crontab"):
            for path in (f"/etc/{{name}}", f"/usr/../etc/{{name}}", f"/proc/self/root/etc/{{name}}"):
                try: open(path, "rb").read(1); print("ESCAPED", path)
                except OSError: pass
        for folder in ("/etc/ssh", "/etc/ssl/private", "/root", "/var/log", "/var/lib"):
            try: print("ESCAPED", os.listdir(folder))
            except OSError: pass
    """,
    "reads the environment": """
        import os
        texts = [repr(dict(os.environ))]
        for pid in ["self", "thread-self", *range(1, 400), os.getppid()]:
            for what in ("environ", "cmdline"):
                try: texts.append(open(f"/proc/{{pid}}/{{what}}", errors="replace").read())
                except OSError: pass
        if any({token!r} in text for text in texts): print("ESCAPED")
    """,
    "reads /proc/1": """
        import os
        for name in ("environ", "mem", "maps", "root/etc/shadow", "cwd", "fd"):
            path = f"/proc/1/{{name}}"
            try:
                os.listdir(path) if name in ("fd", "cwd") else open(path, "rb").read(10)
                print("ESCAPED", name)
            except OSError: pass
    """,
    "other processes' memory": """
        import os
        for pid in (os.getppid(), 1, 2, {parent}):
            try:
                open(f"/proc/{{pid}}/mem", "r+b", 0)
                if pid != os.getpid(): print("ESCAPED", pid)
            except OSError: pass
    """,
    "devices": """
        import os
        for name in (*os.listdir("/dev"), "sda", "vda", "mem", "kmsg", "tty"):
            if name in ("null", "zero", "full", "random", "urandom"): continue
            try:
                if os.path.isdir("/dev/" + name): continue
                open("/dev/" + name, "rb", 0); print("ESCAPED", name)
            except OSError: pass
    """,
    "inherited descriptors": """
        import os
        for descriptor in range(3, 200):
            try: target = os.readlink(f"/proc/self/fd/{{descriptor}}")
            except OSError: continue
            if not target.startswith(("pipe:", "socket:", "/proc/", "/dev/null")): print("ESCAPED", target)
    """,
    # affecting files, processes and the network outside
    "writes outside": """
        import os
        for path in ({victim!r}, {outside!r} + "/new", "/tmp/counterlens-escaped", "/usr/escaped",
                     {real_home!r} + "/escaped", "/dev/shm/escaped", "/var/tmp/escaped"):
            try:
                with open(path, "w") as file: file.write("changed")
            except OSError: continue
            print("WROTE", path)
        for action in (lambda: os.unlink({victim!r}), lambda: os.rename({victim!r}, {victim!r} + "2"),
                       lambda: os.chmod({victim!r}, 0), lambda: os.symlink("x", {outside!r} + "/link")):
            try: action(); print("ESCAPED")
            except OSError: pass
    """,
    "changes what is known of a file": """
        import os
        for action in (lambda: os.chmod({victim!r}, 0o600), lambda: os.utime({victim!r}, (1, 1)),
                       lambda: os.chown({victim!r}, os.getuid(), os.getgid()),
                       lambda: os.setxattr({victim!r}, "user.x", b"x"), lambda: os.truncate({victim!r}, 0),
                       lambda: os.chmod({outside!r}, 0o700), lambda: os.mkdir({outside!r} + "/escaped")):
            try: action(); print("ESCAPED")
            except OSError: pass
    """,
    "looks at what happens to files": """
        import ctypes
        libc = ctypes.CDLL(None)
        for folder in ({outside!r}, {real_home!r}, "/", "."):
            handle = libc.inotify_init1(0)
            if libc.inotify_add_watch(handle, folder.encode(), 0xfff) >= 0: print("ESCAPED", folder)
        if libc.fanotify_init(0, 0) >= 0: print("ESCAPED fanotify")
    """,
    "folders in folders": """
        import os
        os.makedirs("more"); open("more/file", "w").close(); os.chmod("more", 0)
        for _ in range(2500): os.mkdir("d"); os.chdir("d")
        os.chmod(".", 0); print("done")
    """,
    "a link out": """
        import os
        os.symlink({victim!r}, "out")
        for action in (lambda: open("out", "w").write("x"), lambda: os.link({victim!r}, "hard")):
            try: action(); print("ESCAPED")
            except OSError: pass
    """,
    "loopback": """
        import socket
        for address in (("127.0.0.1", {port}), ("localhost", {port}), ("::1", {port})):
            try:
                socket.create_connection(address, 1)
                print("ESCAPED")
            except OSError: pass
    """,
    "loopback by hand": """
        import ctypes, struct
        libc = ctypes.CDLL(None)
        handle = libc.socket(2, 1, 0)
        if handle >= 0:
            address = struct.pack("<H", 2) + struct.pack(">H", {port}) + bytes([127, 0, 0, 1]) + bytes(8)
            if libc.connect(handle, address, 16) == 0: print("ESCAPED")
    """,
    "datagrams": """
        import socket
        try:
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", {port}))
            print("ESCAPED")
        except OSError: pass
    """,
    "unix socket": """
        import socket
        try:
            socket.socket(socket.AF_UNIX).connect({socket!r})
            print("ESCAPED")
        except OSError: pass
    """,
    "unix datagrams": """
        import socket
        for address in ({datagrams!r}, "\\0" + {abstract!r}):
            for make in (lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM),
                         lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0]):
                try: make().sendto(b"x", address); print("ESCAPED", address)
                except OSError: pass
    """,
    "abstract socket": """
        import socket
        try:
            socket.socket(socket.AF_UNIX).connect("\\0" + {abstract!r})
            print("ESCAPED")
        except OSError: pass
    """,
    "a socket pair is no way out": """
        import socket
        one, other = socket.socketpair()
        for address in ({socket!r}, "\\0" + {abstract!r}):
            try: one.connect(address); print("ESCAPED")
            except OSError: pass
    """,
    "a server of its own": """
        import socket
        try:
            server = socket.create_server(("0.0.0.0", 0)); print("ESCAPED")
        except OSError: pass
    """,
    "io_uring": """
        import ctypes
        if ctypes.CDLL(None).syscall(425, 8, bytes(120)) >= 0: print("ESCAPED")
    """,
    "signals at the parent": """
        import os, signal
        for pid in (os.getppid(), {parent}, {bystander}, 1, -1):
            for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP):
                try:
                    if pid not in (0, os.getpid()): os.kill(pid, number); print("SENT", pid)
                except OSError: pass
    """,
    "a signal by way of a pipe": """
        import fcntl, os
        for pid in ({bystander}, {parent}, -{bystander}, os.getppid()):
            one, other = os.pipe()
            try:
                fcntl.fcntl(one, fcntl.F_SETOWN, pid); fcntl.fcntl(one, 10, 9)
                fcntl.fcntl(one, fcntl.F_SETFL, fcntl.fcntl(one, fcntl.F_GETFL) | os.O_ASYNC)
                os.write(other, b"x")
            except OSError: pass
    """,
    "ptrace": """
        import ctypes, os
        libc = ctypes.CDLL(None)
        for pid in (os.getppid(), {parent}, {bystander}, 1):
            for request in (16, 0x4206):
                if libc.ptrace(request, pid, 0, 0) == 0: print("ESCAPED", pid)
    """,
    "process_vm_readv": """
        import ctypes, os
        room = ctypes.create_string_buffer(8)
        vector = (ctypes.c_size_t * 2)(ctypes.addressof(room), 8)
        for pid in (os.getppid(), {parent}, 1):
            if ctypes.CDLL(None).process_vm_readv(pid, vector, 1, vector, 1, 0) >= 0: print("ESCAPED", pid)
    """,
    "pidfd": """
        import ctypes, os
        for pid in (os.getppid(), 1, {parent}):
            try: handle = os.pidfd_open(pid)
            except OSError: continue
            if ctypes.CDLL(None).syscall(438, handle, 0, 0) >= 0: print("ESCAPED getfd")
            if ctypes.CDLL(None).syscall(424, handle, 9, 0, 0) == 0: print("ESCAPED signal")
    """,
    "mounts and namespaces": """
        import ctypes
        libc = ctypes.CDLL(None)
        if libc.unshare(0x10000000) == 0: print("ESCAPED unshare")
        if libc.mount(b"x", b"/", b"tmpfs", 0, 0) == 0: print("ESCAPED mount")
        if libc.chroot(b"/") == 0: print("ESCAPED chroot")
        if libc.syscall(155, b"/", b"/") == 0: print("ESCAPED pivot")
        if libc.umount2(b"/proc", 2) == 0: print("ESCAPED umount")
    """,
    "becomes root": """
        import os
        for action in (lambda: os.setuid(0), lambda: os.setgroups([0]), lambda: os.chown({victim!r}, 0, 0),
                       lambda: os.mknod("device", 0o60666, os.makedev(8, 0))):
            try: action(); print("ESCAPED")
            except OSError: pass
    """,
    "changes the kernel": """
        for path, text in (("/proc/sys/kernel/core_pattern", "|/x"), ("/proc/sysrq-trigger", "b"),
                           ("/proc/self/oom_score_adj", "-1000"), ("/sys/kernel/uevent_helper", "x")):
            try:
                with open(path, "w") as file: file.write(text)
                print("ESCAPED", path)
            except OSError: pass
    """,
    "undoes its confinement": """
        import ctypes, os
        libc = ctypes.CDLL(None)
        libc.prctl(38, 0, 0, 0, 0); libc.prctl(22, 0, 0, 0, 0); libc.syscall(446, -1, 0)
        try: open({secret!r}); print("ESCAPED")
        except OSError: pass
        try: os.fork() or os._exit(0); print("ESCAPED fork")
        except OSError: pass
    """,
    "shared memory": """
        import ctypes
        if ctypes.CDLL(None).shmget(0x1234, 4096, 0o1666) >= 0: print("ESCAPED")
    """,
    # malformed messages on the channels
    "closes what it has": "import os\nos.closerange(0, 1000)",
    "writes to every descriptor": """
        import os
        for descriptor in range(3, 300):
            try: os.write(descriptor, b"exited 0 0.0\\nsignalled 9 0\\nholds everything\\n")
            except OSError: pass
        print("done")
    """,
    "corrupt UTF-8": "import os\nos.write(1, bytes(range(128, 256)) * 100); os.write(2, b'\\xff\\xfe')",
    "a huge pickled result": """
        import os, pickle
        data = pickle.dumps(["x" * 1000] * 1000 + [bytes(9_000_000)])
        descriptor = int(os.environ["COUNTERLENS_RESULT_FD"])
        while data: data = data[os.write(descriptor, data):]
        print("done")
    """,
    "poisons what comes next": """
        import builtins, os, sys, json
        builtins.print = builtins.open = None; sys.modules["json"] = None; sys.path[:] = []
        os.environ["PYTHONSTARTUP"] = "x"; os.chdir("/"); os.umask(0o777)
        open_ = os.open("left-behind", os.O_CREAT | os.O_WRONLY) if os.access(".", os.W_OK) else 0
    """,
    "leaves files everywhere it may": """
        import os, tempfile, pathlib
        for place in (os.getcwd(), tempfile.gettempdir(), str(pathlib.Path.home())):
            os.makedirs(os.path.join(place, "deep", "er")); open(os.path.join(place, "left"), "w").close()
            os.chmod(os.path.join(place, "deep"), 0)
        print("done")
    """,
}  # fmt: skip
ENDLESS = {name for name in PROGRAMS if name.startswith(("endless", "ignores", "blocks"))} | {"stops itself"}
NEEDS = {
    "processes": {"fork bomb", "thread bomb", "daemon", "spawns a shell", "clones by hand"},
    "disk": {"disk filler", "inode filler"},
    "reads": {"reads the home folder", "reads the system's secrets", "devices", "undoes its confinement"},
    "writes": {"writes outside", "changes what is known of a file", "a link out", "becomes root",
               "changes the kernel"},
    "network": {"loopback", "loopback by hand", "datagrams", "unix socket", "unix datagrams",
                "abstract socket", "io_uring", "a socket pair is no way out", "a server of its own"},
    "signals": {"signals at the parent", "a signal by way of a pipe", "ptrace",
                "looks at what happens to files", "process_vm_readv", "pidfd", "mounts and namespaces",
                "other processes' memory", "reads /proc/1", "shared memory"},
}  # fmt: skip
ALLOWED_IN_A_WIDE_ROOM = {
    "fork bomb",
    "daemon",
    "spawns a shell",
    "clones by hand",
    "a server of its own",
    "one huge sparse file",
    "file descriptors",
    "datagrams",
    "memory bomb",
    "disk filler",
    "inode filler",
    "thread bomb",
    "raises its own limits",
}
"""What these do is no escape from a wide room: other limits end them, or what they reach is not outside."""
