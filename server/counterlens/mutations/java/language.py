"""Java's mutations, placebos and parser."""

from __future__ import annotations

from counterlens.mutations.java.empica import JAVA_TRANSFORMATIONS
from counterlens.mutations.java.module import JavaModule
from counterlens.mutations.java.mutation import JavaContext
from counterlens.mutations.java.placebos import JAVA_PLACEBOS, java_meaning
from counterlens.mutations.java.registry import JAVA_MUTATIONS
from counterlens.mutations.languages import MutatedLanguage

JAVA = MutatedLanguage(
    mutations=JAVA_MUTATIONS,
    parse=JavaModule,
    context=JavaContext,
    placebos=JAVA_PLACEBOS,
    meaning=java_meaning,
    transformations=JAVA_TRANSFORMATIONS,
)
