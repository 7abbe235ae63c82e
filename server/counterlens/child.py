"""`python -m counterlens.child MODULE PARENT`: run a module's `main` in a process that ends with its parent.

It imports nothing else before, so that there is hardly a moment in which it could be left behind.
"""

import ctypes
import os
import sys
from importlib import import_module

_PR_SET_PDEATHSIG, _SIGKILL = 1, 9


def end_with(parent: int) -> None:
    """Let the kernel kill this process when its parent ends, even while this one is stopped.

    On other systems than Linux, it has to notice the end of its standard input.

    Args:
        parent: The id of the process that started it, which may have ended already.

    Raises:
        OSError: the kernel refuses.
    """
    if sys.platform == "linux" and ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0):
        raise OSError("this process cannot end with its parent")
    if os.getppid() != parent:
        os._exit(1)


if __name__ == "__main__":
    end_with(int(sys.argv[2]))
    import_module(sys.argv[1]).main()
