"""Sizes of models: from the file, and from names as people give them."""

from __future__ import annotations

import pytest

from counterlens.models.llama.model import LlamaModel
from counterlens.models.parameters import parameter_count, short_count


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("SmolLM2-135M-Instruct.Q4_1", 135_000_000),
        ("Qwen2.5-Coder-1.5B-Instruct", 1_500_000_000),
        ("codellama:13b", 13_000_000_000),
        ("llama-2-70b-hf", 70_000_000_000),
        ("Mixtral-8x7B", None),
        ("starcoder", None),
        ("gpt-4-1106", None),
        ("model-b2", None),
    ],
)
def test_names_say_how_large_a_model_is(name: str, expected: int | None) -> None:
    assert parameter_count({}, name) == expected


def test_the_file_knows_better_than_the_name(embedded: LlamaModel) -> None:
    count = parameter_count(dict(embedded.info.details), "a-7B")
    assert count is not None
    assert 1.3e8 < count < 1.4e8
    assert short_count(count) == "135M"


def test_numbers_are_short() -> None:
    numbers = (999, 270_000_000, 1_540_000_000, 10**12)
    assert [short_count(n) for n in numbers] == ["999", "270M", "1.54B", "1T"]
