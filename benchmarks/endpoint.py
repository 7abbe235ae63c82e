"""Measures the share of an endpoint's capacity that a run uses, if each answer takes 300 ms.

    python benchmarks/endpoint.py [--quick] [--latency SECONDS] [--concurrency N] [--functions N]

A real HTTP server in a separate process answers each request after the latency, and logs the times of
requests and answers. There are two clients, with the same number of concurrent requests:

- `bare`: threads that send the next request immediately after each answer, and do nothing else;
- `run`: `counterlens bench` on functions with given tests, including prompts and judging in the sandbox; with
  many samples of each prompt, so that the endpoint limits the run, not the processors.

A rate is requests over the time from the first request to the last answer. `of_possible` is the rate of the
run over concurrency / latency, which no client can exceed; `of_bare` is over the rate of the bare client. The
exit code is 1 if a run does not reach 0.9 of the possible rate. `in_flight` is the mean number of requests of
the run that wait for their answers.

The start of a run, with the first prompts, and its end, with the last judging, are outside of that time,
except for the capacity that they leave unused between the first request and the last answer.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx

WANTED = 0.9
REQUEST = {"model": "slow", "prompt": "def f(x):", "max_tokens": 16, "temperature": 0, "stream": True}


class Handler(BaseHTTPRequestHandler):
    """Answers after the latency, and logs the times."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    latency = 0.3
    log = threading.Lock()

    def do_GET(self) -> None:
        self._send({"object": "list", "data": [{"id": "slow"}]})

    def do_POST(self) -> None:
        came = time.monotonic()
        self.rfile.read(int(self.headers["Content-Length"]))
        time.sleep(max(0.0, self.latency - (time.monotonic() - came)))
        choice = {"index": 0, "text": "\n    return None\n", "finish_reason": "stop"}
        usage = {"prompt_tokens": 40, "completion_tokens": 4}
        self._send({"object": "text_completion", "choices": [choice], "usage": usage})
        with self.log:
            print(came, time.monotonic(), flush=True)

    def _send(self, body: object) -> None:
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Log only the measured times."""


class Server(ThreadingHTTPServer):
    """Accepts any number of concurrent connections."""

    request_queue_size = 128
    daemon_threads = True


def serve(latency: float) -> None:
    """Serve until standard input ends; the first line of output is the port."""
    Handler.latency = latency
    server = Server(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()


class Served:
    """The server in a separate process.

    Args:
        latency: Seconds until an answer.
    """

    def __init__(self, latency: float) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--serve", str(latency)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.url = f"http://127.0.0.1:{self._process.stdout.readline().strip()}/v1"

    def times(self) -> list[tuple[float, float]]:
        """End the server; returns the times of each request and its answer."""
        out, _ = self._process.communicate()
        return sorted((float(came), float(answered)) for came, answered in map(str.split, out.splitlines()))


def rate(times: list[tuple[float, float]]) -> float:
    """Requests per second, from the first request to the last answer."""
    return len(times) / (max(answered for _, answered in times) - times[0][0])


def in_flight(times: list[tuple[float, float]]) -> float:
    """The mean number of requests that wait for their answers."""
    waits = sum(answered - came for came, answered in times)
    return waits / (max(answered for _, answered in times) - times[0][0])


def bare(latency: float, concurrency: int, requests: int) -> float:
    """The rate of the bare client."""
    served = Served(latency)
    with httpx.Client(trust_env=False) as client, ThreadPoolExecutor(concurrency) as pool:
        list(pool.map(lambda _: client.post(f"{served.url}/completions", json=REQUEST), range(requests)))
    return rate(served.times())


def problems(place: Path, count: int) -> Path:
    """Return a number of functions with a test each, as a dataset."""
    rows = [
        {
            "task_id": f"HumanEval/{i}",
            "prompt": f"def clamp_{i}(x):\n",
            "canonical_solution": (
                f"    if x < {i}:\n        result = {i}\n    else:\n        result = x\n    return result\n"
            ),
            "test": f"def check(candidate):\n    assert (candidate(-3), candidate(99)) == ({i}, 99)\n",
            "entry_point": f"clamp_{i}",
        }
        for i in range(count)
    ]
    path = place / "problems.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def run(latency: float, concurrency: int, functions: int) -> list[tuple[float, float]]:
    """The times of each request of a run and its answer."""
    served = Served(latency)
    with tempfile.TemporaryDirectory() as place:
        entry = f'[models.slow]\nbase-url = "{served.url}"\nconcurrency = {concurrency}\n'
        home = Path(place) / "configuration"
        (home / "counterlens").mkdir(parents=True)
        (home / "counterlens" / "counterlens.toml").write_text(entry)
        command = [sys.executable, "-m", "counterlens", "bench", "--out", f"{place}/run"]
        command += [
            "--data",
            f"humaneval:{problems(Path(place), functions)}",
            "-m",
            "slow",
            "--max-tokens",
            "16",
        ]
        command += ["--placebos", "0", "--mutation", "if-else-flip", "--samples", "20", "--pass-at", "1"]
        command += ["--trust", "--allow-weaker-sandbox"]
        environment = {**os.environ, "XDG_CONFIG_HOME": str(home), "XDG_CACHE_HOME": str(home)}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return served.times()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="use fewer functions")
    parser.add_argument("--latency", type=float, default=0.3)
    parser.add_argument("--concurrency", type=int, default=4)
    parser.add_argument("--functions", type=int)
    parser.add_argument("--serve", type=float, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve is not None:
        serve(given.serve)
        return
    functions = given.functions or (10 if given.quick else 20)
    times = run(given.latency, given.concurrency, functions)
    reached, requests = rate(times), len(times)
    alone = bare(given.latency, given.concurrency, min(requests, 30 * given.concurrency))
    possible = given.concurrency / given.latency
    document = {
        "benchmark": "endpoint",
        "latency": given.latency,
        "concurrency": given.concurrency,
        "requests": requests,
        "possible_per_second": round(possible, 2),
        "bare_per_second": round(alone, 2),
        "run_per_second": round(reached, 2),
        "of_bare": round(reached / alone, 3),
        "of_possible": round(reached / possible, 3),
        "in_flight": round(in_flight(times), 1),
    }
    print(json.dumps(document))
    raise SystemExit(reached < WANTED * possible)


if __name__ == "__main__":
    main()
