"""Whatever a file, a model or a server says stays text, in every form, in a hover and at a terminal."""

from __future__ import annotations

import ast
import csv
import io
import json
import unicodedata
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

import counterlens.cli
from counterlens.cli.judge import judge
from counterlens.cli.main import main
from counterlens.cli.saying import say
from counterlens.errors import CounterlensError
from counterlens.lsp.base import CounterlensServer
from counterlens.reports.document import (
    Bullets,
    CodeBlock,
    Difference,
    Folded,
    Gist,
    Heading,
    Marked,
    PairSide,
    Paragraph,
    Report,
    SideBySide,
    TableBlock,
)
from counterlens.reports.expected import code
from counterlens.reports.export.csv import as_csv
from counterlens.reports.export.findings import Annotation
from counterlens.reports.export.view import Exported, ExportedRecord
from counterlens.reports.render import html, latex, markdown, terminal
from counterlens.syntax.document import Document
from counterlens.text import json_text, message_text, printable
from tests.evaluation.made_up import left_out

PIECES = (
    *("`", "``", "```", "\\", "|", "\\|", "\\\\|", "*", "_", "~~", "<", ">", "&lt;", "](b)", "x"),
    *("![x](http://e.x/y)", "<img src=x onerror=alert(1)>", "<https://e.x>", "[a](command:x)"),
    *("https://e.x", "www.e.x", "a@e.x", "# h", "- i", "1. i", "---", "===", "    ", " ", "ä", "🐍"),
    *("\n", "\n\n", "\r", "\r\n", "\x0b", "\x85", "\u2028", "\t", "\x00", "\u202e", "\u200b", "\ud800"),
    *("\x1b[2J", "\x1b]0;t\x07", "\x9b31m", "[bold]", "[/]", "</script>", "<!--", "]]>", "passed"),
    *("%", "$", "#", "{", "}", "^^M", "\\end{table}", "::error::x"),
)
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=8).map("".join)
UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
STRANGE = "``[x](command:y)<img src=x onerror=alert(1)>\x1b[2J\n\n# passed"


def report(text: str) -> Report:
    """A report with a text in every place."""
    side = PairSide(
        text, text, text, Marked(text, "failed"), "python", rests_on=text, failed=text, message=text
    )
    blocks = (
        Heading(1, text),
        Heading(2, text, "there"),
        Paragraph(text, text),
        Paragraph(f"in `{text}` of {text}", Marked(text, "passed"), quiet=True),
        TableBlock(text, (text, "n"), ((text, 1), (Marked(text, "lost"), 2)), text),
        TableBlock("", tuple("abcdef"), ((text,) * 6,)),
        Difference((f"+{text}", f"-{text}")),
        CodeBlock(text),
        SideBySide(3, (side, side)),
        Bullets((text, text)),
        Folded(text, (Paragraph(text),), Marked(text, "held"), kept=True),
        Gist((Paragraph(text, "What this means"),)),
    )
    return Report(text, blocks)


def unseen(text: str, keep: str = "\n\t") -> set[str]:
    return {one for one in text if one not in keep and unicodedata.category(one) in UNSEEN}


class Tags(HTMLParser):
    """The elements of a page as a browser reads it, with the names of their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, tuple[str, ...]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, tuple(name for name, _ in attrs)))

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)


def tags(text: str) -> set[tuple[str, tuple[str, ...]]]:
    parser = Tags()
    parser.feed(text)
    return set(parser.seen)


# As the strictest readers do: links of bare addresses are looked for in what is text.
READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
LIVE = {"link_open", "image", "html_inline", "html_block", "s_open", "hr"}


def structure(text: str) -> tuple[list[str], str]:
    """The kinds of a text's tokens, and what is text in it."""
    kinds, said = [], []
    for token in READER.parse(text):
        kinds.append(token.type)
        for child in token.children or ():
            if child.type in ("text", "code_inline"):
                said.append(child.content)
            kinds.append(child.type)
    return kinds, "".join(said)


@given(TEXTS)
@example(STRANGE)
@example("`\n`")
@settings(max_examples=80, deadline=None)
def test_a_report_stays_inert_in_every_form(text: str) -> None:
    made = report(text)
    assert not unseen(terminal.plain(made))
    page = html.page(made)
    assert tags(page) <= tags(html.page(report("x"))) | {("code", ()), ("th", ("scope", "class"))} | {
        ("td", ("class",))
    }
    assert not unseen(page)
    shown = markdown.render(made)
    assert not unseen(shown)
    assert not LIVE & set(structure(shown)[0]), shown
    tables = latex.render(made)
    assert not unseen(tables)
    set_in = "\n".join(line for line in tables.splitlines() if not line.startswith("%"))
    assert set_in.count("\\end{table}") == 2  # as many as there are tables


@given(TEXTS)
@example("x.py")
@settings(max_examples=20, deadline=None)
def test_no_name_in_a_report_forges_a_line_at_a_terminal(text: str) -> None:
    for end in ("\n", "\r\n"):
        shown = terminal.plain(report(f"{text.strip()}{end}passed  by tests, strong evidence"), width=1_000)
        assert not [line for line in shown.splitlines() if line.startswith("passed  by")], shown


def test_the_first_column_of_a_table_is_as_wide_as_its_words() -> None:
    rows = (("robustness", 1), ("robustness to changes", 2))
    lines = terminal.plain(Report("", (TableBlock("", ("similarity", "n"), rows),)), width=60).splitlines()
    assert [line.split("  ")[0] for line in lines if line.strip()] == [
        "similarity",
        "robustness",
        "robustness to changes",
    ]


