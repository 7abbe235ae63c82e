"""Program dependence: control and data dependences between statements."""

from counterlens.dependence.analysing import MODULE, ProgramAnalysis
from counterlens.dependence.graph import Dependences, Edge, Kind, Statement
from counterlens.dependence.languages import ANALYSED, analyse, dependences
from counterlens.dependence.rules import Rules

__all__ = [
    "ANALYSED",
    "MODULE",
    "Dependences",
    "Edge",
    "Kind",
    "ProgramAnalysis",
    "Rules",
    "Statement",
    "analyse",
    "dependences",
]
