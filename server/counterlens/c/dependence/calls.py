"""The effects of calls in C, by the names of the functions."""

from __future__ import annotations

from counterlens.dependence.braces.reading import Calls

SCANNING = {"scanf": 1, "fscanf": 2, "sscanf": 2, "scanf_s": 1, "wscanf": 1}
"""Functions that write through all arguments from the given position on."""

CALLS = Calls(
    functions={
        **dict.fromkeys(("gets", "fgets", "fgetws", "fread", "sprintf", "snprintf", "vsprintf"), (0,)),
        **dict.fromkeys(("memset", "memcpy", "memmove", "strcpy", "strncpy", "strcat", "strncat"), (0,)),
        **dict.fromkeys(("bzero", "qsort", "strtok", "getline", "wcscpy", "wcscat", "gets_s"), (0,)),
        "bcopy": (1,),
        "read": (1,),
    },
    terminators=frozenset({"exit", "_exit", "abort", "_Exit", "quick_exit"}),
)

PARTIAL = frozenset({"memcpy", "memmove", "strncpy", "fread", "read", "bcopy"})
"""The functions that may change only a part of the object."""
