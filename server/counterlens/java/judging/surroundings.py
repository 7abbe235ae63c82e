"""The surroundings for compiling and running a Java program and its tests: project files, and jars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from counterlens.errors import SourceError
from counterlens.java.judging.libraries import declared_jars, junit_for
from counterlens.java.judging.project import JavaProject, JavaSource

Units = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The surroundings for compiling and running a program and its tests.

    Attributes:
        program: Further files that the program needs: names and texts.
        tests: Further files that the tests need, without the program's own.
        library: The jars that both may use.
    """

    program: Units = ()
    tests: Units = ()
    library: tuple[Path, ...] = ()


NOTHING_AROUND = Surroundings()


def surroundings(
    path: Path, program: str, tests: tuple[Path, str] | None = None, project: JavaProject | None = None
) -> Surroundings | str:
    """The surroundings of a program in its project.

    Args:
        path: The program's file.
        program: Its text.
        tests: The file and the text of its tests.
        project: The project, if known.

    Returns:
        The reason instead, if the project is too large.
    """
    project = project or JavaProject(path)
    own = JavaSource(project.path, program)
    testing = [JavaSource(tests[0].resolve(), tests[1])] if tests else []
    try:
        beside_program = project.needed([own], testing)
        beside_tests = project.needed(testing, [own])
    except SourceError as error:
        return str(error)
    library = (*(junit_for(tests[1]) if tests else ()), *declared_jars(project.root))
    return Surroundings(_units(beside_program), _units(beside_tests), tuple(dict.fromkeys(library)))


def _units(sources: Sequence[JavaSource]) -> Units:
    return tuple((str(source.path), source.text) for source in sources)
