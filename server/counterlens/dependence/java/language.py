"""The dependence analysis of Java."""

from __future__ import annotations

from counterlens.dependence.braces.program import BraceLanguage
from counterlens.dependence.java.expressions import SYNTAX
from counterlens.dependence.java.lowering import JavaLayout
from counterlens.syntax.definitions import java_definitions
from counterlens.syntax.java_escapes import escape_that_is_syntax

JAVA = BraceLanguage("java", java_definitions, JavaLayout, SYNTAX, unreadable=escape_that_is_syntax).analysed
