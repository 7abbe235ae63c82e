"""Stand-ins for a program: classes with its headers, whose bodies call the program in its own process.

The tests are compiled against them, so that the program's code is never in the process of its tests. The
headers are rebuilt from names and a few symbols, so that they contain no code of the program. Features that a
stand-in cannot represent are a reason to judge in one process: fields that tests use, superclasses, the
program's own types in headers.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import tree_sitter

from counterlens.syntax.grammars import parser_for
from counterlens.syntax.tree import descendants

_SIGNS = frozenset([".", ",", "<", ">", "[", "]", "(", ")", "?", "&", "..."])
_WORD = re.compile(r"[^\W\d][\w$]*|\$[\w$]*")
_KEPT = ("public", "protected", "static")
_VALUES = (
    "void boolean byte short char int long float double Boolean Byte Short Character Integer Long Float "
    "Double Number String CharSequence StringBuilder Object BigInteger BigDecimal Optional Comparable "
    "Iterable Collection List ArrayList LinkedList Vector Stack Queue Deque ArrayDeque PriorityQueue Set "
    "HashSet LinkedHashSet TreeSet SortedSet NavigableSet Map HashMap LinkedHashMap TreeMap SortedMap "
    "NavigableMap Hashtable Entry"
)
_PASSABLE = frozenset([*_VALUES.split(), "java", "util", "lang", "math", "extends", "super"])
_TYPES = {"class_declaration", "interface_declaration", "enum_declaration", "record_declaration"}
_TYPES |= {"annotation_type_declaration"}
_LOOPS = frozenset(["enhanced_for_statement", "for_statement", "while_statement", "do_statement"])
_LOOPING = frozenset(
    [
        "stream",
        "forEach",
        "iterator",
        "listIterator",
        "removeIf",
        "containsAll",
        "allMatch",
        "anyMatch",
        "noneMatch",
    ]
)
_IMPLICIT = frozenset(["equals", "hashCode", "toString"])
_MARKS = frozenset(["Test", "ParameterizedTest", "RepeatedTest", "TestFactory", "TestTemplate", "Theory"])
_REMOTE = "counterlens.worker.Remote"
_SELF = "counterlens$self"


class InseparableError(Exception):
    """The tests and the program need one process; the message says why."""


class UnusedError(Exception):
    """The tests name no type of the program."""


@dataclass(frozen=True, slots=True)
class JavaTests:
    """Tests, ready to be compiled with the stand-ins or with the program.

    Attributes:
        text: Their text, with missing imports added.
        loops: Whether any code in them runs once per item.
        cases: Number of cases: a `main`, or the methods that JUnit runs.
        foreign: Imports that are neither the library's nor the program's, such as a test framework.
    """

    text: str
    loops: bool
    cases: int
    foreign: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StandIns:
    """The stand-ins of a program.

    Attributes:
        text: Their source.
        names: Their simple names.
        packages: The packages whose classes the tests can all use by their simple names.
    """

    text: str
    names: tuple[str, ...]
    packages: tuple[str, ...]


def read_tests(tests: str, program: str) -> JavaTests:
    """Read the text of tests; without a package and imports of its own, it gets those of a program."""
    tree = parser_for("java").parse(tests.encode()).root_node
    root = parser_for("java").parse(program.encode()).root_node
    own = [line.removeprefix("package ").removesuffix(";") for line in _package(root)]
    foreign = [name for name in _imported(tree) if not name.startswith(("java.", "javax.", *own))]
    head = ""
    if not any(node.type in {"import_declaration", "package_declaration"} for node in tree.children):
        head = "".join(f"{line} " for line in [*_package(root), *_imports(root)])
    words = {_own_text(node) for node in descendants(tree) if node.type == "identifier"}
    loops = any(node.type in _LOOPS for node in descendants(tree)) or bool(words & _LOOPING)
    return JavaTests(head + tests, loops, _cases(tree), tuple(foreign))


def _cases(root: tree_sitter.Node) -> int:
    """The number of methods that a runner calls: `main`, or JUnit's annotated and old-style methods."""
    found = 0
    for node in descendants(root):
        if node.type != "method_declaration":
            continue
        name = node.child_by_field_name("name")
        text = _own_text(name) if name is not None else ""
        marks = next((child for child in node.children if child.type == "modifiers"), None)
        marked = {
            _own_text(mark.named_children[0]).rpartition(".")[2]
            for mark in (marks.named_children if marks is not None else ())
            if mark.named_children
        }
        old = text.startswith("test") and "TestCase" in _superclass(node)
        found += bool(marked & _MARKS) or text == "main" or old
    return found


def _superclass(method: tree_sitter.Node) -> str:
    owner = method.parent.parent if method.parent is not None else None
    above = owner.child_by_field_name("superclass") if owner is not None else None
    return _own_text(above) if above is not None else ""


