"""The effects of calls in Java, by the names of the methods; receivers' types are ignored."""

from __future__ import annotations

from counterlens.dependence.braces.reading import Calls

_METHODS = frozenset(
    {
        *(
            "add",
            "addAll",
            "remove",
            "removeAll",
            "removeIf",
            "retainAll",
            "clear",
            "sort",
        ),  # Collection, List
        *("addFirst", "addLast", "removeFirst", "removeLast", "replaceAll"),
        *("put", "putAll", "putIfAbsent", "compute", "computeIfAbsent", "computeIfPresent", "merge"),  # Map
        *("offer", "offerFirst", "offerLast", "poll", "pollFirst", "pollLast", "push", "pop"),  # Queue, Deque
        *("pollFirstEntry", "pollLastEntry"),
        *("append", "insert", "delete", "deleteCharAt", "setCharAt", "setLength", "reverse"),  # StringBuilder
        *("set", "flip", "and", "or", "xor", "andNot"),  # List, BitSet, atomic values
        *("incrementAndGet", "getAndIncrement", "decrementAndGet", "getAndDecrement"),
        *("addAndGet", "getAndAdd", "getAndSet", "compareAndSet", "updateAndGet", "accumulateAndGet"),
        *("next", "nextInt", "nextLong", "nextDouble", "nextLine", "nextToken"),  # Iterator, Scanner, Random
        *("read", "readLine", "nextBoolean", "nextFloat", "nextGaussian"),
        *("write", "newLine"),
    }
)

_OF_ARRAYS = ("sort", "parallelSort", "fill", "setAll", "parallelSetAll", "parallelPrefix")
_OF_COLLECTIONS = ("reverse", "shuffle", "swap", "addAll", "sort", "rotate")

CALLS = Calls(
    methods=_METHODS,
    accessors=frozenset({"get", "getOrDefault", "computeIfAbsent", "getFirst", "getLast", "peek"}),
    functions={
        **{f"Arrays.{name}": (0,) for name in _OF_ARRAYS},
        **{f"Collections.{name}": (0,) for name in _OF_COLLECTIONS},
        "System.arraycopy": (2,),
        **dict.fromkeys((*_OF_ARRAYS, *_OF_COLLECTIONS), (0,)),  # statically imported
    },
    eager=frozenset(
        {
            *("forEach", "forEachOrdered", "sort", "removeIf", "replaceAll", "sorted", "map", "mapToObj"),
            *("mapToInt", "mapToLong", "mapToDouble", "filter", "flatMap", "reduce", "collect", "anyMatch"),
            *(
                "allMatch",
                "noneMatch",
                "min",
                "max",
                "takeWhile",
                "dropWhile",
                "peek",
                "ifPresent",
                "orElseGet",
            ),
            *(
                "compute",
                "computeIfAbsent",
                "computeIfPresent",
                "merge",
                "setAll",
                "updateAndGet",
                "comparing",
            ),
        }
    ),
    terminators=frozenset({"System.exit"}),
)
