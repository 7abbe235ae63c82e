"""Java's mutations, placebos and parser."""

from __future__ import annotations

from counterlens.java.mutations.empica import JAVA_TRANSFORMATIONS
from counterlens.java.mutations.module import JavaModule
from counterlens.java.mutations.mutation import JavaContext
from counterlens.java.mutations.placebos import JAVA_PLACEBOS, java_meaning
from counterlens.java.mutations.registry import JAVA_MUTATIONS
from counterlens.mutations.languages import MutatedLanguage

JAVA = MutatedLanguage(
    mutations=JAVA_MUTATIONS,
    parse=JavaModule,
    context=JavaContext,
    placebos=JAVA_PLACEBOS,
    meaning=java_meaning,
    transformations=JAVA_TRANSFORMATIONS,
)
