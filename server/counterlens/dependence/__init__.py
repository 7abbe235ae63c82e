"""Program dependence: which statement decides about which, and which defines what another one uses."""

from counterlens.dependence.graph import Dependences, Edge, Kind
from counterlens.dependence.program import MODULE, Program, dependences
from counterlens.dependence.rules import Rules
from counterlens.dependence.statements import Statement

__all__ = ["MODULE", "Dependences", "Edge", "Kind", "Program", "Rules", "Statement", "dependences"]
