"""The dependence analysis of Java."""

from __future__ import annotations

from counterlens.dependence.braces.program import BraceLanguage
from counterlens.java.dependence.expressions import SYNTAX
from counterlens.java.dependence.lowering import JavaLayout
from counterlens.java.syntax.definitions import java_definitions
from counterlens.java.syntax.escapes import escape_that_is_syntax

JAVA = BraceLanguage("java", java_definitions, JavaLayout, SYNTAX, unreadable=escape_that_is_syntax).analysed
