r"""Unicode escapes of Java: which of them are syntax, judged by javac.

`javac` says what a text is: the texts below that have an escape which is syntax are valid Java.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from counterlens.dependence import dependences
from counterlens.errors import SourceError
from counterlens.java.syntax import as_java_reads_it, escape_that_is_syntax
from counterlens.mutations import survey

BODY = """
    static int f(int a) {
        int b = a + 1;
        if (b > 5) { return b; } else { return a; }
    }
    public static void main(String[] x) { System.out.println(f(1) + "," + f(9)); }
}
"""
SYNTAX = {
    "brace": (r"class Main \u007b", r"\u007b"),
    "several u": ("class Main {\n    int \\uuu0041;", r"\uuu0041"),
    "in a name": ("class Main {\n    int caf\\u00e9;", r"\u00e9"),
    "keyword": ("cl\\u0061ss Main {", r"\u0061"),
    "digit": ("class Main {\n    int n = 1\\u0030;", r"\u0030"),
    "blank": ("class\\u0020Main {", r"\u0020"),
    "end of a line comment": ("class Main {\n    // note \\u000a int n = 1;", r"\u000a"),
    "return in a line comment": ("class Main {\n    // note \\u000D int n = 1;", r"\u000D"),
    "end of a block comment": ("class Main {\n    /* note *\\u002f int n = 1;", r"\u002f"),
    "star of an end": ("class Main {\n    /* note \\u002a/ int n = 1;", r"\u002a"),
    "end of a string": ('class Main {\n    String s = "a\\u0022;', r"\u0022"),
    "end of a string and another": ('class Main {\n    String s = "a\\u0022 + "b";', r"\u0022"),
    "end of a character": ("class Main {\n    char c = 'a\\u0027;", r"\u0027"),
    "backslash": ('class Main {\n    String s = "\\u005c"";', r"\u005c"),
    "behind two backslashes": ('class Main {\n    String s = "\\\\\\u0022;', r"\u0022"),
    "start of a comment": ("class Main {\n    \\u002f\\u002f if (", r"\u002f"),
    "start of a string": ('class Main {\n    String s = \\u0022a";', r"\u0022"),
}
TEXT = {
    "letters in literals": "class Main {\n    String s = \"caf\\u00e9\"; char c = '\\uu00e9';",
    "comments": "class Main {\n    // caf\\u00e9 \\u0022 \\u007d\n    /* \\u000a \\u0022 */",
    "odd number of backslashes": 'class Main {\n    // a \\\\u000a b\n    String s = "\\\\u0022";',
    "single quote in a string": 'class Main {\n    String s = "\\u0027";',
    "double quote in a character": "class Main {\n    char c = '\\u0022';",
    "text block": 'class Main {\n    String s = """\n        a \\u00e9 "b" \\""" c\n        """;',
    "slashes in a string": 'class Main {\n    String s = "http://caf\\u00e9 /* \\u000b";',
    "quotes in a comment": "class Main {\n    // it's \"so\n    /* don't */",
}


def outputs(programs: list[str], folder: Path) -> list[str]:
    """What programs of one class `Main` print, compiled by javac and run together."""
    units = {f"Main{i}": text.replace("Main", f"Main{i}") for i, text in enumerate(programs)}
    calls = "".join(f"{name}.main(null);" for name in units)
    units["All"] = f"class All {{ public static void main(String[] x) {{ {calls} }} }}"
    for name, text in units.items():
        (folder / f"{name}.java").write_text(text, encoding="utf-8")
    compiler = [shutil.which("javac") or "", "-nowarn", "-encoding", "UTF-8"]
    compiled = subprocess.run(
        [*compiler, *(f"{name}.java" for name in units)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert compiled.returncode == 0, compiled.stderr
    machine = [shutil.which("java") or "", "All"]
    return subprocess.run(machine, cwd=folder, capture_output=True, text=True, check=True).stdout.splitlines()


@pytest.mark.parametrize(("start", "escape"), SYNTAX.values(), ids=SYNTAX.keys())
def test_an_escape_that_is_syntax_is_named(start: str, escape: str) -> None:
    source = start + BODY
    line = 1 + source.count("\n", 0, source.index(escape))
    expected = f"line {line} has the unicode escape {escape}, "
    assert str(escape_that_is_syntax(source)).startswith(expected)
    for read in (survey, dependences):
        with pytest.raises(SourceError) as refused:
            read(source, language="java") if read is survey else dependences(
                source, "Main.f", language="java"
            )
        assert refused.value.message.startswith(expected)
        assert refused.value.hint is None


@pytest.mark.parametrize("start", TEXT.values(), ids=TEXT.keys())
def test_an_escape_in_a_text_is_no_matter(start: str) -> None:
    source = start + BODY
    assert escape_that_is_syntax(source) is None
    assert as_java_reads_it(source) == source
    assert {"if-else-flip"} <= {made.mutation for made in survey(source, language="java").counterfactuals}
    assert dependences(source, "Main.f", language="java").edges


@pytest.mark.skipif(shutil.which("javac") is None, reason="there is no Java development kit (javac)")
def test_the_translated_text_is_the_same_program(tmp_path: Path) -> None:
    sources = [start + BODY for start, _ in SYNTAX.values()]
    translated = [as_java_reads_it(source) for source in sources]
    assert not set(sources) & set(translated)
    programs = [*sources, *translated]
    assert outputs(programs, tmp_path) == ["1,10"] * len(programs)


@pytest.mark.skipif(shutil.which("javac") is None, reason="there is no Java development kit (javac)")
def test_counterfactuals_of_texts_with_escapes_do_the_same(tmp_path: Path) -> None:
    programs = [
        made.source
        for start in TEXT.values()
        for made in survey(start + BODY, language="java").counterfactuals
        if made.preserving
    ]
    assert len(programs) > 3 * len(TEXT)
    assert outputs(programs, tmp_path) == ["1,10"] * len(programs)
