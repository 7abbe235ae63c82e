"""Java values are read as they are written, and what is no value is refused."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterlens.sandbox.java import values
from counterlens.sandbox.java.values import NULL, JavaValue, JavaWriter, read_answer
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


def _given(value: JavaValue) -> bytes:
    writer = JavaWriter()
    writer.number(">i", -1)
    writer.write(value)
    return b"V" + writer.data


@settings(max_examples=50)
@given(st.recursive(_SCALARS, _containers, max_leaves=12))
def test_what_is_written_is_read(value: JavaValue) -> None:
    assert read_answer(_given(value), 0, ()).value == value


@given(st.binary(max_size=60))
def test_what_is_no_answer_is_refused(noise: bytes) -> None:
    for frame in (noise, b"V" + noise, b"T" + noise):
        try:
            read_answer(frame, 1, (("s", ""),))
        except ServiceEndedError:
            continue


def test_a_container_that_holds_itself_and_one_that_is_met_twice() -> None:
    empty = struct.pack(">i", 0)
    twice = b"c[" + struct.pack(">i", 3) + "int".encode("utf-16-be") + empty + b"r" + struct.pack(">i", 1)
    head = struct.pack(">i", -1) + b"cL\0" + struct.pack(">i", 2)
    array = ("[", "int", ())
    assert read_answer(b"V" + head + twice, 0, ()).value == ("L", "java.util.ArrayList", (array, array))
    itself = struct.pack(">i", 0) + b"L\0" + struct.pack(">i", 1) + b"r" + struct.pack(">i", 0)
    found = read_answer(b"V" + itself[4:] + struct.pack(">i", 0), 1, (("L", "java.util.ArrayList", ()),))
    assert found.value == ("L", "java.util.ArrayList", (("r", 0),)) == found.given[0]
    with pytest.raises(ServiceEndedError):
        read_answer(_given(("s", "abc"))[:-1], 0, ())


def test_the_names_are_those_of_the_worker() -> None:
    source = (Path(values.__file__).parent / "worker" / "Values.java").read_text("utf-8")
    for field, names in (("COLLECTION_NAMES", values.COLLECTIONS), ("MAP_NAMES", values.MAPS)):
        listed = re.search(rf"{field} = List\.of\((.*?)\);", source, re.DOTALL)
        assert listed is not None
        assert re.findall(r'"java\.util\.([\w$]+)"', listed[1]) == names
