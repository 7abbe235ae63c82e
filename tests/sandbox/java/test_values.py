"""Java values are read as they are written, and what is no value is refused."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterlens.sandbox.java import values
from counterlens.sandbox.java.machine import pack
from counterlens.sandbox.java.values import NULL, JavaValue, read_answer
from counterlens.sandbox.serving import ServiceEndedError

_SCALARS = st.one_of(
    st.just(NULL),
    st.tuples(st.just("I"), st.integers(-(2**31), 2**31 - 1)),
    st.tuples(st.just("J"), st.integers(-(2**63), 2**63 - 1)),
    st.tuples(st.just("s"), st.text(st.characters(codec=None, exclude_categories=[]), max_size=5)),
    st.tuples(st.just("C"), st.characters(max_codepoint=0xFFFF, exclude_categories=[])),
    st.tuples(st.just("Z"), st.booleans()),
    st.tuples(st.just("D"), st.floats(allow_nan=False)),
    st.tuples(st.just("i"), st.integers()),
    st.tuples(st.just("d"), st.integers(), st.integers(-9, 9)),
)


def _containers(inner: st.SearchStrategy[JavaValue]) -> st.SearchStrategy[JavaValue]:
    items = st.lists(inner, max_size=3).map(tuple)
    pairs = st.lists(st.tuples(inner, inner), max_size=3).map(tuple)
    return st.one_of(
        st.tuples(st.just("["), st.just("java.lang.Object"), items),
        st.tuples(st.just("L"), st.sampled_from([f"java.util.{name}" for name in values.COLLECTIONS]), items),
        st.tuples(st.just("M"), st.sampled_from([f"java.util.{name}" for name in values.MAPS]), pairs),
        st.tuples(st.just("O"), inner),
        st.tuples(st.just("e"), inner, inner),
        st.tuples(st.just("b"), st.text(max_size=5)),
    )


def _written(value: JavaValue) -> bytes:
    """A value as the worker writes it."""
    tag, *parts = value
    data = (b"c" if tag in "b[LM" else b"") + tag.encode()
    if tag in "IJD":
        return data + struct.pack({"I": ">i", "J": ">q", "D": ">d"}[tag], *parts)
    if tag in "sb":
        return data + pack(parts[0])
    if tag in "ZC":
        return data + (bytes(parts) if tag == "Z" else pack(parts[0])[4:])
    if tag in "id":
        digits = parts[0].to_bytes(parts[0].bit_length() // 8 + 1, "big", signed=True)
        return b"".join(
            [data, struct.pack(">i", len(digits)), digits, *(struct.pack(">i", n) for n in parts[1:])]
        )
    if tag in "Oe":
        return data + b"".join(map(_written, parts))
    if tag == "n":
        return data
    name, items = parts
    names = {"L": values.COLLECTIONS, "M": values.MAPS}.get(tag)
    kind = bytes([names.index(name.removeprefix("java.util."))]) if names else pack(name)
    inner = items if tag != "M" else [part for pair in items for part in pair]
    return data + kind + struct.pack(">i", len(items)) + b"".join(map(_written, inner))


@settings(max_examples=50)
@given(st.recursive(_SCALARS, _containers, max_leaves=12))
def test_what_is_written_is_read(value: JavaValue) -> None:
    assert read_answer(b"V" + _written(value)).value == value


@given(st.binary(max_size=60))
def test_what_is_no_answer_is_refused(noise: bytes) -> None:
    for frame in (noise, b"V" + noise, b"T" + noise):
        try:
            read_answer(frame)
        except ServiceEndedError:
            continue


def test_a_container_that_holds_itself_and_one_that_is_met_twice() -> None:
    twice = b"c[" + pack("int") + struct.pack(">i", 0) + b"r" + struct.pack(">i", 1)
    array = ("[", "int", ())
    answer = read_answer(b"VcL\0" + struct.pack(">i", 2) + twice)
    assert answer.value == ("L", "java.util.ArrayList", (array, array))
    answer = read_answer(b"VcL\0" + struct.pack(">i", 1) + b"r" + struct.pack(">i", 0))
    itself = ("L", "java.util.ArrayList", (("r", 0),))  # the first level is written out
    assert answer.value == ("L", "java.util.ArrayList", (itself,))
    with pytest.raises(ServiceEndedError):
        read_answer(b"V" + _written(("s", "abc"))[:-1])


def test_the_names_are_those_of_the_worker() -> None:
    source = (Path(values.__file__).parent / "worker" / "Values.java").read_text("utf-8")
    for field, names in (("COLLECTION_NAMES", values.COLLECTIONS), ("MAP_NAMES", values.MAPS)):
        listed = re.search(rf"{field} = List\.of\((.*?)\);", source, re.DOTALL)
        assert listed is not None
        assert re.findall(r'"java\.util\.([\w$]+)"', listed[1]) == names
