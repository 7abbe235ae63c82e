"""May a program, or one with its tests, share a JVM with others? Decided from its compiled classes.

A program may if all names that it uses are on the list below: calculation, text, collections, printing. It
can then reach neither the JVM's own state nor its worker, nor other programs: the JVM verifies its
bytecode, everything that it calls is named in the constant pool, and nothing on the list gives access to
reflection, threads, files, class loaders or settings. All other programs get their own JVM.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping

_PACKAGES = re.compile(r"java/(util/(function|stream|regex)|math|time(/(temporal|chrono))?)/[\w$]+")
_FAILURES = re.compile(r"java/(lang|util|io|time)/\w*(Exception|AssertionError)")
_LANG = (
    "Object String StringBuilder StringBuffer CharSequence Math StrictMath Integer Long Short Byte Character "
    "Boolean Float Double Number Void Comparable Iterable Cloneable AutoCloseable Runnable Enum Record "
    "Appendable Override Deprecated FunctionalInterface SafeVarargs SuppressWarnings Character$UnicodeBlock "
    "Character$UnicodeScript Enum$EnumDesc invoke/LambdaMetafactory invoke/StringConcatFactory "
    "runtime/ObjectMethods runtime/SwitchBootstraps"
)
_UTIL = (
    "AbstractCollection AbstractList AbstractMap AbstractMap$SimpleEntry AbstractMap$SimpleImmutableEntry "
    "AbstractQueue AbstractSequentialList AbstractSet ArrayDeque ArrayList Arrays Base64 Base64$Decoder "
    "Base64$Encoder BitSet Collection Collections Comparator Deque DoubleSummaryStatistics EnumMap EnumSet "
    "HashMap HashSet Hashtable IdentityHashMap IntSummaryStatistics Iterator LinkedHashMap LinkedHashSet "
    "LinkedList List ListIterator LongSummaryStatistics Map Map$Entry NavigableMap NavigableSet Objects "
    "Optional OptionalDouble OptionalInt OptionalLong PrimitiveIterator PrimitiveIterator$OfInt "
    "PrimitiveIterator$OfLong PrimitiveIterator$OfDouble PriorityQueue Queue Random RandomAccess Scanner "
    "SequencedCollection SequencedMap SequencedSet Set SortedMap SortedSet Spliterator Stack StringJoiner "
    "StringTokenizer TreeMap TreeSet UUID Vector concurrent/Callable concurrent/atomic/AtomicInteger "
    "concurrent/atomic/AtomicLong concurrent/atomic/AtomicBoolean concurrent/atomic/AtomicReference "
    "concurrent/atomic/AtomicIntegerArray concurrent/atomic/LongAdder"
)
_OTHERS = (
    "java/io/Serializable java/text/DecimalFormat java/text/DecimalFormatSymbols java/text/NumberFormat "
    "java/text/ParseException java/security/NoSuchAlgorithmException java/nio/charset/StandardCharsets "
    "java/nio/charset/Charset"
)
_WHOLE = frozenset(
    [
        *(f"java/lang/{name}" for name in _LANG.split()),
        *(f"java/util/{name}" for name in _UTIL.split()),
        *_OTHERS.split(),
    ]
)
_PARTS = {
    "java/lang/System": "out err arraycopy nanoTime currentTimeMillis identityHashCode lineSeparator",
    "java/lang/Class": "getSimpleName getName getTypeName desiredAssertionStatus isInstance cast hashCode "
    "equals",
    "java/io/PrintStream": "print println printf format flush append",
    "java/util/Locale": "ROOT US UK ENGLISH GERMANY FRANCE getDefault",
    "java/security/MessageDigest": "getInstance update digest",
    "java/lang/invoke/MethodHandles": "",
    "java/lang/invoke/MethodHandles$Lookup": "",
    "java/lang/invoke/MethodHandle": "",
    "java/lang/invoke/MethodType": "",
    "java/lang/invoke/CallSite": "",
    "java/lang/invoke/TypeDescriptor": "",
}
_MEMBERS: Mapping[str, frozenset[str]] = {name: frozenset(all_.split()) for name, all_ in _PARTS.items()}
# Threads of the JVM's common pool, and code that runs after the program has ended.
_NEVER = re.compile(r"parallel\w*|finalize|wait|notify|notifyAll")
_NOT_HERE = frozenset({"java/util/stream/StreamSupport"})

_SIZES = {
    3: 4,
    4: 4,
    5: 8,
    6: 8,
    7: 2,
    8: 2,
    9: 4,
    10: 4,
    11: 4,
    12: 4,
    15: 3,
    16: 2,
    17: 4,
    18: 4,
    19: 2,
    20: 2,
}
_TEXT, _CLASS, _MEMBER, _TWO_PLACES = 1, 7, frozenset({9, 10, 11}), frozenset({5, 6})
_MAGIC = 0xCAFEBABE


def why_alone(classes: Mapping[str, bytes]) -> str | None:
    """The first name in a program that prevents sharing a JVM; None if it may share.

    Args:
        classes: Its compiled classes by name, from a trusted compiler.
    """
    own = {name.replace(".", "/") for name in classes}
    for data in classes.values():
        for owner, member in _names_of(data):
            if owner not in own and not _harmless(owner, member):
                return f"{owner}.{member}" if member else owner
            if _NEVER.fullmatch(member):
                return member
    return None


def _harmless(owner: str, member: str) -> bool:
    if owner in _MEMBERS:
        return not member or member in _MEMBERS[owner]
    if owner in _NOT_HERE:
        return False
    known = owner in _WHOLE or _PACKAGES.fullmatch(owner) or _FAILURES.fullmatch(owner)
    return bool(known)


def _names_of(data: bytes) -> Iterator[tuple[str, str]]:
    """Class and member of everything that a class file names; the member is empty if only a class is named.

    Raises:
        ValueError: it is not a class file.
    """
    texts, numbers = _pool(data)
    for tag, value in numbers.values():
        if tag == _CLASS:
            name = _element(texts[value])
            if name:
                yield name, ""
        elif tag in _MEMBER:
            owner = texts[numbers[value >> 16][1]]
            if not owner.startswith("["):  # arrays only have `clone`
                yield owner, texts[numbers[value & 0xFFFF][1] >> 16]
    if "finalize" in texts.values():  # its own method, which the JVM would call
        yield "java/lang/Object", "finalize"


def _element(name: str) -> str:
    """The class of an array's items; empty for primitive ones."""
    if not name.startswith("["):
        return name
    return name.lstrip("[")[1:-1] if name.endswith(";") else ""


def _pool(data: bytes) -> tuple[dict[int, str], dict[int, tuple[int, int]]]:
    """The constants of a class file by their index: the texts, and tag and value of all others."""
    magic, count = struct.unpack_from(">I4xH", data)
    if magic != _MAGIC:
        raise ValueError("no class file")
    texts: dict[int, str] = {}
    numbers: dict[int, tuple[int, int]] = {}
    at, index = 10, 1
    while index < count:
        tag = data[at]
        at += 1
        if tag == _TEXT:
            (size,) = struct.unpack_from(">H", data, at)
            texts[index] = data[at + 2 : at + 2 + size].decode("utf-8", "replace")
            size += 2
        else:
            size = _SIZES[tag]
            numbers[index] = tag, int.from_bytes(data[at : at + min(size, 4)], "big")
        at += size
        index += 2 if tag in _TWO_PLACES else 1
    return texts, numbers
