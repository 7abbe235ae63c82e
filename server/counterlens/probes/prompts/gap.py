"""A source cut in two: the prompt, and the whole program with a completion."""

from __future__ import annotations

from dataclasses import dataclass, replace

from counterlens.confidence.units import units
from counterlens.languages.registry import LANGUAGES
from counterlens.models.base import Draw, Prompt, Stop
from counterlens.probes.prompts.function_text import behind_docstring, used_parts
from counterlens.probes.prompts.language import prompting_of
from counterlens.syntax.document import Document
from counterlens.syntax.functions import MODULE, Function
from counterlens.syntax.statements import is_definition
from counterlens.text import line_start

DEFINITION_BYTES = 8192
"""Length beyond which only the headers of a definition, such as a class, and the function are shown."""

SUFFIX_CHARACTERS = 2048
"""Maximum length of the code after the function that fill-in-the-middle models see."""


@dataclass(frozen=True, slots=True)
class View:
    """The parts of a program shown besides the function.

    Attributes:
        description: The description of the function, shown before the program like its docstring, unless the
            program contains it; empty for none.
        preceding: Whether all code before the function is shown, not only the header of the file.
        imports: Whether the definitions that the function uses from other files are shown.
        used: Whether the definitions that it uses from its own file are shown before it.
    """

    description: str = ""
    preceding: bool = False
    imports: bool = False
    used: bool = False

    def head(self, document: Document, function: Function) -> str:
        """The definitions of other files and the description, unless the program contains it."""
        language = prompting_of(document.language)
        definitions = language.imported(document, function) if self.imports else ""
        words = " ".join(self.description.split())
        if not words or words in " ".join(document.text.split()):
            return definitions
        return definitions + language.described(self.description.strip().replace("\r\n", "\n"))


_USUAL = View()


@dataclass(frozen=True, slots=True)
class Gap:
    r"""A hole in a source: from a cut to the end of the function to complete, or to another offset.

    Prompts have `\n` at line ends; completions get the source's line ends. A prompt shows the header of the
    file and the function's top-level definition, up to the cut: the rest of a long file takes minutes to
    read, and an edit there would change the answer.

    Attributes:
        shown: The prompt's code.
        before: The source up to the cut.
        removed: The original text of the hole.
        stop: The condition that ends a completion at the function's end.
        newline: The line end of the source.
    """

    shown: str
    before: str
    removed: str
    after: str
    stop: Stop
    newline: str

    @classmethod
    def of(
        cls, document: Document, function: Function, cut: int, view: View = _USUAL, end: int | None = None
    ) -> Gap:
        """The hole from a byte offset inside a function to its end, or to another offset, with its prompt."""
        data, language = document.data, prompting_of(document.language)
        stop = language.stop(document, function, cut)
        if end is not None:
            stop = language.inner_stop(document, cut, end)
        end = function.end if end is None else end
        return cls(
            shown=_visible_part(document, function, cut, view),
            before=data[:cut].decode(),
            removed=data[cut:end].decode(),
            after=data[end:].decode(),
            stop=stop,
            newline="\r\n" if "\r\n" in document.text else "\n",
        )

    @classmethod
    def body_of(cls, document: Document, function: Function) -> Gap:
        """The hole of a function's body, after its docstring."""
        return cls.of(document, function, behind_docstring(document, function))

    @classmethod
    def repair(cls, document: Document, function: Function, view: View = _USUAL, why: str = "") -> Gap:
        """The hole of a function's whole body; the prompt first shows the function with its bug.

        The prompt shows the function, a comment that it has a bug, and the header of the fixed function. So
        it suits models for plain completion as well as chat models.

        Args:
            why: What shows the bug, such as a failing test; empty if only its tests know.
        """
        body = behind_docstring(document, function)
        gap = cls.of(document, function, body)
        whole = _visible_part(document, function, function.end, view).rstrip("\n")
        data = document.data
        start = line_start(data, function.start)
        header = data[start:body].decode().replace("\r\n", "\n")
        indentation = header[: len(header) - len(header.lstrip(" \t"))]
        mark = LANGUAGES[document.language].comment
        name = "the program" if function.name == MODULE else function.name
        bug = f"{name} has a bug: {' '.join(why.split())}." if why else f"{name} has a bug."
        told = f"{indentation}{mark} {bug} Here is the mended version:"
        return replace(gap, shown=f"{whole}\n\n\n{told}\n{header}")

    @property
    def rest(self) -> str:
        r"""The original text of the hole, with `\n` at line ends, as models write them."""
        return self.removed.replace("\r\n", "\n")

    @property
    def lines(self) -> range:
        """The lines that begin in the hole, 1-based."""
        begun = bool(self.before.rpartition("\n")[2].strip())
        first = self.before.count("\n") + 1
        return range(first + begun, first + self.removed.rstrip().count("\n") + 1)

    def prompt(self, max_tokens: int) -> Prompt:
        """The prompt for a completion up to the function's end."""
        suffix = self.after.replace("\r\n", "\n")[:SUFFIX_CHARACTERS]
        return Prompt(self.shown, max_tokens, self.stop, suffix=suffix or "\n")

    def own_prompt(self, max_tokens: int, draw: Draw | None) -> Prompt:
        """The same without what follows the hole, which may contain tests of the function."""
        return replace(self.prompt(max_tokens), suffix="\n", draw=draw)

    def fill(self, completion: str) -> str:
        """The whole source with a completion in the hole, without a repeated line after the hole."""
        written = completion.rstrip("\r\n")
        for text in self.stop.texts:
            written = written.removesuffix(text.rstrip("\n"))
        written = written.replace("\n", self.newline)
        return self.before + written + (self.after or self.newline)


