"""A function with a bug for each kind of doubt, the bug, and a failing test."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Planted:
    """A right function, and the change that makes it wrong.

    Attributes:
        right: The right function, with examples in its docstring.
        was: The replaced text.
        now: The replacement.
    """

    right: str
    was: str
    now: str

    @property
    def wrong(self) -> str:
        """The function with the bug."""
        assert self.right.count(self.was) == 1
        return self.right.replace(self.was, self.now)


PLANTED = {
    "comparison": Planted(
        '''def largest(values):
    """The largest value.

    >>> largest([3, 7, 5])
    7
    """
    found = values[0]
    for value in values:
        if value > found:
            found = value
    return found
''',
        "value > found",
        "value < found",
    ),
    "arithmetic": Planted(
        '''def area(width, height):
    """The area of a rectangle.

    >>> area(3, 4)
    12
    """
    return width * height
''',
        "width * height",
        "width + height",
    ),
    "boolean": Planted(
        '''def is_between(value, low, high):
    """Whether a value is between two others.

    >>> is_between(3, 1, 5), is_between(9, 1, 5)
    (True, False)
    """
    return low <= value and value <= high
''',
        " and value",
        " or value",
    ),
    "membership": Planted(
        '''def missing(names, known):
    """The names that are not known.

    >>> missing(["a", "b"], ["b"])
    ['a']
    """
    return [name for name in names if name not in known]
''',
        "name not in known",
        "name in known",
    ),
    "augmented": Planted(
        '''def total(prices):
    """The sum of prices.

    >>> total([2, 3, 4])
    9
    """
    result = 0
    for price in prices:
        result += price
    return result
''',
        "result += price",
        "result -= price",
    ),
    "boundary": Planted(
        '''def last(values):
    """The last value.

    >>> last([4, 5, 6])
    6
    """
    return values[len(values) - 1]
''',
        "- 1",
        "- 2",
    ),
    "constant": Planted(
        '''def ranked(values):
    """The values, largest first.

    >>> ranked([2, 3, 1])
    [3, 2, 1]
    """
    return sorted(values, reverse=True)
''',
        "reverse=True",
        "reverse=False",
    ),
    "negation": Planted(
        '''def first_line(text):
    """The first line of a text, or nothing.

    >>> first_line("a"), first_line("")
    ('a', None)
    """
    if not text:
        return None
    return text.splitlines()[0]
''',
        "if not text",
        "if text",
    ),
    "order": Planted(
        '''def mean(values):
    """The mean of some values.

    >>> mean([2, 4, 9])
    5.0
    """
    return sum(values) / len(values)
''',
        "sum(values) / len(values)",
        "len(values) / sum(values)",
    ),
    "variable": Planted(
        '''def distance(start, end):
    """How far it is from the start to the end.

    >>> distance(3, 10)
    7
    """
    return end - start
''',
        "end - start",
        "end - end",
    ),
    "index": Planted(
        '''def diagonal(rows):
    """Whether a square matrix is symmetric.

    >>> diagonal([[1, 2], [2, 1]]), diagonal([[1, 2], [3, 1]])
    (True, False)
    """
    for i in range(len(rows)):
        for j in range(len(rows)):
            if rows[i][j] != rows[j][i]:
                return False
    return True
''',
        "rows[j][i]",
        "rows[i][i]",
    ),
    "attribute": Planted(
        '''def loud(text):
    """The text in capital letters.

    >>> loud("a"), loud("B")
    ('A', 'B')
    """
    if text == text.upper():
        return text
    return text.upper()
''',
        "return text.upper()",
        "return text.lower()",
    ),
    "branches": Planted(
        '''def parity(n):
    """The parity of a number.

    >>> parity(4), parity(3)
    ('even', 'odd')
    """
    if n % 2 == 0:
        word = "even"
    else:
        word = "odd"
    return word
''',
        """        word = "even"
    else:
        word = "odd"
""",
        """        word = "odd"
    else:
        word = "even"
""",
    ),
    "exits": Planted(
        '''def doubled(values):
    """All values, doubled.

    >>> doubled([1, 2])
    [2, 4]
    """
    result = []
    for value in values:
        result.append(2 * value)
    return result
''',
        "    return result\n",
        "        return result\n",
    ),
    "exception": Planted(
        '''def at(values, index):
    """The value at an index, or nothing.

    >>> at([1], 0), at([1], 5)
    (1, None)
    """
    try:
        return values[index]
    except IndexError:
        return None
''',
        "except IndexError",
        "except KeyError",
    ),
    "await": Planted(
        '''import asyncio


async def one():
    """One."""
    return 1


async def two():
    """Twice one.

    >>> asyncio.run(two())
    2
    """
    found = await one()
    return 2 * found
''',
        "await one()",
        "one()",
    ),
    "return": Planted(
        '''def lowered(name):
    """A name in small letters.

    >>> lowered("Ab")
    'ab'
    """
    return name.lower()
''',
        "return name.lower()",
        "name.lower()",
    ),
    "default": Planted(
        '''def collected(value, into=None):
    """A list with one more value.

    >>> collected(1)
    [1]
    >>> collected(2)
    [2]
    """
    if into is None:
        into = []
    into.append(value)
    return into
''',
        "into=None):\n",
        "into=[]):\n",
    ),
    "receiver": Planted(
        '''class Box:
    """A box.

    """

    def __init__(self, size):
        self.size = size

    def room(self, size):
        """The room that something of a size leaves.

        >>> Box(5).room(3)
        2
        """
        return self.size - size
''',
        "return self.size - size",
        "return self.size - self.size",
    ),
    "strings": Planted(
        '''def parity(number):
    """The parity of a number.

    >>> parity(3), parity(4)
    ('odd', 'even')
    """
    if number % 2:
        return "odd"
    return "even"
''',
        """return "odd"
    return "even\"""",
        """return "even"
    return "odd\"""",
    ),
    "counterpart": Planted(
        '''def all_positive(values):
    """Whether all values are positive.

    >>> all_positive([1, -1]), all_positive([1])
    (False, True)
    """
    return all(value > 0 for value in values)
''',
        "return all(",
        "return any(",
    ),
}
"""The functions, by the kind of the alternative that fixes the bug."""
