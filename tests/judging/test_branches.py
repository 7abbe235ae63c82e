"""Branch coverage of a function."""

from __future__ import annotations

import subprocess
import sys

_AT_ONCE = """
import sys, threading
from counterlens.python.judging.differential.original import reach

sys.setswitchinterval(1e-6)
start, failed = threading.Barrier(8), []

def run():
    start.wait()
    try:
        reach("x = 1", range(1, 2), [(-1, 1), (1, -1)])
    except ImportError as error:
        failed.append(error)

threads = [threading.Thread(target=run) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
sys.exit(len(failed))
"""


def test_threads_may_be_the_first_to_need_it_at_once() -> None:
    """Without a lock around the import, one run in six failed."""
    assert [subprocess.run([sys.executable, "-c", _AT_ONCE], check=False).returncode for _ in range(3)] == [
        0
    ] * 3
