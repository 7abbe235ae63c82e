"""`counterlens score`: languages, granularities, corpora, pages, and what is left out with a reason."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.test_cli import SIGN, Cli

pytestmark = pytest.mark.usefixtures("short_by_default")
JAVA = "class A {\n    int f(int x) {\n        return x + 1;\n    }\n}\n"
SCRIPT = "export const f = (x) => {\n  return `${x + 1}`;\n};\n"


@pytest.fixture
def cli(capfd: pytest.CaptureFixture[str]) -> Cli:
    return Cli(capfd)


@pytest.mark.parametrize(
    ("name", "source", "kind"),
    [
        ("a.py", SIGN, "if_statement"),
        ("A.java", JAVA, "binary_expression"),
        ("a.js", SCRIPT, "arrow_function"),
        ("a.go", "package a\n\nfunc f(xs ...int) int { return xs[0] }\n", "variadic_parameter_declaration"),
    ],
)
def test_every_language_with_a_grammar_is_scored(
    cli: Cli, tmp_path: Path, name: str, source: str, kind: str
) -> None:
    path = tmp_path / name
    path.write_text(source)
    ran = cli("score", path, "--json", "--by", "concept", "--aggregate", "median", "--rule", "start")
    assert ran.code == 0, ran.err
    assert (ran.json["aggregation"], ran.json["rule"], ran.json["by"]) == ("median", "start", "concept")
    assert any(node["type"] == kind and node["confidence"] is not None for node in ran.json["nodes"])
    assert ran.json["bits_per_byte"] > 0
    assert {span["level"] for span in ran.json["spans"]} <= set(range(len(ran.json["levels"])))
    starts = [span["start"] for span in ran.json["spans"]]
    assert starts == sorted(starts)


def test_the_report_shows_the_code_the_legend_and_the_weakest_places(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "a.js"
    path.write_text(SCRIPT)
    ran = cli("score", path, "--by", "leaf")
    assert ran.code == 0, ran.err
    for part in ("return `${x + 1}`;", "by leaf:", "below 1 %", "least certain", "bits per byte"):
        assert part in ran.out


def test_a_language_is_named_where_the_name_does_not_tell(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "code.txt"
    path.write_text(JAVA)
    assert "language of code.txt is unknown" in cli("score", path).err
    ran = cli("score", path, "--language", "java", "--json")
    assert ran.code == 0, ran.err
    assert ran.json["language"] == "java"
    assert "no language klingon" in cli("score", path, "--language", "klingon").err
    assert "pip install tree-sitter-kotlin" in cli("score", path, "--language", "kotlin").err


def test_what_no_table_knows_is_shown_as_uncategorised(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "a.sh"
    path.write_text('for x in *; do\n  echo "$(wc $x)"\ndone\n')
    why = "uncategorised: node types of shellscript, which has no concept table."
    shown = cli("score", path).out
    assert re.search(r"^uncategorised +0\.\d\d ", shown, re.MULTILINE)
    assert why in shown
    nodes = {node["type"]: node["category"] for node in cli("score", path, "--json").json["nodes"]}
    assert (nodes["command_substitution"], nodes["$("]) == ("uncategorised", "uncategorised")
    assert nodes["for_statement"] == "iteration"
    page = tmp_path / "a.html"
    assert cli("score", path, "--html", page).code == 0
    assert why in page.read_text()
    corpus = cli("score", path, "--global")
    assert "shellscript: 1 file" in corpus.out
    assert why in corpus.out
    (tmp_path / "a.go").write_text("package a\n\nvar x = 1\n")
    assert "uncategorised" not in cli("score", tmp_path / "a.go").out
    assert (
        "2 languages, each reported separately: go (1 file), shellscript (1 file)"
        in cli("score", tmp_path).out
    )


def test_what_is_generated_is_scored_only_when_that_is_insisted_on(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "made.py"
    path.write_text("# @generated\nx = 1\n")
    ran = cli("score", path)
    assert ran.code == 1
    assert "it is generated: line 1" in ran.err
    assert "--anyway" in ran.err
    assert cli("score", path, "--anyway", "--json").code == 0


def test_a_folder_is_a_corpus_with_the_same_interval_for_the_same_seed(
    cli: Cli, tmp_path: Path, short: list[str]
) -> None:
    names = [f"a{i}.py" for i in range(6)]
    sources = {name: SIGN.replace("0", str(i)) for i, name in enumerate(names)}
    for name, source in (*sources.items(), ("notes.txt", "x"), ("c.py", "")):
        (tmp_path / name).write_text(source)
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "d.js").write_text(SCRIPT)
    (tmp_path / "made_pb2.py").write_text("x = 1\n")
    one = cli("score", tmp_path, *short, "--json", "--seed", "3")
    assert one.code == 0, one.err
    assert [Path(path).name for path in one.json["files"]] == names
    assert {Path(each["path"]).name: each["reason"] for each in one.json["skipped"]} == {
        "c.py": "is empty: there is nothing to score",
        "made_pb2.py": "it is generated: its name is made_pb2.py",
    }
    low, high = one.json["all"]["interval"]
    assert low <= one.json["all"]["median"] <= high
    assert one.json["concepts"]["scope"]["files"] == 6
    assert list(one.json["languages"]) == ["python"]
    assert one.json["languages"]["python"]["all"] == one.json["all"]
    assert cli("score", tmp_path, *short, "--json", "--seed", "3").json == one.json
    table = cli("score", tmp_path / "a0.py", *short, "--global")
    assert table.code == 0, table.err
    assert "too few files" in table.out


def test_languages_are_summed_up_by_themselves(cli: Cli, tmp_path: Path) -> None:
    for name, source in (("a.py", SIGN), ("A.java", JAVA), ("b.py", "x = 1\n")):
        (tmp_path / name).write_text(source)
    both = cli("score", tmp_path, "--json").json
    assert [Path(path).name for path in both["files"]] == ["A.java", "a.py", "b.py"]
    assert (both["concepts"], both["all"], both["bits_per_byte"]) == ({}, None, None)
    assert list(both["languages"]) == ["java", "python"]
    assert [len(each["files"]) for each in both["languages"].values()] == [1, 2]
    assert sum(each["tokens"] for each in both["languages"].values()) == both["tokens"]
    alone = cli("score", tmp_path / "A.java", "--global", "--json").json
    assert both["languages"]["java"] == alone["languages"]["java"]
    assert alone["all"] == alone["languages"]["java"]["all"]
    shown = cli("score", tmp_path).out
    assert "java: 1 file" in shown
    assert "python: 2 files" in shown


def test_a_page_is_written(cli: Cli, tmp_path: Path) -> None:
    source, target = tmp_path / "a.js", tmp_path / "a.html"
    source.write_text(SCRIPT + "// </script>\n")
    ran = cli("score", source, "--html", target)
    assert ran.code == 0, ran.err
    assert str(target) in ran.out
    assert target.read_text().count("</script>") == 2
    assert cli("score", tmp_path, "--html", target).code == 2
    ran = cli("score", source, "--html", tmp_path / "none" / "a.html")
    assert ran.code == 1
    assert "cannot be written" in ran.err


def test_a_folder_without_code_and_a_missing_path_are_said(cli: Cli, tmp_path: Path) -> None:
    assert "nothing to score" in cli("score", tmp_path).err
    assert "there is no file" in cli("score", tmp_path / "a.py", tmp_path / "b.py").err


def test_concepts_are_those_of_the_set_that_is_named(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(SIGN)
    own = cli("score", path, "--json").json
    authors = cli("score", path, "--json", "--concepts", "authors").json
    assert authors["tokens"] == own["tokens"]
    brackets = [node for node in own["nodes"] if node["type"] in {")", ":", "return_statement"}]
    assert authors["concept_nodes"]["scope"] == len(brackets) != own["concept_nodes"]["scope"]
    (tmp_path / "set.toml").write_text('[concepts]\nbrackets = [")"]\n')
    ran = cli("score", path, "--json", "--concepts", str(tmp_path / "set.toml"))
    closing = [node for node in own["nodes"] if node["type"] == ")"]
    assert ran.json["concept_nodes"] == {"brackets": len(closing)}
    corpus = cli("score", tmp_path, "--json", "--concepts", str(tmp_path / "set.toml")).json
    assert corpus["concepts"].keys() == {"brackets"}


def test_files_are_scored_by_the_protocol_function_by_function(cli: Cli, tmp_path: Path) -> None:
    header = "import os\n\nLIMIT = 3\n\n\n"
    (tmp_path / "a.py").write_text(SIGN)
    (tmp_path / "b.py").write_text(header + SIGN)
    (tmp_path / "c.py").write_text(header)
    found = {}
    for name in ("a", "b"):
        ran = cli("score", tmp_path / f"{name}.py", "--protocol", "astxplainer", "--json")
        assert ran.code == 0, ran.err
        found[name] = [(one["title"], one["rows"]) for one in ran.json["tables"]]
    assert found["a"] == found["b"]  # whatever stands before it
    both = cli("score", tmp_path, "--protocol", "astxplainer")
    assert "AsC-Eval by node type (protocol astxplainer)" in both.out
    assert "c.py has no functions" in " ".join(both.out.split())
    assert "--protocol fixes" in cli("score", tmp_path, "--protocol", "astxplainer", "--rule", "start").err
    other = cli("score", tmp_path, "--protocol", "astxplainer", "--concepts", "counterlens")
    assert "sets --concepts to authors" in other.err
    dropped = cli("causal", tmp_path, "--protocol", "astxplainer", "--absent", "drop")
    assert "sets --absent to zero" in dropped.err
