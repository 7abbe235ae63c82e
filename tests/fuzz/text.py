"""A document as a client keeps it: its text, and edits in the protocol's positions (UTF-16)."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

WORDS = (
    "x", "total", "if ", "else:", "return ", "def f(a, b):", "class C:", "for i in range(3):", "while True:",
    "lambda q: q", "[i for i in y]", "try:", "except* E:", "match x:", "case {'k': v}:", "async ", "await ",
    '"""', "'", '"', "f'{x!r:>{w}}'", "#", "# counterlens: ignore[operators]", "\\\n", "\n", "\n    ", "\r\n",
    "\t", " ", "(", ")", "[", "]", "{", "}", ":", ",", "==", "<=", "+=", "->", "@", "π", "😀", "e\u0301",
    "\u200b",
    "\x0c", "0x1F", "1_000", "None", "import os\n", "global x\n", "yield", "\n\n\ndef g():\n    return 1\n",
)  # fmt: skip


@dataclass(slots=True)
class Text:
    """An open document.

    Attributes:
        text: The text as the client knows it.
        version: Its version.
    """

    text: str
    version: int = 1

    def position(self, offset: int) -> dict[str, int]:
        """The protocol's position of an offset: columns are UTF-16 units."""
        before = self.text[:offset]
        line = before.rpartition("\n")[2]
        return {"line": before.count("\n"), "character": len(line.encode("utf-16-le", "surrogatepass")) // 2}

    def place(self, random: Random) -> int:
        """A random offset between two characters, but not within a line end."""
        at = random.randint(0, len(self.text))
        return at - 1 if 0 < at < len(self.text) and self.text[at - 1 : at + 1] == "\r\n" else at

    def edited(self, random: Random) -> dict[str, Any]:
        """Make a random edit, and return it as a change of the protocol."""
        self.version += 1
        if random.random() < 0.03:
            self.text = "".join(random.choice(WORDS) for _ in range(random.randint(0, 60)))
            return {"text": self.text}
        start, end = self.place(random), self.place(random)
        if random.random() < 0.8 or len(self.text) < 20:
            end = start
        start, end = min(start, end), max(start, end)
        if len(self.text) > 1500:
            start, end = self.place(random) // 2, len(self.text)
            start -= self.text[start - 1 : start + 1] == "\r\n"
        new = "".join(random.choice(WORDS) for _ in range(random.choice((0, 1, 1, 1, 2, 5))))
        if self.text[:start].endswith("\r") or new.endswith("\r"):
            new = "\n" + new
        place = {"start": self.position(start), "end": self.position(end)}
        self.text = self.text[:start] + new + self.text[end:]
        return {"range": place, "text": new}
