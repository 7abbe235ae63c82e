"""Checks the examples in CoRe's templates, which answer questions about the function that they show."""

from __future__ import annotations

import re
from itertools import pairwise

from counterlens.datasets.core import CoreLabels, CoreTask
from counterlens.probes.dependence.core_form import CoreForm
from counterlens.probes.dependence.core_replies import read_reply

TOTAL = """\
def total(prices, rate):
    result = 0
    for price in prices:
        if price > rate:
            result += price
    count = len(prices)
    return result
"""


def require_true_examples(text: str, labels: CoreLabels, task: CoreTask, form: CoreForm) -> None:
    """Assert that each answer in a template agrees with the graph of its function.

    Args:
        text: The template.
        labels: The graph as labels.
        task: The relation in its questions.
        form: The form of its questions.
    """
    examples = [line.partition("? {") for line in text.splitlines() if "? {" in line]
    assert len(examples) >= 3
    for question, _, answer in examples:
        told = read_reply("{" + answer, task, form)
        assert told is not None
        if task is CoreTask.CONTROL:
            nodes = [("", int(line)) for line in re.findall(r"line (\d+)", question)]
        else:
            nodes = [(name, int(line)) for name, line in re.findall(r"\((\w+), (\d+)\)", question)]
        true = labels.sources(task, nodes[-1])
        if form is CoreForm.SOURCE:
            assert set(told.nodes) == set(true), question
            continue
        assert told.yes == (nodes[0] in true), question
        if told.yes:
            assert (told.nodes[0], told.nodes[-1]) == (nodes[0], nodes[1])
            direct = labels.direct(task)
            for before, after in pairwise(told.nodes):
                assert after in direct[before], question