def stand_ins(program: str, tests: str, without: Collection[str] = (), also: Sequence[str] = ()) -> StandIns:
    """The stand-ins for the types of a program that its tests name.

    Args:
        program: Its source; the original's if there is one.
        tests: The text of its tests.
        without: Types that are hidden from the tests.
        also: The texts of other files that are compiled with them.

    Raises:
        InseparableError: a stand-in cannot be made.
        UnusedError: the tests name no type of the program.
    """
    root = parser_for("java").parse(program.encode()).root_node
    tree = parser_for("java").parse(tests.encode()).root_node
    words = frozenset(name for text in (tests, *also) for name in _names(text))
    declared = {_name(node) for node in tree.children if node.type in _TYPES}
    types = {_name(node): node for node in root.children if node.type in _TYPES}
    wanted = [node for name, node in types.items() if name in words - declared - {*without}]
    if not wanted:
        raise UnusedError
    package = _package(root)
    prefix = f"{package_of(root)}." if package else ""
    parts = [_stand_in(node, prefix, frozenset(types), words) for node in wanted]
    imports = [*_imports(root), *_imports(tree)]
    starred = [line[len("import ") : -len(".*;")] for line in imports if line.endswith(".*;")]
    text = "\n".join([*package, *_imports(root), *parts])
    return StandIns(text, tuple(_name(node) for node in wanted), ("java.lang", *starred))


def _names(text: str) -> Iterator[str]:
    root = parser_for("java").parse(text.encode()).root_node
    return (_own_text(node) for node in descendants(root) if node.type in {"identifier", "type_identifier"})


def _stand_in(node: tree_sitter.Node, prefix: str, types: frozenset[str], words: frozenset[str]) -> str:
    name = _name(node)
    if node.type != "class_declaration":
        raise InseparableError(f"{name} is no class")
    if node.child_by_field_name("superclass") is not None or "abstract" in _modifiers(node):
        raise InseparableError(f"{name} extends another class, or is abstract")
    interfaces = node.child_by_field_name("interfaces")
    if interfaces is not None and types & set(_tokens(interfaces)):
        raise InseparableError(f"{name} implements an interface of the program")
    body = node.child_by_field_name("body")
    members = body.named_children if body is not None else []
    inner = types | {_name(child) for child in members if child.type in _TYPES}
    parameters = node.child_by_field_name("type_parameters")
    own = type_variables(parameters)
    lines = [f"private final long {_SELF};"]
    makers = [child for child in members if child.type == "constructor_declaration"]
    methods = [child for child in members if child.type == "method_declaration"]
    open_ones = [child for child in makers if "private" not in _modifiers(child)]
    if not makers:
        lines.append(f'public {name}() {{ {_SELF} = {_REMOTE}.construct("{prefix}{name}", ""); }}')
    elif not open_ones:
        lines.append(f"private {name}() {{ {_SELF} = 0; }}")
    called = words | _IMPLICIT if interfaces is None else {_name(child) for child in methods}
    asked = [child for child in methods if "private" not in _modifiers(child) and _name(child) in called]
    asking = [*open_ones, *asked]  # members that the tests do not name are left out
    lines += [_method(child, prefix + name, inner, own) for child in asking]
    public = "public " if "public" in _modifiers(node) else ""
    generic = _joined([parameters]) if parameters is not None else ""
    body_text = "\n".join(lines)
    return f'@SuppressWarnings("all") {public}class {name}{generic} {{\n{body_text}\n}}'


def _method(node: tree_sitter.Node, owner: str, types: frozenset[str], variables: dict[str, str]) -> str:
    """The source of a method, or a constructor, that calls the program."""
    name, result = _name(node), node.child_by_field_name("type")
    variables = variables | type_variables(node.child_by_field_name("type_parameters"))
    parameters = node.child_by_field_name("parameters")
    given = [c for c in parameters.named_children if c.type.endswith("_parameter")] if parameters else []
    if any(child.type == "receiver_parameter" for child in given):
        raise InseparableError(f"{name} names its receiver")
    body = node.child_by_field_name("body")
    for part in (result, *(_type_of(each) for each in given)):
        _passable(part, types, variables, name)
    header = [child for child in node.children if child != body and child.type not in {"modifiers", ";"}]
    modifiers = " ".join(word for word in _KEPT if word in _modifiers(node))
    static = "static" in modifiers
    simple = ",".join(simple_name(each, variables) for each in given)
    arguments = ", ".join(_parameter_name(each) for each in given)
    passed = f"new Object[] {{{arguments}}}"
    if result is None:
        call = f'{_SELF} = {_REMOTE}.construct("{owner}", "{simple}", {passed});'
    else:
        self = "0" if static else _SELF
        call = f'{_REMOTE}.call("{owner}", "{name}", "{simple}", {self}, {passed});'
        dimensions = node.child_by_field_name("dimensions")
        if _own_text(result) != "void":
            call = f"return ({_joined([result, *filter(None, [dimensions])])}) {call}"
    return f"{modifiers} {_joined(header)} {{ {call} }}"


