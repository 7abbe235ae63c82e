"""The server's catalogues: all that it says in the editor is in them, and nothing else."""

from __future__ import annotations

import json
import re
import zipfile
from functools import cache
from pathlib import Path
from subprocess import run
from sys import executable

import pytest

from counterlens.confidence.granularity import LABELS
from counterlens.lsp import language
from counterlens.probes.pairs.phrases import _DONE
from counterlens.probes.pairs.wording import OUTCOMES
from counterlens.probes.registry import PROBES
from counterlens.translating import Translator
from tests.lsp.texts import PACKAGE, texts_of

FOLDER = PACKAGE / "lsp" / "translations"
GERMAN: dict[str, str] = json.loads((FOLDER / "de.json").read_text(encoding="utf-8"))

BELOW = (
    "syntax",
    "models",
    "dependence",
    "mutations",
    "confidence",
    "sandbox",
    "calibration",
    "probes",
    "survivors.py",
    *(
        f"{pack}/{part.name}"
        for pack in ("python", "java")
        for part in sorted((PACKAGE / pack).iterdir())
        if part.name not in {"judging", "__pycache__"}  # verdicts are shown as they are
    ),
    "c",
    "judging/languages.py",
    "python/judging/baseline.py",
    "judging/settlement.py",
)
SENTENCES = ("lsp", "mutations", "python/mutations", "java/mutations", "confidence/exclusion.py")

WORDED = ("lsp", "reports", "probes/pairs")

KEPT = {
    "lsp/editor_models.py: the editor",  # where a model is, for reports
    "lsp/probing.py: Probe of {0}",  # headings of reports
    "lsp/task_run.py: Probes of {0}",
    "lsp/task_run.py: , asked of {0}",
    "mutations/base.py: control flow",  # names of concepts
    "mutations/base.py: data flow",
    "mutations/languages.py: there is another {0}",  # for the doctor
    "mutations/languages.py: {0} is of the class of no language's mutations",
    "python/mutations/if_else_flip.py: is not",  # code
    "python/mutations/if_else_flip.py: not in",
    "python/mutations/loops.py: ), object(){0}{1}while ({2} := next({3}, {4})) is not {5}",
    "python/mutations/loops.py: for {0} in range(",
    "python/mutations/reading.py: ^error at \\d+:\\d+: ",  # patterns of another library's messages
    "python/mutations/reading.py: parser error: ",
}

COMPOSED = (  # of pieces that stand apart
    "after {0} of {1} changes that ",  # probes/robustness/base.py
    "Calls whose result",  # probes/execution/independent.py
    "{0} control dependences",  # probes/dependence/probe.py
    "{0} data dependences",
)


@cache
def said() -> tuple[set[str], dict[str, str]]:
    """Texts worded for the editor, and texts recognised there."""
    worded = texts_of(*WORDED).worded | set(LABELS) | set(OUTCOMES.values())
    worded |= {text for both in _DONE.values() for text in both}
    sentences = texts_of("lsp", *BELOW, sentences_in=SENTENCES).sentences
    kept = ("mutations/base.py",)  # shown by their ids
    found = {
        text: place
        for text, place in sentences.items()
        if f"{place}: {text}" not in KEPT and place not in kept
    }
    return worded, found | {probe.title: "probes" for probe in PROBES.values()}


def fixed(text: str) -> list[str]:
    """The parts that a translation may not change: placeholders, and code."""
    return sorted({*re.findall(r"\{\w+\}|`[^`{}\s]+`", text), f"{text.count('`')} backquotes"})


def test_all_that_is_said_in_the_editor_has_a_translation() -> None:
    worded, sentences = said()
    assert len(worded) > 100
    assert len(sentences) > 300
    assert sorted(text for text in worded if text not in GERMAN) == []
    assert sorted(f"{place}: {text}" for text, place in sentences.items() if text not in GERMAN) == []


def test_a_text_is_translated_as_one_literal() -> None:
    assert texts_of(*WORDED).chosen == {
        "lsp/confidence.py: label",
        "lsp/views.py: label",
        "probes/pairs/phrases.py: known[0]",
        "probes/pairs/phrases.py: known[1]",
        "probes/pairs/wording.py: OUTCOMES[pair.outcome]",
    }


def test_a_text_that_is_not_translated_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.py").write_text(
        '"""Not this one."""\n'
        'LOG.info("nor what is logged")\n'
        'title = "two words"\n'
        'ls.announce("ready", f"{name} is scored")\n'
        'raise SourceError("the file is gone" if gone else f"nothing in {name}", "Try again")\n'
        't("said {name}", name=1)\n'
    )
    monkeypatch.setattr("tests.lsp.texts.PACKAGE", tmp_path)
    found = texts_of("a.py", sentences_in=("a.py",))
    assert set(found.sentences) == {
        "two words",
        "{0} is scored",
        "the file is gone",
        "nothing in {0}",
        "Try again",
    }
    assert found.worded == {"said {name}"}


def test_nothing_is_translated_that_is_not_said() -> None:
    gap = re.compile(r'"\s*\n\s*f?"')  # between the parts of one literal
    source = "".join(gap.sub("", path.read_text()) for path in PACKAGE.rglob("*.py"))
    worded, sentences = said()
    for text in GERMAN:
        if text not in worded and text not in sentences and not text.startswith(COMPOSED):
            pieces = re.split(r"\{\w+\}|^1 ", text)
            assert [
                one for one in pieces if re.search("[a-z]{4}", one) and one.strip(" ,") not in source
            ] == []


def test_places_and_code_are_the_same_in_a_translation() -> None:
    wrong = {text: said for text, said in GERMAN.items() if fixed(text) != fixed(said)}
    assert wrong == {}


def test_each_pattern_is_recognised_as_itself() -> None:
    german = Translator(GERMAN)
    for text, translation in GERMAN.items():
        if " " not in text or not re.search(r"\{\d\}", text):
            continue
        values = {f"{{{number}}}": f"<{number}>" for number in range(9)}
        given, due = text, translation
        for place, value in values.items():
            given, due = given.replace(place, value), due.replace(place, value)
        assert german.recognised(given) == due


def test_an_editor_without_a_catalogue_gets_english() -> None:
    try:
        for locale, expected in (
            ("de", "Abhängigkeiten zeigen"),
            ("de-AT", "Abhängigkeiten zeigen"),
            ("fr", "Show dependences"),
            ("den", "Show dependences"),
            ("../de", "Show dependences"),
            (None, "Show dependences"),
        ):
            language.choose(locale)
            assert language.t("Show dependences") == expected
    finally:
        language.choose(None)


def test_the_package_has_the_catalogues(tmp_path: Path) -> None:
    root = PACKAGE.parents[1]
    run([executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)], cwd=root, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    packed = set(zipfile.ZipFile(wheel).namelist())
    assert {f"counterlens/lsp/translations/{path.name}" for path in FOLDER.glob("*.json")} <= packed
