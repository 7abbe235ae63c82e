"""Name resolution in the analysed function and in the class bodies that run inline in it.

PythonRules:

- A class body's own variables are distinguished from those of the function by a mark.
- A name that a class body both reads and binds may be the module's.
- A class body does not see the names of an enclosing class.
"""

from __future__ import annotations

from collections.abc import Iterable

from counterlens.dependence.effects import MARK, Place
from counterlens.python.dependence.scopes import Names


class Variables:
    """Resolves names in one block: the analysed function, or a class body in it."""

    def __init__(self, names: Names, *, module: bool) -> None:
        self.names = names
        self.module = module
        self.classes = 0

    def read(self, name: str) -> tuple[str, ...]:
        """The variables to which a read of a name may refer."""
        return (name,)

    def write(self, name: str) -> str:
        """The variable that binding a name binds."""
        return name

    def from_module(self, names: Iterable[str]) -> set[str]:
        """The names of the module that are variables of this block."""
        return set(names) if self.module else set(names) & self.names.globals

    @property
    def dynamic(self) -> bool:
        """Whether code may bind its variables by name, as in a module or class."""
        return self.module

    def looked_up(self, *, everything: bool) -> set[str]:
        """The variables that code may look up by name: all, or those of the module."""
        declared = self.names.globals | (self.names.nonlocals if everything else set())
        return declared | (self.names.bound if everything or self.module else set())

    def captured(self, names: Names) -> tuple[set[str], set[str], set[Place]]:
        """A nested block's effects on this one: the variables it reads and rebinds, the places it changes."""
        return (
            names.reads | self.from_module(names.global_reads),
            names.writes | self.from_module(names.global_writes),
            names.mutated,
        )


class ClassVariables(Variables):
    """The variables of a class body, which can also access those of the enclosing function."""

    def __init__(self, names: Names, outer: Variables) -> None:
        super().__init__(names, module=outer.module)
        self.outer = outer
        while isinstance(outer, ClassVariables):
            outer = outer.outer
        outer.classes += 1
        self.function = outer
        self.mark = f"{MARK}{outer.classes}"

    def read(self, name: str) -> tuple[str, ...]:
        if name not in self.names.bound:
            return self._around(name)
        return (name + self.mark, *self.function.from_module([name]))

    def write(self, name: str) -> str:
        return name + self.mark if name in self.names.bound else name

    @property
    def dynamic(self) -> bool:
        return True

    def looked_up(self, *, everything: bool) -> set[str]:
        of_module = self.function.looked_up(everything=False)
        return self.own() | of_module if everything else of_module

    def own(self) -> set[str]:
        """All variables of the class body."""
        return {name + self.mark for name in self.names.bound}

    def from_module(self, names: Iterable[str]) -> set[str]:
        return self.function.from_module(names)

    def _around(self, name: str) -> tuple[str, ...]:
        return self.function.read(name)  # a class body does not see the names of an enclosing class
