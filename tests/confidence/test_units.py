"""Units tile a document, and an edit makes only its own unit stale."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterlens.confidence import score_document
from counterlens.confidence.units import units
from counterlens.errors import SourceError
from counterlens.models.base import TokenScores
from counterlens.models.cache import AnswerStore, CachedModel
from counterlens.models.llama.model import LlamaModel
from counterlens.models.wrapped import WrappedModel
from counterlens.syntax.document import Document

PIECES = st.lists(
    st.sampled_from(
        [
            '"""Doc."""\n',
            "import os\n",
            "\n",
            "# why\n",
            "def f(x):\n    return x\n",
            "@cache\nclass A:\n    b = 1\n",
            "x = [\n1,\n]\n",
            "if x:\n    y()\n",
            "def broken(:\n",
            "é = '😀'\r\n",
        ]
    ),
    max_size=9,
)


@given(PIECES, st.integers(0, 60))
def test_units_tile_the_document_and_begin_at_line_ends(pieces: list[str], header: int) -> None:
    document = Document("".join(pieces))
    found = units(document, header)
    if not document.text.strip():
        assert found == []
        return
    assert [unit.start for unit in found] == [0, *(unit.end for unit in found[:-1])]
    assert found[-1].end == len(document.data)
    for unit in found:
        assert document.data[unit.start : unit.end].strip()
        assert unit.context <= min(unit.start, max(header, 0))
        assert not document.data[: unit.context][-1:].isspace()


def test_definitions_are_units_with_the_comments_right_above_them() -> None:
    text = '"""Doc."""\nimport os\n\n# about f\ndef f():\n    pass\n\nx = 1\ny = 2\n\n\nclass A:\n    pass\n'
    document = Document(text)
    found = [document.data[unit.start : unit.end].decode().strip() for unit in units(document)]
    assert found == [
        '"""Doc."""\nimport os',
        "# about f\ndef f():\n    pass",
        "x = 1\ny = 2",
        "class A:\n    pass",
    ]
    context = units(document)[1].context
    assert document.data[:context].decode().startswith('"""Doc."""\nimport os')


class Counting(WrappedModel):
    """Counts what the model behind it is asked to score."""

    def __init__(self, model: LlamaModel) -> None:
        super().__init__(model)
        self.asked: list[str] = []

    def score(self, text: str, **options: Any) -> TokenScores:
        self.asked.append(text)
        return self.model.score(text, **options)


SOURCE = '"""Sums."""\n\nfrom math import pi\n\n\n' + "\n\n".join(
    f"def times_{i}(x):\n    return x * {i} + pi\n" for i in range(6)
)


def test_an_edit_rescores_one_function_and_moves_no_other(model: LlamaModel, tmp_path: Path) -> None:
    counting = Counting(model)
    cached = CachedModel(counting, AnswerStore(tmp_path / "answers.sqlite"))
    before = score_document(cached, Document(SOURCE))
    assert len(counting.asked) == 7
    counting.asked.clear()
    edited = SOURCE.replace("x * 2 + pi", "x * 2 + pi + 1")
    after = score_document(cached, Document(edited))
    assert [text.strip() for text in counting.asked] == ["def times_2(x):\n    return x * 2 + pi + 1"]
    end = SOURCE.index("x * 2")
    first = int(np.searchsorted(before.end, end))
    np.testing.assert_array_equal(before.logprob[1:first], after.logprob[1:first])
    last = len(SOURCE) - SOURCE.index("def times_3")
    k = int((before.start >= len(SOURCE) - last).sum())
    np.testing.assert_array_equal(before.logprob[-k:], after.logprob[-k:])


def test_scores_survive_a_restart(model: LlamaModel, tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    store = AnswerStore(path)
    first = score_document(CachedModel(model, store), Document(SOURCE))
    store.close()
    counting = Counting(model)
    again = score_document(CachedModel(counting, AnswerStore(path)), Document(SOURCE))
    assert counting.asked == []
    for name in ("start", "end", "logprob", "entropy", "rank", "alternative_logprob", "context"):
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name))
    assert first.alternative_text == again.alternative_text


def test_only_the_first_token_of_a_document_has_no_score(model: LlamaModel) -> None:
    scores = score_document(model, Document("def f():\n    return 1\n\n\ndef g():\n    return 2\n"))
    assert np.flatnonzero(np.isnan(scores.logprob)).tolist() == [0]


def test_a_document_of_blanks_is_refused(model: LlamaModel) -> None:
    with pytest.raises(SourceError, match="nothing to score"):
        score_document(model, Document(" \n\n"))


def slices(text: str, language: str) -> list[str]:
    document = Document(text, language=language)
    return [document.data[unit.start : unit.end].decode().strip() for unit in units(document)]


def test_in_java_the_members_of_a_type_are_units_after_its_header() -> None:
    text = (
        "package a;\nimport b.C;\n\npublic class A extends B {\n    private int x = 1;\n\n"
        "    /** About f. */\n    int f() { return 1; }\n\n    A() { }\n    enum E { ONE }\n}\n\n"
        "interface I {\n    void g();\n}\nenum Q { ONE; int h() { return 2; } }\nclass Empty { }\n"
    )
    assert slices(text, "java") == [
        "package a;\nimport b.C;\n\npublic class A extends B {\n    private int x = 1;",
        "/** About f. */\n    int f() { return 1; }",
        "A() { }",
        "enum E { ONE }\n}",
        "interface I {",
        "void g();\n}",
        "enum Q { ONE;",
        "int h() { return 2; } }",
        "class Empty { }",
    ]
    document = Document(text, language="java")
    header = document.data[: units(document)[1].context].decode()
    assert header.endswith("class A extends B {\n    private int x = 1;")


def test_in_javascript_what_is_exported_or_assigned_is_a_definition_too() -> None:
    text = (
        '"use strict";\nconst a = require("a");\n\n// about f\nexport function f() { }\n'
        "const g = async () => { };\nconst x = 1;\nmodule.exports = { f };\n"
        "A.prototype.h = function () { };\nclass K { m() { } }\n"
    )
    assert slices(text, "javascript") == [
        '"use strict";\nconst a = require("a");',
        "// about f\nexport function f() { }",
        "const g = async () => { };",
        "const x = 1;\nmodule.exports = { f };",
        "A.prototype.h = function () { };",
        "class K { m() { } }",
    ]


def test_what_only_wraps_definitions_is_opened_up() -> None:
    text = (
        "#ifndef A_H\n#define A_H\n#include <a>\nint x;\nstruct p { int y; };\n#ifdef DEBUG\n#define LOG 1\n"
        "#endif\n// about g\nint g(void) { return 1; }\n#ifdef B\nint h(void) { return 2; }\n#endif\n#endif\n"
    )
    assert slices(text, "c") == [
        "#ifndef A_H\n#define A_H\n#include <a>\nint x;",
        "struct p { int y; };",
        "#ifdef DEBUG\n#define LOG 1\n#endif",
        "// about g\nint g(void) { return 1; }",
        "#ifdef B",
        "int h(void) { return 2; }\n#endif\n#endif",
    ]
    cpp = (
        "#include <a>\nnamespace a {\nclass K { int f(); };\nint g() { return 1; }\n}  // namespace a\n"
        "int h() { return 2; }\n"
    )
    assert slices(cpp, "cpp") == [
        "#include <a>\nnamespace a {",
        "class K { int f(); };",
        "int g() { return 1; }\n}",
        "// namespace a\nint h() { return 2; }",
    ]
    document = Document(cpp, language="cpp")
    assert document.data[: units(document)[2].context] == b"#include <a>\nnamespace a {"
    csharp = (
        "using A;\nnamespace X\n{\n    class B\n    {\n        void F() { }\n        void G() { }\n    }\n"
        "    enum E { Low, High }\n}\n"
    )
    assert slices(csharp, "csharp") == [
        "using A;\nnamespace X\n{\n    class B\n    {",
        "void F() { }",
        "void G() { }\n    }",
        "enum E { Low, High }\n}",
    ]
    assert slices(csharp.replace("\n{\n", ";\n", 1).removesuffix("}\n"), "csharp")[1] == "void F() { }"


BRACES = st.lists(
    st.sampled_from(
        [
            *(
                "import a.b;\n",
                "class A {\n",
                "}\n",
                "int f() { return 1; }\n",
                "// why\n",
                "\n",
                "/* é */\n",
            ),
            *("enum E { A; void g() { } }\n", "x = () => 1;\n", "function f() { }\r\n", "😀 {{ ;\n"),
            *("namespace a {\n", "#ifdef A\n", "#else\n", "#endif\n", "mod a {\n", "fn f() { }\n"),
        ]
    ),
    max_size=9,
)


@given(BRACES, st.sampled_from(["java", "javascript", "c", "cpp", "csharp", "rust"]))
def test_units_tile_documents_of_other_languages_too(pieces: list[str], language: str) -> None:
    document = Document("".join(pieces), language=language)
    found = units(document)
    assert b"".join(document.data[unit.start : unit.end] for unit in found) == (
        document.data if document.text.strip() else b""
    )
    assert all(document.data[unit.start : unit.end].strip() for unit in found)
    assert all(unit.context <= unit.start for unit in found)
