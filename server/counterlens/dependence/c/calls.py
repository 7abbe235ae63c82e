"""The effects of calls in C, as far as names tell."""

from __future__ import annotations

from counterlens.dependence.braces.reading import Calls

SCANNING = {"scanf": 1, "fscanf": 2, "sscanf": 2, "scanf_s": 1, "wscanf": 1}
"""Functions that set what their arguments from some number on point to."""

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
"""Those of the functions that may change a part alone."""