def _passable(
    node: tree_sitter.Node | None, types: frozenset[str], variables: dict[str, str], method: str
) -> None:
    """Check that values of a type can be passed between processes."""
    tokens = _tokens(node) if node is not None else []
    words = [token for token in tokens if _WORD.fullmatch(token)]
    for word in words:
        if word in types or not (word in _PASSABLE or word in variables):
            raise InseparableError(f"{method} takes or gives a {word}")


def type_variables(node: tree_sitter.Node | None) -> dict[str, str]:
    """Type variables with the simple names of their erasures."""
    found = {}
    for child in node.named_children if node is not None else ():
        tokens = _tokens(child)
        found[tokens[0]] = tokens[2] if len(tokens) > 2 else "Object"
    return found


def _type_of(parameter: tree_sitter.Node) -> tree_sitter.Node | None:
    found = parameter.child_by_field_name("type")
    if found is not None:
        return found
    named = [child for child in parameter.named_children if child.type != "modifiers"]
    return named[0] if named else None


def _parameter_name(parameter: tree_sitter.Node) -> str:
    if parameter.type == "spread_parameter":
        parameter = next(c for c in parameter.named_children if c.type == "variable_declarator")
    return _name(parameter)


def simple_name(parameter: tree_sitter.Node, variables: dict[str, str]) -> str:
    """The simple name of a parameter's class, as in reflection."""
    found = _type_of(parameter)
    text = "".join(_tokens(found)) if found is not None else ""
    while (plain := re.sub(r"<[^<>]*>", "", text)) != text:
        text = plain
    base, _, brackets = text.partition("[")
    base = base.rpartition(".")[2]
    after = parameter.child_by_field_name("dimensions")
    more = "[]" if parameter.type == "spread_parameter" else ""
    more += "".join(_tokens(after)) if after is not None else ""
    return variables.get(base, base) + (f"[{brackets}" if brackets else "") + more


def package_of(root: tree_sitter.Node) -> str:
    """The name of a file's package; empty for the unnamed one."""
    return "".join(line.removeprefix("package ").removesuffix(";") for line in _package(root))


def _package(root: tree_sitter.Node) -> list[str]:
    lines = [_line(node) for node in root.children if node.type == "package_declaration"]
    return [line for line in lines if re.fullmatch(r"package [\w.$]+;", line)][:1]


def _imports(root: tree_sitter.Node) -> list[str]:
    """The imports from the library, one line each."""
    lines = [_line(node) for node in root.children if node.type == "import_declaration"]
    return [line for line in lines if re.fullmatch(r"import (static )?javax?\.[\w.$]+(\.\*)?;", line)]


def _imported(root: tree_sitter.Node) -> list[str]:
    """The imported names."""
    lines = [_line(node) for node in root.children if node.type == "import_declaration"]
    return [re.sub(r"^import (static )?|;$", "", line) for line in lines]


def _line(node: tree_sitter.Node) -> str:
    words = [_own_text(leaf) for leaf in _leaves(node)]
    return re.sub(r" ?([.;*]) ?", r"\1", " ".join(words))


def _joined(nodes: Sequence[tree_sitter.Node]) -> str:
    return " ".join(token for node in nodes for token in _tokens(node))


def _tokens(node: tree_sitter.Node) -> list[str]:
    """The names and symbols of a part of a header, without its annotations.

    Raises:
        InseparableError: it contains anything else.
    """
    tokens = [_own_text(leaf) for leaf in _leaves(node)]
    strange = [token for token in tokens if token not in _SIGNS and not _WORD.fullmatch(token)]
    if strange or node.has_error:
        raise InseparableError(f"a header with {strange[0]!r}" if strange else "a header that does not parse")
    return tokens


def _leaves(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    if node.type in {"modifiers", "annotation", "marker_annotation", "line_comment", "block_comment"}:
        return
    if not node.children:
        yield node
    for child in node.children:
        yield from _leaves(child)


def _modifiers(node: tree_sitter.Node) -> set[str]:
    found = next((child for child in node.children if child.type == "modifiers"), None)
    return {child.type for child in found.children} if found is not None else set()


def _name(node: tree_sitter.Node) -> str:
    found = node.child_by_field_name("name")
    text = _own_text(found) if found is not None else ""
    if not _WORD.fullmatch(text):
        raise InseparableError(f"a name {text!r}")
    return text


def _own_text(node: tree_sitter.Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
