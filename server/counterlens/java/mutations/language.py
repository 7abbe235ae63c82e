"""Java's mutations, placebos and parser."""

from __future__ import annotations

from counterlens.java.mutations.empica import JAVA_TRANSFORMATIONS
from counterlens.java.mutations.module import JavaModule
from counterlens.java.mutations.mutation import JavaContext, JavaMutation
from counterlens.java.mutations.placebos import PLACEBOS, java_meaning
from counterlens.java.mutations.registry import MUTATIONS
from counterlens.mutations.languages import MutatedLanguage

JAVA = MutatedLanguage(
    own=MUTATIONS,
    kind=JavaMutation,
    parse=JavaModule,
    context=JavaContext,
    placebos=PLACEBOS,
    meaning=java_meaning,
    transformations=JAVA_TRANSFORMATIONS,
    missing=("loop-unroll", "annotate-strip", "annotate-shuffle"),
)
