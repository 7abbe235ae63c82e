"""Builtins, methods and library modules whose side effects are known, or known to be absent."""

from __future__ import annotations

import sys

PURE_BUILTINS = frozenset(
    {"abs", "all", "any", "ascii", "bin", "bool", "bytes", "callable", "chr", "complex", "dict", "divmod",
     "enumerate", "float", "format", "frozenset", "hash", "hex", "id", "int", "isinstance", "issubclass",
     "len", "list", "max", "min", "oct", "ord", "pow", "range", "repr", "reversed", "round", "set", "slice",
     "sorted", "str", "sum", "tuple", "type", "zip"}
)  # fmt: skip
ITERATING = frozenset(
    {"all", "any", "dict", "enumerate", "frozenset", "list", "max", "min", "set", "sorted", "sum", "tuple",
     "zip", "bytes"}
)  # fmt: skip
PURE_MODULES = {"math", "cmath"}
READING_METHODS = frozenset(
    {"capitalize", "casefold", "center", "count", "encode", "decode", "endswith", "find", "format", "index",
     "isalnum", "isalpha", "isascii", "isdecimal", "isdigit", "isidentifier", "islower", "isnumeric",
     "isspace", "istitle", "isupper", "items", "join", "keys", "ljust", "lower", "lstrip", "partition",
     "removeprefix", "removesuffix", "replace", "rfind", "rindex", "rjust", "rpartition", "rsplit", "rstrip",
     "split", "splitlines", "startswith", "strip", "swapcase", "title", "translate", "upper", "values",
     "zfill"}
)  # fmt: skip
MUTATING_METHODS = frozenset(
    {"append", "extend", "insert", "pop", "popitem", "remove", "reverse", "clear", "add", "discard",
     "setdefault", "appendleft", "popleft"}
)  # fmt: skip
QUIET_IMPORTS = frozenset(sys.stdlib_module_names) - {
    "this",
    "antigravity",
    "__future__",
    "turtle",
    "idlelib",
}
