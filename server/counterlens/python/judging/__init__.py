"""Judging Python programs: tests and examples, the project around them, differential execution, cheats."""
