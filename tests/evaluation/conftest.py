"""Code to probe, and models whose speed a test decides."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import embedded_file
from tests.folders import emptied
from tests.test_plugins import install

EXAMPLES = Path(__file__).parents[2] / "examples"
TOY = EXAMPLES / "plugins" / "toy-model"
SLOW = """
    import os
    from dataclasses import replace
    from threading import Event, Lock
    from counterlens.errors import Cancelled
    from counterlens.models.registry import Backend
    from toy_model import BACKEND, ToyModel

    class Slow(ToyModel):
        first = Lock()

        def complete(self, prompts, cancel=None, **more):
            # Long enough to be met in the middle of it; all calls but the first as long as one likes.
            is_first = self.first.acquire(blocking=False)
            seconds = 0.25 if is_first else float(os.environ.get("SLOW_SECONDS", "0.25"))
            if (cancel or Event()).wait(seconds):
                raise Cancelled
            answers = super().complete(prompts, **more)
            names = [("None", "a", "b")[sum(prompt.text.encode()) % 3] for prompt in prompts]
            return [replace(one, text=one.text.replace("None", name)) for one, name in zip(answers, names)]

    SLOW = Backend("slow", "a toy that takes its time", lambda spec: spec == "slow", lambda *_: Slow())
"""


@pytest.fixture
def tmp_path(common_folder: Path) -> Path:
    """An empty folder, the same one for all tests."""
    return emptied(common_folder)


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for runs, with code to probe."""
    embedded_file()
    folder = tmp_path_factory.mktemp("evaluation")
    (folder / "code").mkdir()
    for pattern in ("[a-c]*.py", "gcd.py", "larger.py", "test_*.py"):  # a plan reads all of them
        for path in EXAMPLES.glob(pattern):
            shutil.copy(path, folder / "code")
    return folder


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Lets Ctrl-C end the processes that a test starts, which ignore it if the tests run in the background.

    A shell starts programs in the background with the signal ignored, and they pass that on.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module")
def toys(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Gives commands the models `toy` and `slow`, for tests in which any model will do."""
    site = tmp_path_factory.mktemp("toys")
    install(
        site,
        "toys",
        """
        [counterlens.models]
        toy = toys:BACKEND
        slow = toys:SLOW
        """,
        toys=SLOW,
    )
    path = [str(site), str(TOY), *filter(None, [os.environ.get("PYTHONPATH")])]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(path))
        yield
