"""Calibration maps, from a confidence to the share of right predictions, as files and as functions.

A map belongs to one model and one aggregation. It is fitted elsewhere (`calibration.curves`); reading and
applying it needs only NumPy. A node's curve is found by its concept category and its number of tokens, since
a mean of 0.8 over twenty tokens implies a lower share than one token at 0.8; groups too rare for their own
curve use that of their length, or else that of all nodes.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs

from counterlens.atomic_file import replace_file
from counterlens.confidence.aggregate import Aggregation, Confidence, NodeConfidence
from counterlens.errors import ModelError
from counterlens.nested_text import read_json


def fits(confidence: Confidence, calibration: Calibration) -> bool:
    """Whether a map is for this aggregation, and for code in the document's language.

    A model knows one language better than another. Maps of earlier versions do not name their language.
    """
    known = calibration.facts.get("language")
    return calibration.aggregation is confidence.aggregation and known in (None, confidence.document.language)


def calibrate(confidence: Confidence, calibration: Calibration) -> Confidence:
    """The confidence with each node's value mapped; the tokens' own probabilities stay raw."""
    return replace(confidence, nodes=tuple(_map_node(node, calibration) for node in confidence.nodes))


def _map_node(node: NodeConfidence, calibration: Calibration) -> NodeConfidence:
    if node.confidence is None:
        return node
    first, last = node.tokens
    return replace(node, confidence=calibration.apply(node.category, node.confidence, last - first))


FORMAT = "counterlens-calibration"
VERSION = 1

LENGTHS = (1, 2, 5, 13)
"""The smallest number of tokens of each length class."""

EVERYTHING = "all"
_SMALLEST = 1e-6
_NEVER = 1e-12
"""No curve reaches 0 or 1, however steep it is and however far it is extrapolated."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A monotone function from a confidence to the share of right predictions.

    Either isotonic (Zadrozny and Elkan 2002), with straight lines between knots; or Platt's (1999), a
    logistic function of the log-odds.

    Attributes:
        n: Number of nodes that it was fitted on.
        x: Knots: confidences, ascending; empty for Platt's function.
        y: Knots: shares of right predictions.
        slope: Platt's slope, not negative.
        offset: Platt's offset.
    """

    n: int
    x: tuple[float, ...] = ()
    y: tuple[float, ...] = ()
    slope: float = 1.0
    offset: float = 0.0

    def __call__(self, confidence: float) -> float:
        """The share of right predictions among nodes at this confidence."""
        if self.x:
            return float(np.interp(confidence, self.x, self.y))
        likely = min(max(confidence, _SMALLEST), 1 - _SMALLEST)
        odds = self.slope * math.log(likely / (1 - likely)) + self.offset
        share = 1 / (1 + math.exp(-odds)) if odds > -700 else 0.0
        return min(max(share, _NEVER), 1 - _NEVER)


@dataclass(frozen=True, slots=True)
class Calibration:
    """The fitted map of one model.

    Attributes:
        model: The model's identity.
        name: Its display name.
        aggregation: The aggregation of the confidences.
        curves: Curves by `key_of`.
        created: Date of the fit, ISO 8601.
        facts: Measurements of the fit, for reports: sources, counts, figures.
    """

    model: str
    name: str
    aggregation: Aggregation
    curves: Mapping[str, Curve]
    created: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)

    def apply(self, category: str, probability: float, tokens: int | None = None) -> float:
        """The share of right predictions among nodes at this confidence: 0 to 1.

        Args:
            category: The node's concept category.
            probability: Its raw confidence.
            tokens: Its number of tokens, if known.
        """
        for key in keys_of(category, tokens):
            if key in self.curves:
                return self.curves[key](probability)
        return probability


def keys_of(category: str, tokens: int | None = None) -> tuple[str, ...]:
    """The keys of a node's curve, the most specific first."""
    if tokens is None:
        return (category, EVERYTHING)
    length = max((least for least in LENGTHS if least <= tokens), default=LENGTHS[0])
    return (f"{category}/{length}", f"{EVERYTHING}/{length}", category, EVERYTHING)


def calibration_file(model_identity: str, folder: Path | None = None) -> Path:
    """The path of a model's map, in the user's data folder."""
    folder = folder or Path(platformdirs.user_data_dir("counterlens")) / "calibration"
    return folder / f"{hashlib.sha256(model_identity.encode()).hexdigest()[:32]}.json"


def load_calibration(model_identity: str, *, folder: Path | None = None) -> Calibration | None:
    """The map of a model; None if there is no usable one, so that confidence is shown raw."""
    with contextlib.suppress(ModelError):
        calibration = read_calibration(calibration_file(model_identity, folder))
        return calibration if calibration.model == model_identity else None
    return None


def read_calibration(path: Path) -> Calibration:
    """Read a map.

    Raises:
        ModelError: the map is missing, damaged, or of another version.
    """
    again = "Fit it with: counterlens calibrate"
    try:
        document = read_json(path)
    except FileNotFoundError:
        raise ModelError("this model has no calibration map yet", again) from None
    except (OSError, ValueError) as error:
        raise ModelError(f"the calibration map {path} cannot be read", again) from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ModelError(f"{path} is not a calibration map", again)
    if document.get("version") != VERSION:
        raise ModelError(
            f"{path} has version {document.get('version')}; this Counterlens reads version {VERSION}", again
        )
    try:
        return Calibration(
            model=str(document["model"]["identity"]),
            name=str(document["model"]["name"]),
            aggregation=Aggregation(document["aggregation"]),
            curves={str(key): _curve(value) for key, value in document["curves"].items()},
            created=str(document["created"]),
            facts=dict(document["facts"]),
        )
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise ModelError(f"the calibration map {path} is damaged", again) from error


def save_calibration(calibration: Calibration, *, folder: Path | None = None) -> Path:
    """Replace the stored map atomically; returns its path.

    Raises:
        ModelError: the map cannot be written.
    """
    path = calibration_file(calibration.model, folder)
    document = {
        "format": FORMAT,
        "version": VERSION,
        "model": {"identity": calibration.model, "name": calibration.name},
        "aggregation": calibration.aggregation.value,
        "created": calibration.created,
        "facts": dict(calibration.facts),
        "curves": {key: _plain(curve) for key, curve in calibration.curves.items()},
    }
    try:
        replace_file(path, json.dumps(document, indent=1))
    except OSError as error:
        raise ModelError(
            f"the calibration map cannot be written to {path.parent}: {error.strerror}"
        ) from error
    return path


def _plain(curve: Curve) -> dict[str, Any]:
    if curve.x:
        return {"method": "isotonic", "n": curve.n, "x": list(curve.x), "y": list(curve.y)}
    return {"method": "platt", "n": curve.n, "slope": curve.slope, "offset": curve.offset}


def _curve(value: Mapping[str, Any]) -> Curve:
    """A curve from its stored form.

    Raises:
        KeyError, TypeError, ValueError: it is not a curve, or not monotone.
    """
    n = int(value["n"])
    if value["method"] == "platt":
        slope, offset = float(value["slope"]), float(value["offset"])
        if slope < 0 or not math.isfinite(slope + offset):
            raise ValueError("a slope below zero")
        return Curve(n, slope=slope, offset=offset)
    x, y = np.asarray(value["x"], np.float64), np.asarray(value["y"], np.float64)
    rising = len(x) > 0 and x.shape == y.shape and (np.diff(x) >= 0).all() and (np.diff(y) >= 0).all()
    if not rising or y[0] < 0 or y[-1] > 1:
        raise ValueError("no monotone curve")
    return Curve(n, tuple(x.tolist()), tuple(y.tolist()))
