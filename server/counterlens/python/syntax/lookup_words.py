"""Words that look variables up by name."""

from __future__ import annotations

BUILTINS = frozenset({"locals", "vars", "dir", "eval", "exec", "globals"})
READING_FRAMES = frozenset({"f_locals", "getargvalues", "capture_locals"})
"""Words without which no code reads the variables of a frame."""
FRAME_WORDS = READING_FRAMES | {"_getframe", "_current_frames", "currentframe", "f_back"}
LOOKUP_WORDS = BUILTINS | FRAME_WORDS
"""Words without which no code looks variables up, `super()` aside."""
