"""Similarity of answers: names by their parts, sentences by their words (Nguyen et al. 2024, section 4.2)."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from counterlens.errors import CounterlensError
from counterlens.metrics.agreement import Agreement

_WORD = re.compile(r"\w+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")


def subtokens(name: str) -> frozenset[str]:
    """The parts of a name by `under_score` and `camelCase`, in lower case."""
    return frozenset(part.lower() for part in _PART.findall(name))


def name_agreement(original: str, other: str) -> Agreement:
    """The parts of one name compared with the original's: precision, recall and F1 as in the paper."""
    return Agreement.of(subtokens(other), subtokens(original))


def lexical_vectors(texts: Sequence[str]) -> npt.NDArray[np.float64]:
    """TF-IDF vectors of n texts, (n, words) float64, each of length 1, or 0 for a text without words.

    The document frequencies are those of these texts.

    Raises:
        CounterlensError: scikit-learn is not installed.
    """
    try:
        from sklearn.feature_extraction.text import TfidfVectorizer
    except ImportError:
        raise CounterlensError(
            "the similarity of texts needs scikit-learn, which is not installed",
            "Install it with: pip install 'counterlens[statistics]'",
        ) from None
    vectorizer = TfidfVectorizer(analyzer=_WORD.findall)
    if not any(map(_WORD.search, texts)):
        return np.zeros((len(texts), 1))
    return np.asarray(vectorizer.fit_transform([text.lower() for text in texts]).toarray(), np.float64)


def cosine(vector: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> float:
    """The cosine of the angle between two vectors, clipped to 0..1; 0 if one of them is 0.

    The sums are numpy's: those of BLAS (`@`) differ in the last bit by processor and environment.
    """
    lengths = math.sqrt(_product(vector, vector)) * math.sqrt(_product(other, other))
    return min(1.0, max(0.0, _product(vector, other) / lengths)) if lengths else 0.0


def _product(vector: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> float:
    return float(np.sum(vector * other))