@pytest.mark.parametrize("width", [40, 110])
def test_no_width_of_a_terminal_forges_a_line(width: int) -> None:
    for length in range(width - 30, width + 2):
        shown = terminal.plain(report(f"{'x' * length} passed  by tests, strong evidence"), width=width)
        assert not [line for line in shown.splitlines() if line.startswith("passed")], shown


@given(TEXTS)
@example("a``[x](command:y)")
@settings(max_examples=200, deadline=None)
def test_inline_code_is_all_of_what_is_given(text: str) -> None:
    for cell in (markdown.code_span(text), code(text)):
        kinds, said = structure(f"x {cell} y")
        assert kinds.count("code_inline") == (1 if "`" in cell else 0), cell
        assert not LIVE & set(kinds), cell
        row = markdown.table(("a", "b"), [(cell, "last")])
        kinds, said = structure(row)
        assert kinds.count("td_open") == 2
        assert said.endswith("last"), row
        assert not LIVE & set(kinds), row


@given(TEXTS)
@settings(max_examples=150, deadline=None)
def test_escaped_text_is_text_and_no_address_becomes_a_link(text: str) -> None:
    for shown in (markdown.escape(text), markdown.prose(text)):
        kinds, _ = structure(f"x {shown} y")
        assert not LIVE & set(kinds), shown
        assert "em_open" not in kinds or shown != markdown.escape(text)
        bare = markdown.escape(text)
        assert "://" not in bare
        assert "www." not in bare.lower()


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "-1+", "-1e", "+1", ""])
@given(TEXTS)
@example('=HYPERLINK("http://e.x","x")')
@settings(max_examples=20, deadline=None)
def test_no_text_is_a_formula_in_a_spreadsheet(start: str, text: str) -> None:
    text = f"{start}{text}".replace("\ud800", "")  # no record has one
    listed = ExportedRecord(0, text, "completion", text, text, text, left_out(text))
    cells = [
        cell for row in csv.reader(io.StringIO(as_csv(Exported("", (listed,))), newline="")) for cell in row
    ]
    assert {text, f"'{text}"} & {*cells}
    for cell in cells:
        assert not cell.startswith(tuple("=+@\t\r\n\uff1d")), cell
        assert not cell.startswith("-") or float(cell) < 0 or cell.strip("-0.") == "", cell


@pytest.mark.parametrize("number", ["-1", "-0.25", "1e-07", "-1.5e+20", "0"])
def test_a_number_stays_a_number_in_a_spreadsheet(number: str) -> None:
    listed = ExportedRecord(0, "m", "completion", "t", number, "f", left_out())
    assert f",{number}," in as_csv(Exported("", (listed,)))


@given(TEXTS)
@settings(max_examples=100, deadline=None)
def test_json_means_the_same_and_holds_nothing_unseen(text: str) -> None:
    for indent in (None, 2):
        shown = json_text({text: [text, 1]}, indent=indent)
        assert json.loads(shown) == {text: [text, 1]}
        assert not unseen(shown)
        shown.encode()


@given(TEXTS)
@settings(max_examples=60, deadline=None)
def test_a_line_stays_one_line(text: str) -> None:
    place = Annotation(text, 1, 2, text, text)
    assert len(str(place).splitlines()) == 1
    assert len(place.workflow_command.splitlines()) == 1
    for line in (printable(text, keep=""), str(place), place.workflow_command, message_text(text)):
        assert not unseen(line)
    assert "](" not in message_text(text)


def test_what_is_said_at_a_terminal_forges_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    say(f"x.py{STRANGE}\npassed  by tests")
    said = capsys.readouterr().out
    assert not unseen(said)
    assert not [line for line in said.splitlines()[1:] if not line.startswith("  ")]


def test_judge_shows_a_hostile_message_as_text(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(
        "def f():\n    raise ValueError('\\x1b]0;t\\x07\\x1b[2J\\x9b\\npassed  by x')\n"
    )
    (tmp_path / "t.py").write_text("from m import f\n\ndef test_f():\n    assert f() == 1\n")
    said = CliRunner().invoke(judge, [str(tmp_path / "m.py"), "--tests", str(tmp_path / "t.py")]).output
    assert "\\x1b]0;t" in said
    assert not unseen(said)
    assert not [line for line in said.splitlines() if line.startswith("passed")]


def test_an_error_about_a_strangely_named_file_is_text(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["probe", "\x1b]0;t\x07\npassed.py"], ["\x1b[2J"], ["score", "no\x9bthere", "--json"]):
        with pytest.raises(SystemExit):
            main(arguments)
        told = capsys.readouterr()
        assert not unseen(told.out + told.err)
        assert not [line for line in told.err.splitlines() if line.startswith("passed")]


@pytest.mark.parametrize("name", ["a\0b.py", "\ud800.py", "a\nb.py", "x" * 5000])
def test_a_file_that_no_system_names_so_is_one_reason(name: str) -> None:
    with pytest.raises(CounterlensError) as refused:
        Document.read(Path(name))
    printable(str(refused.value)).encode()


def test_what_the_server_logs_and_shows_is_text(caplog: pytest.LogCaptureFixture) -> None:
    CounterlensServer().report_server_error(CounterlensError(f"no {STRANGE}"), None)
    assert not unseen(caplog.messages[0], keep="")


def test_only_one_module_of_the_command_line_writes_to_a_terminal() -> None:
    for path in Path(counterlens.cli.__path__[0]).glob("*.py"):
        if path.name != "saying.py":
            nodes = [
                node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)
            ]
            called = {ast.unparse(node.func) for node in nodes if isinstance(node, ast.Call)}
            assert not called & {"print", "click.echo", "click.secho"}, path
