"""Figures of closed questions for the recomputing scripts, written from docs/statistics.md.

Imports nothing from Counterlens. A question with candidates is a tuple: its function, the candidates, their
log-probabilities, the right ones, and what a rule without a model names; None without a rule.
"""

from __future__ import annotations

import numpy as np
from intervals import average, bootstrap, exchanged, share, tested


def area(higher, lower):
    """The AUROC of two groups of scores: ties count half."""
    apart = np.subtract.outer(higher, lower)
    return float(((apart > 0) + (apart == 0) / 2).mean())


def tested_area(groups):
    """The AUROC of (higher, lower) groups of scores less 0.5, with interval and test over the groups."""

    def figure(drawn):
        higher, lower = ([score for group in drawn for score in group[at]] for at in (0, 1))
        return area(higher, lower) - 0.5 if higher and lower else None

    cell = bootstrap(groups, figure)
    return cell | {"p": exchanged(groups, figure)} if cell["low"] is not None else cell


def areas(scored):
    """How often what is true has the higher score: over all pairs, and within functions.

    Args:
        scored: The function, whether it is true, and the score, of each question; without one it is left out.

    Returns:
        The AUROC less 0.5, with its interval over functions and the test that exchanges the labels of
        functions, and its mean inside the functions with both kinds.
    """
    groups = {}
    for problem, truth, score in scored:
        if score is not None:
            groups.setdefault(problem, ([], []))[not truth].append(score)
    inside = [(name, area(*sides) - 0.5) for name, sides in groups.items() if all(sides)]
    return tested_area([*groups.values()]), average(inside)


def chances(asked):
    """The share of right ones among the candidates of each question, as of `beyond_random`."""
    return [len({*right} & {*answers}) / len(answers) for _, answers, right, _ in asked]


def beyond_random(asked, draws=2000):
    """How often a candidate is right, beyond a random one; tested against one random place a function.

    One place for all questions about a function, as if its questions were one: that is the more careful test.

    Args:
        asked: The function, the candidates, the right ones and the named one, of each question.
    """
    asked = list(asked)
    chance = chances(asked)
    cell = average((each[0], (each[3] in each[2]) - by) for each, by in zip(asked, chance, strict=True))
    if cell["value"] is None:
        return cell
    groups = {name: at for at, name in enumerate(dict.fromkeys(each[0] for each in asked))}
    at = np.array([groups[each[0]] for each in asked])
    hits = [np.array([answer in right for answer in answers]) for _, answers, right, _ in asked]
    sizes = np.array([len(answers) for _, answers, *_ in asked])
    random, extreme = np.random.default_rng(0), 1
    for _ in range(draws):
        places = (random.random(len(groups))[at] * sizes).astype(int)
        drawn = np.mean([hit[place] for hit, place in zip(hits, places, strict=True)]) - np.mean(chance)
        extreme += abs(drawn) >= abs(cell["value"]) - 1e-12
    return cell | {"p": extreme / (draws + 1)}


def choice(asked):
    """How often the likeliest candidate is right: alone, beyond chance, without its prior, beyond a rule."""
    asked = list(asked)
    excess = [
        {answer: value + np.log(len(answers)) for answer, value in zip(answers, values, strict=True)}
        for _, answers, values, _, _ in asked
    ]
    named = [max(known, key=known.get) for known in excess]
    corrected = []
    for (problem, answers, *_), known in zip(asked, excess, strict=True):
        priors = {}
        for answer in answers:
            others = [
                other[answer]
                for (another, *_), other in zip(asked, excess, strict=True)
                if another != problem and answer in other
            ]
            priors[answer] = np.mean(others) if others else 0.0
        corrected.append(max(known, key=lambda answer, at=known, by=priors: at[answer] - by[answer]))
    rows = list(zip(asked, named, corrected, strict=True))
    answered = [(each[0], each[1], each[3], name) for each, name, _ in rows]
    rule = [
        (each[0], (name in each[3]) - (each[4] in each[3])) for each, name, _ in rows if each[4] is not None
    ]
    return {
        "likeliest": share((each[0], name in each[3]) for each, name, _ in rows),
        "chance": f"{np.mean(chances(answered)):.0%}".replace("%", " %"),
        "beyond": beyond_random(answered),
        "no prior": share((each[0], name in each[3]) for each, _, name in rows),
        "rule": tested(rule) if rule else None,
    }
