"""Program dependence: control and data dependences between statements."""

from counterlens.dependence.analysing import ANALYSED, MODULE, ProgramAnalysis, analyse, dependences
from counterlens.dependence.effects import Rules
from counterlens.dependence.graph import Dependences, Edge, Kind, Statement

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