def _visible_part(document: Document, function: Function, cut: int, view: View) -> str:
    """The visible part of a document: description, preceding code, and the function up to a cut."""
    whole = view.preceding or function.name == MODULE
    program = document.data[:cut].lstrip(b"\r\n") if whole else _around(document, function, cut, view)
    return view.head(document, function) + program.replace(b"\r\n", b"\n").decode()


def _around(document: Document, function: Function, cut: int, view: View) -> bytes:
    """The header of a document, what the function uses, and the definition around it up to a cut."""
    data = document.data
    unit = next(unit for unit in units(document) if unit.start <= function.header < unit.end)
    header, definition = data[: unit.context], data[unit.start : cut]
    if view.used:
        own = (unit.start, function.end)
        used = [
            data[slice(*part)].strip(b"\r\n") for part in used_parts(document, function)[1:] if part != own
        ]
        header = b"\n\n\n".join([*filter(None, [header.rstrip(b"\r\n"), *used]), b""])
        definition = definition.lstrip(b"\r\n") if header else definition
    if len(definition) > DEFINITION_BYTES:
        outline = _outline(document, function, unit.context)
        definition = b"\n\n\n" + outline + data[line_start(data, function.start) : cut]
    elif outline := _outline(document, function, unit.context, unit.start):
        definition = b"\n\n" + outline + definition.lstrip(b"\r\n")
    return header + definition if header else definition.lstrip(b"\r\n")


def _outline(document: Document, function: Function, start: int, end: int | None = None) -> bytes:
    """The header lines of the classes and functions around a function, outermost first.

    Args:
        start: Byte offset; definitions that begin before it are left out, because they are shown anyway.
        end: Byte offset; definitions that begin at or after it are left out, too. None: the function's start.
    """
    data = document.data
    node = document.tree.root_node.descendant_for_byte_range(function.header, function.header + 1)
    lines: list[bytes] = []
    while node is not None:
        body = node.child_by_field_name("body")
        before = function.start if end is None else end
        if body is not None and is_definition(node) and start <= node.start_byte < before:
            brace = body.start_byte + 1 if data[body.start_byte : body.start_byte + 1] == b"{" else 0
            until = brace or line_start(data, body.start_byte)
            header = data[line_start(data, node.start_byte) : until]
            lines.insert(0, header if header.endswith(b"\n") else header + b"\n")
        node = node.parent
    return b"".join(lines)
