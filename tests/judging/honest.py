"""Right programs that write, start processes, use the loopback, threads, much memory or output, as many do.

Each is a `f()` with what it returns.
"""

from __future__ import annotations

HONEST: dict[str, tuple[str, str]] = {
    # files
    "writes a file in the current folder": ("""
        def f():
            with open("out.txt", "w") as file: file.write("hello")
            return open("out.txt").read()
    """, "'hello'"),
    "appends to a log, and goes on if it cannot": ("""
        def f():
            try:
                with open("log.txt", "a") as file: file.write("x")
            except OSError:
                return "no log"
            return "logged"
    """, "'logged'"),
    "makes folders and removes them": ("""
        import os, shutil
        def f():
            os.makedirs("build/deep"); shutil.rmtree("build"); return os.path.exists("build")
    """, "False"),
    "a database in the current folder": ("""
        import sqlite3
        def f():
            base = sqlite3.connect("app.db")
            base.execute("create table if not exists t (x)"); base.execute("insert into t values (7)")
            base.commit(); return base.execute("select max(x) from t").fetchone()
    """, "(7,)"),
    "a sparse file of 200 MB": ("""
        import os
        def f():
            with open("sparse", "wb") as file: file.truncate(200 << 20)
            return os.path.getsize("sparse")
    """, "200 << 20"),
    "a file of 40 MB": ("""
        import os
        def f():
            with open("large", "wb") as file:
                for _ in range(40): file.write(bytes(1 << 20))
            return os.path.getsize("large")
    """, "40 << 20"),
    "a file in the home folder": ("""
        from pathlib import Path
        def f():
            path = Path.home() / ".counterlens-honest"; path.write_text("x"); path.unlink(); return path.name
    """, "'.counterlens-honest'"),
    "a file in /tmp": ("""
        import os
        def f():
            with open("/tmp/counterlens-honest", "w") as file: file.write("x")
            os.unlink("/tmp/counterlens-honest"); return os.path.exists("/tmp/counterlens-honest")
    """, "False"),
    "temporary files": ("""
        import tempfile, pathlib
        def f():
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "a"); path.write_bytes(b"abc"); return path.stat().st_size
    """, "3"),
    "replaces a file of the project": ("""
        import os
        def f():
            with open("new.json", "w") as file: file.write("{}")
            os.replace("new.json", "data.json"); os.chmod("data.json", 0o600)
            return os.stat("data.json").st_mode & 0o777
    """, "0o600"),
    "links and pipes": ("""
        import os
        def f():
            with open("a", "w") as file: file.write("x")
            for name in ("b", "c"):
                if os.path.lexists(name): os.unlink(name)
            os.symlink("a", "b"); os.link("a", "c"); return os.readlink("b"), os.stat("a").st_nlink
    """, "('a', 2)"),
    "the owner and times of a file": ("""
        import os
        def f():
            open("owned", "w").close(); os.chown("owned", os.getuid(), os.getgid())
            os.utime("owned", (5, 5)); return os.stat("owned").st_mtime
    """, "5"),
    "an archive": ("""
        import shutil, tarfile, os
        def f():
            os.makedirs("packed", exist_ok=True); open("packed/a", "w").close()
            name = shutil.make_archive("archive", "gztar", "packed")
            with tarfile.open(name) as archive: archive.extractall("unpacked")
            return os.listdir("unpacked")
    """, "['a']"),
    "many descriptors": ("""
        import os
        def f():
            kept = [os.open(os.devnull, os.O_RDONLY) for _ in range(300)]
            for handle in kept: os.close(handle)
            return len(kept)
    """, "300"),
    "a file shared in memory": ("""
        import mmap
        def f():
            with open("mapped", "w+b") as file:
                file.truncate(8192)
                with mmap.mmap(file.fileno(), 0) as seen: seen[0] = 65
            return open("mapped", "rb").read(1)
    """, "b'A'"),
    "a script that it writes": ("""
        import subprocess, sys
        def f():
            with open("script.py", "w") as file: file.write("import sys; print(sys.argv[1])")
            return subprocess.run([sys.executable, "script.py", "hi"], capture_output=True).stdout
    """, "b'hi\\n'"),
    # processes
    "another interpreter": ("""
        import subprocess, sys
        def f(): return subprocess.check_output([sys.executable, "-c", "print(6 * 7)"], text=True)
    """, "'42\\n'"),
    "a shell": ("""
        import subprocess
        def f(): return subprocess.run("echo one | tr a-z A-Z", shell=True, capture_output=True).stdout
    """, "b'ONE\\n'"),
    "os.system": ("""
        import os
        def f(): return os.waitstatus_to_exitcode(os.system("exit 3"))
    """, "3"),
    "fork": ("""
        import os
        def f():
            if (child := os.fork()) == 0: os._exit(4)
            return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    """, "4"),
    "a pool of processes": ("""
        from concurrent.futures import ProcessPoolExecutor
        def f():
            with ProcessPoolExecutor(2) as pool: return list(pool.map(abs, [-1, 2, -3]))
    """, "[1, 2, 3]"),
    "multiprocessing": ("""
        import multiprocessing
        def put(queue): queue.put("from there")
        def f():
            queue = multiprocessing.Queue()
            child = multiprocessing.Process(target=put, args=(queue,))
            child.start(); said = queue.get(timeout=20); child.join(); return said, child.exitcode
    """, "('from there', 0)"),
    "memory shared between processes": ("""
        from multiprocessing import shared_memory
        def f():
            memory = shared_memory.SharedMemory(create=True, size=100)
            memory.buf[0] = 9; other = shared_memory.SharedMemory(memory.name); seen = other.buf[0]
            other.close(); memory.close(); memory.unlink(); return seen
    """, "9"),
    "a lock and a value of multiprocessing": ("""
        import multiprocessing
        def f():
            value = multiprocessing.Value("i", 1)
            with value.get_lock(): value.value += 1
            return value.value
    """, "2"),
    "ends a child": ("""
        import subprocess
        def f():
            child = subprocess.Popen(["sleep", "30"]); child.terminate(); return child.wait(20)
    """, "-15"),
    "asyncio and a process": ("""
        import asyncio
        async def run():
            child = await asyncio.create_subprocess_exec("cat", stdin=-1, stdout=-1)
            return (await child.communicate(b"through"))[0]
        def f(): return asyncio.run(run())
    """, "b'through'"),
    "talks to a child line by line": ("""
        import subprocess, sys
        def f():
            code = "for line in __import__('sys').stdin: print(line.upper(), end='', flush=True)"
            with subprocess.Popen([sys.executable, "-c", code], stdin=-1, stdout=-1, text=True) as child:
                child.stdin.write("abc\\n"); child.stdin.flush(); said = child.stdout.readline()
                child.stdin.close()
            return said
    """, "'ABC\\n'"),
    # the loopback
    "a server and a client": ("""
        import socket, threading
        def f():
            server = socket.create_server(("127.0.0.1", 0))
            def answer():
                line, _ = server.accept(); line.sendall(line.recv(9).upper()); line.close()
            threading.Thread(target=answer).start()
            with socket.create_connection(server.getsockname(), 20) as line:
                line.sendall(b"hello"); return line.recv(9)
    """, "b'HELLO'"),
    "a thread that serves HTTP": ("""
        import http.server, threading, urllib.request
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self): self.send_response(200); self.end_headers(); self.wfile.write(b"page")
            def log_message(self, *_): pass
        def f():
            with http.server.ThreadingHTTPServer(("localhost", 0), Handler) as server:
                threading.Thread(target=server.serve_forever, daemon=True).start()
                place = f"http://localhost:{server.server_port}/"
                with urllib.request.urlopen(place) as page: text = page.read()
                server.shutdown()
            return text
    """, "b'page'"),
    "datagrams": ("""
        import socket
        def f():
            with socket.socket(type=socket.SOCK_DGRAM) as one, socket.socket(type=socket.SOCK_DGRAM) as other:
                one.bind(("127.0.0.1", 0)); other.sendto(b"x", one.getsockname()); return one.recv(5)
    """, "b'x'"),
    "a server of asyncio": ("""
        import asyncio
        async def run():
            async def answer(reader, writer): writer.write(await reader.readline()); writer.close()
            server = await asyncio.start_server(answer, "127.0.0.1", 0)
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            writer.write(b"echo\\n"); said = await reader.readline(); server.close(); return said
        def f(): return asyncio.run(run())
    """, "b'echo\\n'"),
    "a free port": ("""
        import socket
        def f():
            with socket.socket() as line:
                line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); line.bind(("", 0))
                return line.getsockname()[1] > 0
    """, "True"),
    "a port where nobody listens": ("""
        import socket
        def f():
            with socket.socket() as line: line.bind(("127.0.0.1", 0)); port = line.getsockname()[1]
            try: socket.create_connection(("127.0.0.1", port), 20)
            except ConnectionRefusedError: return "refused"
    """, "'refused'"),
    # threads, memory, output
    "64 threads at work": ("""
        from concurrent.futures import ThreadPoolExecutor
        import threading
        def f():
            together = threading.Barrier(64)
            def work(n): together.wait(20); return n
            with ThreadPoolExecutor(64) as pool: return sum(pool.map(work, range(64)))
    """, "2016"),
    "16 threads that wait for one event": ("""
        import threading
        def f():
            event, seen = threading.Event(), []
            threads = [threading.Thread(target=lambda: seen.append(event.wait(20))) for _ in range(16)]
            for thread in threads: thread.start()
            event.set()
            for thread in threads: thread.join()
            return len(seen)
    """, "16"),
    "3 GB that are mapped and not used": ("""
        import mmap
        def f():
            with mmap.mmap(-1, 3 << 30) as memory: memory[5] = 1; return len(memory)
    """, "3 << 30"),
    "300 MB in use": ("""
        def f(): return len(bytearray(b"x") * (300 << 20))
    """, "300 << 20"),
    "20 MB printed": ("""
        def f():
            for _ in range(200): print("x" * 100_000)
            return "done"
    """, "'done'"),
    "output of a child": ("""
        import subprocess
        def f(): return subprocess.run(["echo", "to the terminal"]).returncode
    """, "0"),
    "what it knows of the machine": ("""
        import os, platform
        def f():
            with open("/proc/meminfo") as file: return file.readline().split(":")[0], os.cpu_count() > 0
    """, "('MemTotal', True)"),
    "the arguments of pytest": ("""
        import sys, argparse
        def f():
            parser = argparse.ArgumentParser(); parser.add_argument("files", nargs="*")
            known, _ = parser.parse_known_args()
            return sys.argv[0].endswith("pytest/__main__.py"), any("test_" in name for name in known.files)
    """, "(True, True)"),
}  # fmt: skip
