"""Models that score by a rule, and a file of functions with every node type of the protocol."""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event

import numpy as np

from counterlens.models.base import Capability, Completion, Model, ModelInfo, Progress, Prompt, TokenScores
from counterlens.models.registry import Backend

Rule = Callable[[str, str], float]
"""The probability of a token, given the text before it."""

_PARTS = (
    "    for item in values:\n        total += item\n",
    "    while total > 9:\n        total = total - 3\n",
    "    if total and values:\n        total = -total\n"
    "    elif total == 4:\n        total = 1.5\n    else:\n        total = 2\n",
    "    try:\n        total = int(values)\n    except ValueError:\n        raise\n"
    "    finally:\n        other = {'a': total}\n",
    "    kept = [one for one in values if one]\n",
    "    assert total != 7, 'seven'\n",
    "    key = lambda pair: pair[0]  # the first\n    other = (total, values)\n",
    "    other = {1, 2}\n    values = [total]\n",
)


class RuleModel(Model):
    """Scores words and signs by a rule, with all alternatives left out."""

    def __init__(self, name: str, rule: Rule) -> None:
        self._rule = rule
        capabilities = frozenset({Capability.COMPLETE, Capability.SCORE})
        self._info = ModelInfo(f"rule:{name}", name, f"rule-{name}", "local", capabilities)

    @property
    def info(self) -> ModelInfo:
        return self._info

    def complete(
        self, prompts: Sequence[Prompt], *, cancel: Event | None = None, progress: Progress | None = None
    ) -> list[Completion]:
        raise NotImplementedError

    def score(
        self,
        text: str,
        *,
        context: str = "",
        alternatives: int = 5,
        cancel: Event | None = None,
        progress: Progress | None = None,
    ) -> TokenScores:
        del alternatives, cancel, progress
        spans = [match.span() for match in re.finditer(r" *\w+|\s+|\W", text)]
        logprob = np.array([np.log(self._rule(text[a:b], context + text[:a])) for a, b in spans])
        n = len(spans)
        at = np.array(spans, np.int64).reshape(-1, 2)
        none = ((),) * n
        zeros, nothing = np.zeros(n, np.int64), np.zeros((n, 0))
        return TokenScores(text, at[:, 0], at[:, 1], logprob, np.ones(n), zeros, nothing, none, zeros)


def backend(rules: dict[str, Rule]) -> Backend:
    """A backend for models named `rule:` and the name of a rule."""
    return Backend(
        "rule:NAME",
        "scores by a rule",
        lambda spec: spec.startswith("rule:"),
        lambda spec, _: RuleModel(spec.removeprefix("rule:"), rules[spec.removeprefix("rule:")]),
    )


def at_random(token: str, before: str) -> float:
    """A pseudo-random probability, which depends on the token and the text before it."""
    digest = hashlib.sha256(f"{token}\0{before}".encode()).digest()
    return 0.02 + 0.96 * int.from_bytes(digest[:4]) / 2**32


def galeras(path: Path, functions: int, files: int) -> Path:
    """Write a file in the format of Galeras, with random functions over several source files."""
    draw = random.Random(3)  # noqa: S311 - no secret
    lines = []
    for number in range(functions):
        parts = draw.sample(_PARTS, draw.randint(2, 6))
        code = f"def f{number}(values, total=0):\n{''.join(parts)}    return total\n"
        record = {
            "repo": "made/up",
            "path": f"file{number % files}.py",
            "fun_name": f"f{number}",
            "commit_id": f"{number:040x}",
            "code": code,
            "documentation": {},
            "n_ast_nodes": 1,
            "ast_levels": 1,
            "complexity": 1,
            "nloc": 1,
        }
        lines.append(json.dumps(record))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
