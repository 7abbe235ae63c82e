"""A scripted endpoint with three models: one mostly right, one that memorised the code, one too weak."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from counterlens.syntax.document import Document
from counterlens.syntax.functions import functions
from tests.models.remote.conftest import Handler, serving

RIGHT, HABIT, WEAK = "right", "habit", "weak"
_HEADER = re.compile(r"(?m)^def (\w+)\(([^)]*)\).*:$")


class ScriptedModels:
    """Completes the functions of some files.

    Args:
        folder: The folder of the files.
    """

    def __init__(self, folder: Path) -> None:
        self._known: dict[str, str] = {}
        for path in sorted(folder.glob("*.py")):
            document = Document.read(path)
            for one in functions(document):
                self._known[one.name] = document.data[one.start : one.end].decode()

    def written(self, model: str, prompt: str) -> str:
        """A model's continuation of a prompt that ends with a whole line."""
        chance = int(hashlib.sha256(prompt.encode()).hexdigest(), 16) % 100
        header = _HEADER.findall(prompt)[-1]
        function = prompt[prompt.rindex(f"def {header[0]}(") :].rstrip("\n").splitlines()
        last = function[-1]
        indent = " " * (len(last) - len(last.lstrip()) + (4 if last.endswith(":") else 0))
        wrong = f"{indent}return NotImplemented\n"
        if model == WEAK:
            return wrong
        if model == HABIT:  # continues as the memorised file does
            text = self._known[header[0]].splitlines()
            return "\n".join(text[len(function) :]) + "\n" if chance < 95 else wrong
        return wrong if chance >= 90 else self._right(header[0], header[1], indent)

    def _right(self, name: str, parameters: str, indent: str) -> str:
        """The whole function again, and a call of it, whatever precedes."""
        given = ", ".join(
            one.split(":")[0].split("=")[0].strip() for one in parameters.split(",") if one.strip()
        )
        again = self._known[name].replace(f"def {name}(", "def again(", 1)
        found = ""
        for depth in dict.fromkeys((indent, "    ")):
            found += "".join(f"{depth}{line}\n" for line in again.splitlines())
            found += f"{depth}return again({given})\n"
        return found


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The base URL of the endpoint, while the context lasts."""
    models = ScriptedModels(folder)

    def answer(handler: Handler) -> None:
        prompt = handler.body["prompt"]
        text = models.written(handler.body["model"], prompt)
        if not prompt.endswith("\n"):
            text = "\n" + text
        handler.reply(200, {"choices": [{"index": 0, "text": text, "finish_reason": "stop"}]})

    with serving(answer, models=[RIGHT, HABIT, WEAK]) as script:
        yield script.url


if __name__ == "__main__":
    with served(Path(sys.argv[1])) as url:
        print(url, flush=True)
        sys.stdin.read()
