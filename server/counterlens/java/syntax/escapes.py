r"""Unicode escapes of Java that are syntax: Java translates them before it reads tokens.

`\u007b` is a brace, and `\u000a` ends a line comment (Java Language Specification, 3.3). Tree-sitter sees
the text as it is written, so the tree of a file with such an escape is not the one that Java sees.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"""
    (?P<line>//[^\r\n]*)
    | (?P<block>/\*.*?(?:\*/|\Z))
    | (?P<text>\"{3}(?:\\.|[^\\])*?(?:\"{3}|\Z))
    | (?P<string>"(?:\\.|[^"\\\r\n])*)
    | (?P<character>'(?:\\.|[^'\\\r\n])*)
    | (?P<code>\\u+[0-9a-fA-F]{4})
    """,
    re.DOTALL | re.VERBOSE,
)
# A backslash behind an odd number of backslashes begins no escape.
_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*(?P<escape>\\u+(?P<digits>[0-9a-fA-F]{4}))")
_ENDING = {"line": "\r\n", "block": "*/", "text": '"\\', "string": '"\\\r\n', "character": "'\\\r\n"}
"""The characters that end a token, or change how the rest of it is read."""


def escape_that_is_syntax(source: str) -> str | None:
    r"""Why the tree of a Java source is not the one that Java sees; None if it is.

    Escapes in literals and comments are text, unless they end one, as `\u0022` does.
    """
    for token in _TOKEN.finditer(source) if "\\u" in source else ():
        for escape in _ESCAPE.finditer(token[0]):
            kind = token.lastgroup
            if kind == "code" or chr(int(escape["digits"], 16)) in _ENDING[str(kind)]:
                line = source.count("\n", 0, token.start() + escape.start("escape")) + 1
                return (
                    f"line {line} has the unicode escape {escape['escape']}, which Java translates before it "
                    "reads tokens; Counterlens cannot"
                )
    return None


def as_java_reads_it(source: str) -> str:
    """The text with its unicode escapes translated, if one of them is syntax; the same program for Java.

    An escaped backslash before another one or a `u` stays, as do halves of surrogate pairs and controls.
    """
    return source if escape_that_is_syntax(source) is None else _ESCAPE.sub(_translate, source)


def _translate(escape: re.Match[str]) -> str:
    character = chr(int(escape["digits"], 16))
    follows = escape.string[escape.end() : escape.end() + 1]
    begins_another = character == "\\" and follows in {"u", "\\"}
    if begins_another or not (character.isprintable() or character in "\t\n\f\r"):
        return escape[0]
    return escape[0].removesuffix(escape["escape"]) + character
