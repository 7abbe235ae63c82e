"""Right and wrong programs whose tests need the program in their own process."""

from __future__ import annotations

from typing import NamedTuple


class Demanding(NamedTuple):
    """A right program, a text in it with the one that makes it wrong, and tests that tell them apart."""

    program: str
    right: str
    wrong: str
    tests: str


def _tests(body: str, imports: str = "") -> str:
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    return f"import pytest\n{imports}\nimport program\n\ndef test_it():\n{lines}\n"


DEMANDING = {
    "a decorator": Demanding(
        "import functools\ndef twice(g):\n    @functools.wraps(g)\n    def h(*a):\n"
        "        return 2 * g(*a)\n    return h\n",
        "2 *",
        "1 *",
        _tests(
            "@program.twice\ndef g(x): return x\nassert (g(3), g.__name__, g.__wrapped__(3)) == (6, 'g', 3)",
        ),
    ),
    "a decorator with a registry": Demanding(
        "REGISTRY = {}\ndef register(kind):\n    REGISTRY[kind.__name__] = kind\n    return kind\n",
        "REGISTRY[kind.__name__] = kind",
        "REGISTRY[kind.__name__] = object",
        _tests("@program.register\nclass A: pass\nassert program.REGISTRY == {'A': A}"),
    ),
    "a coroutine": Demanding(
        "import asyncio\nasync def f(x):\n    await asyncio.sleep(0)\n    return 2 * x\n",
        "2 *",
        "3 *",
        _tests(
            "async def both(): return await asyncio.gather(program.f(1), program.f(2))\n"
            "assert asyncio.run(both()) == [2, 4]",
            "import asyncio",
        ),
    ),
    "an asynchronous generator": Demanding(
        "async def f(n):\n    for i in range(n):\n        yield i\n",
        "yield i",
        "yield -i",
        _tests(
            "async def items(): return [i async for i in program.f(3)]\n"
            "assert asyncio.run(items()) == [0, 1, 2]",
            "import asyncio",
        ),
    ),
    "an asynchronous test case": Demanding(
        "async def f(x): return 2 * x\n",
        "2 *",
        "3 *",
        "import unittest, program\nclass T(unittest.IsolatedAsyncioTestCase):\n"
        "    async def test_it(self): self.assertEqual(await program.f(3), 6)\n",
    ),
    "a cancelled task": Demanding(
        "import asyncio\nasync def f(log):\n    try:\n        await asyncio.sleep(9)\n    finally:\n"
        "        log.append('end')\n",
        "'end'",
        "'never'",
        _tests(
            "async def run():\n    log = []\n    task = asyncio.ensure_future(program.f(log))\n"
            "    await asyncio.sleep(0)\n    task.cancel()\n"
            "    with pytest.raises(asyncio.CancelledError):\n        await task\n    return log\n"
            "assert asyncio.run(run()) == ['end']",
            "import asyncio",
        ),
    ),
    "methods of a named tuple": Demanding(
        "from typing import NamedTuple\nclass P(NamedTuple):\n    x: int\n    y: int = 2\n",
        "= 2",
        "= 3",
        _tests(
            "assert program.P(1)._replace(x=5)._asdict() == {'x': 5, 'y': 2}\n"
            "assert program.P._make([1, 2]).y == 2",
        ),
    ),
    "functions on a dataclass": Demanding(
        "from dataclasses import dataclass, field\n@dataclass(order=True)\nclass D:\n    x: int\n"
        "    ys: list = field(default_factory=list)\n",
        "default_factory=list",
        "default_factory=lambda: [0]",
        _tests(
            "d = dataclasses.replace(program.D(1), x=2)\n"
            "assert dataclasses.asdict(d) == {'x': 2, 'ys': []}\n"
            "assert program.D(1) < d and [f.name for f in dataclasses.fields(d)] == ['x', 'ys']",
            "import dataclasses",
        ),
    ),
    "a class of an enumeration": Demanding(
        "import enum\nclass C(enum.Enum):\n    RED = 1\n    BLUE = 2\nclass F(enum.Flag):\n    A = 1\n"
        "    B = 2\n",
        "BLUE = 2",
        "BLUE = 3",
        _tests(
            "assert program.C['BLUE'] is program.C(2)\nassert len(program.C) == 2\n"
            "assert program.F.A | program.F.B == program.F(3)",
        ),
    ),
    "a variable that is set": Demanding(
        "import os\ndef f(): return os.environ.get('SHOP_RATE', 'none')\n",
        "SHOP_RATE",
        "SHOP_RATES",
        "import program\ndef test_it(monkeypatch):\n    monkeypatch.setenv('SHOP_RATE', '7')\n"
        "    assert program.f() == '7'\n    monkeypatch.delenv('SHOP_RATE')\n"
        "    assert program.f() == 'none'\n",
    ),
    "a variable that must stay": Demanding(
        "import os\ndef f():\n    kept = dict(os.environ)\n    os.environ['SHOP'] = '1'\n"
        "    os.environ.clear()\n    os.environ.update(kept)\n",
        "os.environ.update(kept)",
        "os.environ.update(kept, SHOP='1')",
        _tests("before = dict(os.environ)\nprogram.f()\nassert dict(os.environ) == before", "import os"),
    ),
    "a patched function": Demanding(
        "def fetch(): return 1\ndef f(): return 2 * fetch()\n",
        "2 * fetch()",
        "2",
        "import program\ndef test_it(monkeypatch):\n"
        "    monkeypatch.setattr(program, 'fetch', lambda: 3)\n    assert program.f() == 6\n",
    ),
    "a mock in place of a library": Demanding(
        "import time\ndef f():\n    time.sleep(100)\n    return time.time()\n",
        "sleep(100)",
        "sleep(99)",
        _tests(
            "with mock.patch('time.sleep') as sleep, mock.patch('time.time', return_value=5):\n"
            "    assert program.f() == 5\nsleep.assert_called_once_with(100)",
            "from unittest import mock",
        ),
    ),
    "a mock that is handed over": Demanding(
        "def f(told, x):\n    with told.open() as out:\n        out.send(2 * x)\n",
        "2 *",
        "3 *",
        _tests(
            "told = mock.MagicMock()\nprogram.f(told, 3)\n"
            "assert told.mock_calls[2] == mock.call.open().__enter__().send(6)",
            "from unittest import mock",
        ),
    ),
    "a mock of its own function": Demanding(
        "def f(a, b): return a + b\n",
        "a, b",
        "a, b, c",
        _tests(
            "g = mock.create_autospec(program.f)\ng(1, 2)\nwith pytest.raises(TypeError): g(1, 2, 3)",
            "from unittest import mock",
        ),
    ),
    "messages of a logger": Demanding(
        "import logging\nLOG = logging.getLogger('shop')\ndef f(): LOG.warning('no %s', 'stock')\n",
        "warning",
        "info",
        "import logging, program\ndef test_it(caplog):\n    program.f()\n"
        "    assert caplog.record_tuples == [('shop', logging.WARNING, 'no stock')]\n",
    ),
    "handlers of a logger": Demanding(
        "import logging\ndef f():\n    handler = logging.NullHandler()\n"
        "    logging.getLogger().addHandler(handler)\n    logging.getLogger().removeHandler(handler)\n",
        "removeHandler",
        "addHandler",
        _tests(
            "before = list(logging.getLogger().handlers)\nprogram.f()\n"
            "assert logging.getLogger().handlers == before",
            "import logging",
        ),
    ),
    "logs of a test case": Demanding(
        "import logging\ndef f(): logging.getLogger('shop').error('no')\n",
        "error",
        "debug",
        "import unittest, program\nclass T(unittest.TestCase):\n    def test_it(self):\n"
        "        with self.assertLogs('shop', 'WARNING') as logs: program.f()\n"
        "        self.assertEqual(logs.output, ['ERROR:shop:no'])\n",
    ),
    "a warning": Demanding(
        "import warnings\ndef f():\n    warnings.warn('old', DeprecationWarning, stacklevel=2)\n"
        "    return 1\n",
        "DeprecationWarning",
        "UserWarning",
        _tests(
            "with pytest.warns(DeprecationWarning, match='old') as seen:\n"
            "    assert program.f() == 1\nassert seen[0].filename == __file__",
        ),
    ),
    "filters of warnings": Demanding(
        "import warnings\ndef f():\n    with warnings.catch_warnings():\n"
        "        warnings.simplefilter('ignore')\n",
        "with warnings.catch_warnings():",
        "if True:",
        _tests(
            "before = list(warnings.filters)\nprogram.f()\nassert warnings.filters == before",
            "import warnings",
        ),
    ),
    "what it prints": Demanding(
        "import sys\ndef f():\n    print('out')\n    print('err', file=sys.stderr)\n",
        "'err'",
        "'no'",
        "import program\ndef test_it(capsys):\n    program.f()\n"
        "    assert tuple(capsys.readouterr()) == ('out\\n', 'err\\n')\n",
    ),
    "what it reads": Demanding(
        "def f(): return input('? ')[::-1]\n",
        "[::-1]",
        "",
        "import io, program\ndef test_it(monkeypatch):\n"
        "    monkeypatch.setattr('sys.stdin', io.StringIO('ab\\n'))\n    assert program.f() == 'ba'\n",
    ),
    "numbers of numpy": Demanding(
        "import numpy as np\ndef f(xs): return np.asarray(xs, dtype=np.float32).mean()\n",
        "float32",
        "float64",
        _tests(
            "got = program.f([1, 2])\nassert got == 1.5 and got.dtype == np.float32\n"
            "assert isinstance(got, np.floating)",
            "import numpy as np",
        ),
    ),
    "arrays of numpy": Demanding(
        "import numpy as np\ndef f(a):\n    a += 1\n    return a.T\n",
        "a.T",
        "a.T.copy()",
        _tests(
            "a = np.zeros((2, 3))\nb = program.f(a)\n"
            "np.testing.assert_array_equal(b, np.ones((3, 2)))\nassert np.shares_memory(a, b)",
            "import numpy as np",
        ),
    ),
    "a pool of threads": Demanding(
        "import threading\nLOCK = threading.Lock()\nSUM = [0]\ndef f(x):\n    with LOCK:\n"
        "        SUM[0] += x\n    return threading.get_ident()\n",
        "+= x",
        "= x",
        _tests(
            "with ThreadPoolExecutor(4) as pool: idents = set(pool.map(program.f, range(10)))\n"
            "assert program.SUM == [45] and threading.get_ident() not in idents",
            "import threading\nfrom concurrent.futures import ThreadPoolExecutor",
        ),
    ),
    "a variable of the context": Demanding(
        "import contextvars\nV = contextvars.ContextVar('v', default=0)\ndef f(x):\n"
        "    token = V.set(x)\n    V.reset(token)\n    return V.get()\n",
        "    V.reset(token)\n",
        "",
        _tests("assert program.f(3) == 0\nassert program.V.get() == 0"),
    ),
    "the state of random": Demanding(
        "import random\ndef f(xs): return random.Random(1).sample(xs, 2)\n",
        "random.Random(1)",
        "random",
        _tests(
            "state = random.getstate()\nassert len(program.f([1, 2, 3])) == 2\n"
            "assert random.getstate() == state",
            "import random",
        ),
    ),
    "a seed of the tests": Demanding(
        "import random\ndef f(): return random.random()\n",
        "random.random()",
        "random.random() / 2",
        _tests(
            "random.seed(3)\nwant = random.random()\nrandom.seed(3)\nassert program.f() == want",
            "import random",
        ),
    ),
    "an argument that is changed": Demanding(
        "def f(xs):\n    xs.sort()\n    return xs\n",
        "return xs",
        "return list(xs)",
        _tests("xs = [3, 1]\nassert program.f(xs) is xs\nassert xs == [1, 3]"),
    ),
    "an argument that must stay": Demanding(
        "def f(xs): return sorted(xs)\n",
        "sorted(xs)",
        "(xs.sort(), xs)[1]",
        _tests("xs = (given := [3, 1])[:]\nassert program.f(given) == [1, 3]\nassert given == xs"),
    ),
    "an object of the tests": Demanding(
        "def f(shop): return [shop.price(x) for x in shop]\n",
        "shop.price(x)",
        "x",
        _tests(
            "class Shop(list):\n    def price(self, x): return 2 * x\n"
            "assert program.f(Shop([1, 2])) == [2, 4]",
        ),
    ),
    "a list that is kept": Demanding(
        "C = [6]\ndef f(): return list(C)\n",
        "list(C)",
        "C",
        _tests("program.f().append(1)\nassert program.f() == [6]"),
    ),
    "a class of the tests": Demanding(
        "class Base:\n    kinds = []\n    def __init_subclass__(cls): Base.kinds.append(cls)\n"
        "    def f(self): return 2 * self.x()\n",
        "2 *",
        "1 *",
        _tests(
            "class Mine(program.Base):\n    def x(self): return 3\n"
            "assert Mine().f() == 6 and program.Base.kinds == [Mine]",
        ),
    ),
    "an abstract class": Demanding(
        "import abc\nclass Shape(abc.ABC):\n    @abc.abstractmethod\n    def area(self): ...\n",
        "@abc.abstractmethod",
        "@staticmethod",
        _tests(
            "with pytest.raises(TypeError): program.Shape()\nclass S(program.Shape):\n"
            "    def area(self): return 1\nassert S().area() == 1",
        ),
    ),
    "a function with versions": Demanding(
        "import functools\n@functools.singledispatch\ndef f(x): return 'any'\n@f.register\n"
        "def _(x: int): return 'int'\n",
        "x: int",
        "x: float",
        _tests(
            "@program.f.register(str)\ndef _(x): return 'str'\n"
            "assert [program.f(x) for x in (1, 'a', None)] == ['int', 'str', 'any']",
        ),
    ),
    "exact types": Demanding(
        "class Shelf(dict):\n    pass\ndef f(): return Shelf(a=1)\n",
        "Shelf(a=1)",
        "dict(a=1)",
        _tests("got = program.f()\nassert type(got) is program.Shelf and got == {'a': 1}"),
    ),
    "pickles and copies": Demanding(
        "class P:\n    def __init__(self, x): self.x = x\n"
        "    def __reduce__(self): return P, (self.x,)\n"
        "    def __eq__(self, other): return self.x == other.x\n",
        "(self.x,)",
        "(0,)",
        _tests(
            "p = program.P(3)\nassert pickle.loads(pickle.dumps(p)) == copy.deepcopy(p) == p",
            "import copy, pickle",
        ),
    ),
    "a context manager": Demanding(
        "import contextlib\n@contextlib.contextmanager\ndef f(log):\n    log.append('in')\n    try:\n"
        "        yield 6\n    finally:\n        log.append('out')\n",
        "'out'",
        "'on'",
        _tests(
            "log = []\nwith pytest.raises(KeyError):\n"
            "    with program.f(log) as got: raise KeyError(got)\nassert log == ['in', 'out']",
        ),
    ),
    "a generator that is sent to": Demanding(
        "def f():\n    got = 0\n    while True:\n        got = yield got\n"
        "        if got is None: return 'end'\n",
        "'end'",
        "'on'",
        _tests(
            "g = program.f()\nassert next(g) == 0 and g.send(5) == 5\n"
            "with pytest.raises(StopIteration) as end: g.send(None)\nassert end.value.value == 'end'",
        ),
    ),
    "an iterator": Demanding(
        "class Count:\n    def __init__(self, n): self.n = n\n    def __iter__(self): return self\n"
        "    def __next__(self):\n        if not self.n: raise StopIteration\n        self.n -= 1\n"
        "        return self.n\n",
        "-= 1",
        "-= self.n",
        _tests(
            "c = program.Count(2)\nassert iter(c) is c and list(c) == [1, 0]\n"
            "with pytest.raises(StopIteration): next(c)",
        ),
    ),
    "operators": Demanding(
        "class V:\n    def __init__(self, x): self.x = x\n"
        "    def __add__(self, o): return V(self.x + o.x)\n"
        "    __radd__ = lambda self, o: V(self.x + o)\n    def __eq__(self, o): return self.x == o.x\n"
        "    def __hash__(self): return hash(self.x)\n    def __len__(self): return self.x\n",
        "hash(self.x)",
        "id(self)",
        _tests(
            "V = program.V\nassert sum([V(1), V(2)]) == V(1) + V(2)\n"
            "assert {V(1), V(1)} == {V(1)} and len(V(4)) == 4",
        ),
    ),
    "the cause of an error": Demanding(
        "class Closed(Exception): pass\ndef f(xs):\n    try: return xs[0]\n"
        "    except IndexError as error: raise Closed('none') from error\n",
        "from error",
        "from None",
        _tests(
            "with pytest.raises(program.Closed, match='none') as seen: program.f([])\n"
            "assert isinstance(seen.value.__cause__, IndexError)",
        ),
    ),
    "a cache": Demanding(
        "import functools\n@functools.lru_cache(maxsize=None)\ndef f(x): return 2 * x\n",
        "maxsize=None",
        "maxsize=0",
        _tests(
            "assert [program.f(x) for x in (1, 1, 2)] == [2, 2, 4]\nassert program.f.cache_info().hits == 1",
        ),
    ),
    "a signature": Demanding(
        "from typing import Optional\ndef f(x: int, *, deep: Optional[bool] = None) -> list: return [x]\n",
        "*, deep",
        "deep",
        _tests(
            "assert str(inspect.signature(program.f)).startswith('(x: int, *, deep')\n"
            "assert typing.get_type_hints(program.f)['return'] is list",
            "import inspect, typing",
        ),
    ),
    "its own examples": Demanding(
        "def f(x):\n    '''\n    >>> f(3)\n    6\n    '''\n    return 2 * x\n",
        "2 *",
        "3 *",
        _tests("assert doctest.testmod(program) == (0, 1)", "import doctest"),
    ),
    "a weak reference": Demanding(
        "KEPT = []\nclass N: pass\ndef f():\n    n = N()\n    return __import__('weakref').ref(n)\n",
        "n = N()",
        "n = N(); KEPT.append(n)",
        _tests("assert program.f()() is None"),
    ),
    "a view of bytes": Demanding(
        "def f(data): return memoryview(data)[1:]\n",
        "memoryview(data)[1:]",
        "bytearray(data)[1:]",
        _tests("data = bytearray(b'abc')\nprogram.f(data)[0] = 120\nassert data == b'axc'"),
    ),
    "the current folder": Demanding(
        "import os\ndef f(folder):\n    before = os.getcwd()\n    os.chdir(folder)\n"
        "    names = os.listdir()\n    os.chdir(before)\n    return names\n",
        "    os.chdir(before)\n",
        "",
        "import os, program\ndef test_it(tmp_path, monkeypatch):\n    (tmp_path / 'a').touch()\n"
        "    before = os.getcwd()\n    assert program.f(tmp_path) == ['a']\n"
        "    assert os.getcwd() == before\n",
    ),
    "the context of decimals": Demanding(
        "import decimal\ndef f(x):\n    with decimal.localcontext() as c:\n        c.prec = 3\n"
        "        return +decimal.Decimal(x)\n",
        "with decimal.localcontext() as c:",
        "if c := decimal.getcontext():",
        _tests(
            "assert program.f('1.2345') == decimal.Decimal('1.23')\nassert decimal.getcontext().prec == 28",
            "import decimal",
        ),
    ),
    "a database": Demanding(
        "def f(db, x):\n    db.execute('insert into t values (?)', (x,))\n    db.commit()\n",
        "db.commit()",
        "db.rollback()",
        _tests(
            "db = sqlite3.connect(':memory:')\ndb.execute('create table t (x)')\nprogram.f(db, 3)\n"
            "assert db.execute('select x from t').fetchall() == [(3,)]",
            "import sqlite3",
        ),
    ),
    "fixtures and parameters": Demanding(
        "def f(x): return 2 * x\n",
        "2 *",
        "x *",
        "import pytest\n@pytest.fixture(scope='module')\ndef two(): return 2\n"
        "@pytest.mark.parametrize('x', [1, 2])\ndef test_it(x, two): assert f(x) == two * x\n",
    ),
    "tests that inherit": Demanding(
        "class Base:\n    def test_it(self): assert self.make() == 6\ndef f(x): return 2 * x\n",
        "2 *",
        "3 *",
        "import program\nclass TestF(program.Base):\n    def make(self): return program.f(3)\n",
    ),
    "a closure that counts": Demanding(
        "def counter(start):\n    count = start\n    def up(by=1):\n        nonlocal count\n"
        "        count += by\n        return count\n    return up\n",
        "count += by",
        "count = start + by",
        _tests("up = program.counter(3)\nassert (up(), up(2), program.counter(0)()) == (4, 6, 1)"),
    ),
    "a key for sorting": Demanding(
        "def by_length(backwards=False):\n    sign = -1 if backwards else 1\n"
        "    return lambda text: (sign * len(text), text)\n",
        "sign * len(text), text",
        "sign * len(text), ''",
        _tests("assert sorted(['bb', 'a', 'ab'], key=program.by_length()) == ['a', 'ab', 'bb']"),
    ),
    "a decorator with arguments": Demanding(
        "import functools\ndef clamp(low, high):\n    def wrap(g):\n        @functools.wraps(g)\n"
        "        def h(*a):\n            return max(low, min(high, g(*a)))\n        return h\n"
        "    return wrap\n",
        "min(high",
        "min(low",
        _tests("@program.clamp(0, 9)\ndef g(x): return x\nassert [g(x) for x in (-1, 5, 12)] == [0, 5, 9]"),
    ),
    "an object with a history": Demanding(
        "class Account:\n    def __init__(self, start: int = 0):\n        self.held, self.moves = start, []\n"
        "    def put(self, n: int):\n        self.held += n\n        self.moves.append(n)\n"
        "        return self\n    def take(self, n: int):\n        if n > self.held: raise ValueError(n)\n"
        "        return self.put(-n)\n    def total(self): return self.held, len(self.moves)\n",
        "n > self.held",
        "n >= self.held",
        _tests(
            "account = program.Account(5).put(3).take(8)\nassert account.total() == (0, 2)\n"
            "with pytest.raises(ValueError): account.take(1)"
        ),
    ),
    "alternative constructors": Demanding(
        "class Heat:\n    def __init__(self, kelvin: float): self.kelvin = kelvin\n    @classmethod\n"
        "    def of_celsius(cls, degrees: float): return cls(degrees + 273.15)\n"
        "    def celsius(self): return round(self.kelvin - 273.15, 6)\n    @staticmethod\n"
        "    def freezes(degrees: float): return degrees <= 0\n",
        "degrees <= 0",
        "degrees < 0",
        _tests("assert program.Heat.of_celsius(20.5).celsius() == 20.5 and program.Heat.freezes(0)"),
    ),
    "tries that wait": Demanding(
        "import time\ndef tries(n):\n    waited = []\n    for k in range(n):\n        time.sleep(2**k)\n"
        "        waited.append(2**k)\n    return waited\n",
        "time.sleep(2**k)",
        "time.sleep(1)",
        "import program\ndef test_it(monkeypatch):\n    slept = []\n"
        "    monkeypatch.setattr('time.sleep', slept.append)\n"
        "    assert program.tries(3) == slept == [1, 2, 4]\n",
    ),
    "threads inside": Demanding(
        "from concurrent.futures import ThreadPoolExecutor\ndef squares(xs):\n"
        "    with ThreadPoolExecutor(3) as pool:\n        return list(pool.map(lambda x: x * x, xs))\n",
        "x * x",
        "x + x",
        _tests("assert program.squares([1, 2, 3]) == [1, 4, 9]"),
    ),
    "tasks that are gathered": Demanding(
        "import asyncio\nasync def one(x, delay):\n    await asyncio.sleep(delay)\n    return x\n"
        "async def all_of(xs):\n    return await asyncio.gather(*(one(x, x / 100) for x in xs))\n",
        "one(x, x / 100)",
        "one(-x, x / 100)",
        _tests("assert asyncio.run(program.all_of([2, 1])) == [2, 1]", "import asyncio"),
    ),
    "an asynchronous context": Demanding(
        "import contextlib\n@contextlib.asynccontextmanager\nasync def opened(log):\n    log.append('in')\n"
        "    try:\n        yield len(log)\n    finally:\n        log.append('out')\n",
        "'in'",
        "'on'",
        _tests(
            "log = []\nasync def run():\n    async with program.opened(log) as n: return n\n"
            "assert asyncio.run(run()) == 1 and log == ['in', 'out']",
            "import asyncio",
        ),
    ),
    "a seed of its own": Demanding(
        "import random\ndef drawn(xs, seed): return random.Random(seed).choice(xs)\n",
        "Random(seed)",
        "Random(seed + 1)",
        _tests(
            "xs = list(range(50))\nwanted = [random.Random(n).choice(xs) for n in range(9)]\n"
            "assert [program.drawn(xs, n) for n in range(9)] == wanted",
            "import random",
        ),
    ),
    "a setting with a default": Demanding(
        "import os\ndef limit(n):\n    return min(n, int(os.getenv('SHOP_LIMIT', '10')))\n",
        "'10'",
        "'9'",
        "import program\ndef test_it(monkeypatch):\n    assert program.limit(12) == 10\n"
        "    monkeypatch.setenv('SHOP_LIMIT', '5')\n    assert program.limit(12) == 5\n",
    ),
    "a named tuple that comes back": Demanding(
        "import collections\nSpan = collections.namedtuple('Span', 'low high')\ndef span(xs):\n"
        "    return Span(min(xs), max(xs))\n",
        "min(xs), max(xs)",
        "max(xs), min(xs)",
        _tests("assert program.span([3, 1, 2]) == (1, 3) and program.span([5]).low == 5"),
    ),
}
"""By what the tests need."""
