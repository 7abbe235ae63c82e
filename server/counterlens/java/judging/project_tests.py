"""The tests of a Java method in its project: classes with a `main` or with JUnit tests that name it.

A test file counts if it names the method and its class; the search covers the folder of the file and the
project's test folders. Nothing runs for the search.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from threading import Event

from counterlens.java.judging.judge import JavaTestsJudge
from counterlens.java.judging.project import JavaProject, JavaSource, Surroundings, surroundings
from counterlens.java.judging.test_source import read_tests
from counterlens.judging.base import Setting
from counterlens.judging.joint import JointJudge
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function

ID = "tests"
_NAME = re.compile(r"Test\w*|\w+Tests?|\w+TestCase|\w+IT")
_MOST_FILES = 20


class JavaSuiteJudge(JointJudge):
    """The judges by several files of tests as one."""

    def __init__(self, judges: Sequence[JavaTestsJudge]) -> None:
        super().__init__(judges)
        self._files = tuple(judges)

    def vetted(self, original: str, cancel: Event | None) -> JavaSuiteJudge | str:
        """The judge by the files whose tests the original passes; the reason if there are none."""
        outcomes = [judge.vetted(original, cancel) for judge in self._files]
        kept = [judge for judge in outcomes if not isinstance(judge, str)]
        return JavaSuiteJudge(kept) if kept else next(why for why in outcomes if isinstance(why, str))


def find(document: Document, function: Function, setting: Setting) -> JavaSuiteJudge | None:
    """The judge by all test files that name a method; those named after its class come first."""
    if document.path is None:
        return None
    project = JavaProject(document.path)
    files = [
        source
        for source in files_with_tests(document, function, project)
        if not setting.excludes(_shown_path(source.path, project))
    ]
    judges = []
    for source in files[:_MOST_FILES]:
        around = surroundings(project.path, document.text, (source.path, source.text), project)
        if isinstance(around, Surroundings):
            judges.append(JavaTestsJudge(source.text, document.text, setting, around=around, attribution=ID))
    return JavaSuiteJudge(judges) if judges else None


def files_with_tests(
    document: Document, function: Function, project: JavaProject | None = None
) -> list[JavaSource]:
    """The test files that name a method and its class; those named after the class come first.

    Args:
        document: The file of the method; without a path, there are no test files.
        project: The project, if known.
    """
    if document.path is None:
        return []
    project = project or JavaProject(document.path)
    owners = re.sub(r"\(.*", "", function.qualname).split(".")[:-1]
    name = function.name if function.name not in owners else owners[-1]
    files = [
        source
        for source in project.sources
        if _NAME.fullmatch(source.path.stem)
        and {name, *owners[:1]} <= source.words
        and read_tests(source.text, document.text).cases
    ]
    stem = document.path.stem
    files.sort(key=lambda source: (stem not in source.path.stem, len(source.path.stem), str(source.path)))
    return files


def _shown_path(path: Path, project: JavaProject) -> str:
    return path.relative_to(project.root).as_posix() if path.is_relative_to(project.root) else path.name
