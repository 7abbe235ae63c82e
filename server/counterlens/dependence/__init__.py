"""Program dependence: control and data dependences between statements."""

from counterlens.dependence.analysing import MODULE, ProgramAnalysis
from counterlens.dependence.graph import Dependences, Edge, Kind
from counterlens.dependence.languages import ANALYSED, analyse, dependences
from counterlens.dependence.rules import Rules
from counterlens.dependence.statements import Statement
from counterlens.python.dependence.program import Program

__all__ = [
    "ANALYSED",
    "MODULE",
    "Dependences",
    "Edge",
    "Kind",
    "Program",
    "ProgramAnalysis",
    "Rules",
    "Statement",
    "analyse",
    "dependences",
]
