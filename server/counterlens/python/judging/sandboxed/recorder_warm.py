"""Imports what observes calls, in an interpreter that waits for programs, by the names that jobs know.

Only our own modules and those of the standard library that each of them needs are imported here.
"""

from .shipped_loader import NAME, import_shipped

import_shipped([f"{NAME}.recorder.calls", "observers"])
