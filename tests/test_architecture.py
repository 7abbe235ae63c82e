"""Imports run one way, every arrow of the spine has one implementation, and ARCHITECTURE.md says so."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from inspect import isabstract
from pathlib import Path
from typing import Any

from counterlens.languages import registry
from counterlens.languages.registry import LANGUAGES
from counterlens.probes.probe import Probe
from counterlens.probes.registry import PROBES

REPOSITORY = Path(__file__).parents[1]
PACKAGE = REPOSITORY / "server" / "counterlens"
PAGE = (REPOSITORY / "ARCHITECTURE.md").read_text(encoding="utf-8")

LAYERS = [
    {"errors", "text", "counting", "progress", "plugins", "trust", "user_list"}
    | {"atomic_file", "environment", "processes", "child", "regular_file", "nested_text", "__init__"},
    {"languages"},
    {"syntax"},
    {"metrics"},
    {"models"},
    {"dependence"},
    {"mutations"},
    {"confidence"},
    {"sandbox"},
    {"judging"},
    {"doubt"},
    {"survivors"},
    {"datasets"},
    {"probes"},
    {"python", "java", "scored"},
    {"calibration"},
    {"explaining"},
    {"evaluation"},
    {"reports"},
    {"lsp", "cli", "mcp"},
    {"__main__"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}

PACKS = ("python", "java", "scored")
"""The folders with what knows a language."""

ROOMS = [
    {"protocols", "options", "common_options", "record"},
    {"probe", "prompts", "sanity"},
    {"runner"},
    {"pairs"},
    {"execution"},
    {"operator", "recognition", "confidence"},
    {"robustness"},
    {"dependence"},
    {"equivalence"},
    {"localisation", "reading"},
    {"runtime", "reference"},
    {"subjects", "registry"},
    {"dataset_subjects"},
]
"""The parts of `probes/`, which import in one direction, too."""


def files(*folders: str) -> list[Path]:
    """The modules of some folders; of all, where none is named."""
    return sorted(path for folder in folders or ("",) for path in (PACKAGE / folder).rglob("*.py"))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of a module, parsed once for all tests."""
    return tuple(ast.walk(ast.parse(path.read_text())))


def name(path: Path) -> str:
    """A module as the page names it."""
    return path.relative_to(PACKAGE).as_posix()


def calls(*folders: str) -> Iterator[tuple[str, str, ast.Call]]:
    """Every call in some folders: the module, the name of what is called, and the call."""
    for path in files(*folders):
        for node in nodes(path):
            if isinstance(node, ast.Call):
                called = node.func
                if isinstance(called, ast.Attribute):
                    yield name(path), called.attr, node
                elif isinstance(called, ast.Name):
                    yield name(path), called.id, node


def imported(path: Path) -> Iterator[str]:
    """The layers of counterlens that a file imports from."""
    for node in nodes(path):
        modules: list[str] = []
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules = [node.module]
            if node.module == "counterlens":
                modules = [f"counterlens.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        for module in modules:
            head, _, rest = module.partition(".")
            if head == "counterlens":
                layer = rest.partition(".")[0]
                yield layer if layer in LEVEL else "__init__"  # `from counterlens import __version__`


def layer_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def test_every_file_is_on_a_layer() -> None:
    assert {layer_of(path) for path in PACKAGE.rglob("*.py")} <= set(LEVEL)


def test_no_layer_imports_from_one_above_it() -> None:
    wrong = [
        f"{path.relative_to(PACKAGE)} imports {name}"
        for path in PACKAGE.rglob("*.py")
        for name in imported(path)
        if LEVEL[name] > LEVEL[layer_of(path)]
        or (LEVEL[name] == LEVEL[layer_of(path)] and name != layer_of(path) and name in {"lsp", "cli", "mcp"})
    ]
    # the command line starts the other two faces, and that is all it knows of them
    assert sorted(set(wrong)) == ["cli/mcp.py imports mcp", "cli/serve.py imports lsp"]


def test_a_neutral_module_imports_no_language_pack() -> None:
    assert {
        f"{name(path)} imports {pack}"
        for path in files()
        if layer_of(path) not in PACKS
        for pack in {*imported(path)} & {*PACKS}
    } == set()
    assert {
        name(path)
        for path in files()
        for node in nodes(path)
        if layer_of(path) not in PACKS
        and isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.match(rf"counterlens\.({'|'.join(PACKS)})\b", node.value)
    } == set()  # by name, in a string: the registration alone, which puts the names together
    assert registry.PACKS == PACKS


def test_a_language_pack_imports_no_other() -> None:
    wrong = {
        f"{name(path)} imports {pack}"
        for path in files(*PACKS)
        for pack in {*imported(path)} & {*PACKS}
        if pack != layer_of(path)
    }
    assert not wrong


def test_only_the_child_process_imports_llama_cpp() -> None:
    users = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if re.search(r"^ *(import|from) llama_cpp", path.read_text(), re.MULTILINE)
    }
    inside = ("exactness", "ggml", "native", "prompt_encoding", "sequences", "worker")
    filling = ("template_rendering",)  # a process of its own, which needs one class of it
    assert users == {f"models/llama/{name}.py" for name in (*inside, *filling)}


def test_python_is_parsed_where_no_collection_interrupts_it() -> None:
    in_processes_of_their_own = ("python/judging/sandboxed/", "python/execution/observers.py")
    found = {
        name(path)
        for path in files()
        for node in nodes(path)
        if isinstance(node, ast.Attribute) and node.attr == "parse" and ast.unparse(node.value) == "ast"
    }
    assert {one for one in found if not one.startswith(in_processes_of_their_own)} == {
        "python/syntax/parsing.py"
    }


def test_the_parts_of_probes_import_in_one_direction() -> None:
    level = {room: number for number, rooms in enumerate(ROOMS) for room in rooms}
    parts = {path.relative_to(PACKAGE / "probes").parts[0].removesuffix(".py") for path in files("probes")}
    assert parts - {"__init__"} == set(level)
    wrong = [
        f"{name(path)} imports {room}"
        for path in files("probes")
        for own in [path.relative_to(PACKAGE / "probes").parts[0].removesuffix(".py")]
        for room in re.findall(r"^ *from counterlens\.probes\.(\w+)", path.read_text(), re.MULTILINE)
        if own != "__init__" and level[room] > level[own]
    ]
    assert wrong == []


def test_a_report_is_built_without_knowing_its_forms_and_rendered_without_knowing_probes() -> None:
    for folder, foreign in (
        ("reports/build", ("reports.render",)),
        ("reports/render", ("reports.build", "probes")),
    ):
        for path in files(folder):
            for module in foreign:
                assert f"counterlens.{module}" not in path.read_text(), name(path)


def test_the_page_lists_the_layers_in_their_order() -> None:
    rows = re.findall(
        r"^\| ((?:`[\w./]+`(?:, )?)+) \| .+ \|$", PAGE.partition("## The layers")[2], re.MULTILINE
    )
    listed = [
        {layer.removesuffix(".py").strip("/") for layer in re.findall(r"`([^`]+)`", row)} for row in rows
    ]
    assert listed[: len(LAYERS) - 1] == [layers - {"__init__"} for layers in LAYERS[:-1]]


def test_each_arrow_of_the_spine_is_implemented_once_and_where_the_page_says() -> None:
    arrows = re.findall(r"^\| [^|]+ \| `(\w+)` \| `([\w/]+\.py)` \|$", PAGE, re.MULTILINE)
    assert len(arrows) >= 12
    defined: dict[str, list[str]] = {}
    for path in files():
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                defined.setdefault(node.name, []).append(name(path))
    assert {arrow: defined.get(arrow) for arrow, _ in arrows} == {arrow: [place] for arrow, place in arrows}


def test_probes_are_run_by_the_runner_alone() -> None:
    runs = {
        module
        for module, called, call in calls("probes", "evaluation", "reports", "lsp", "cli", "mcp")
        if called == "run" and len(call.args) + len(call.keywords) == 3
    }
    assert runs == {"probes/runner.py"}


def started(path: Path) -> Iterator[str]:
    """The functions and modules that start processes, as far as a module uses them."""
    for node in nodes(path):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            used, is_called = f"{node.value.id}.{node.attr}", id(node) in called_in(path)
            if STARTS.fullmatch(used) and (is_called or node.value.id != "subprocess"):
                yield used
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (
                used
                for alias in node.names
                if STARTS.fullmatch(used := f"{node.module}.{alias.name}") or LIBRARIES.match(used)
            )
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if LIBRARIES.match(alias.name + "."))
        elif isinstance(node, ast.List | ast.Tuple) and any(
            ast.unparse(part) == PYTHON for part in node.elts
        ):
            yield f"a command of {PYTHON}"


STARTS = re.compile(
    r"subprocess\.(Popen|run|call|check_call|check_output|getoutput|getstatusoutput)"
    r"|os\.(exec\w+|spawn\w+|posix_spawnp?|system|popen|startfile)|pty\.(spawn|fork)"
    r"|asyncio\.(create_)?subprocess\w*|(concurrent\.)?futures\.ProcessPoolExecutor"
)
LIBRARIES = re.compile(r"(multiprocessing|runpy|asyncio\.subprocess|concurrent\.futures\.process)\.")
PYTHON = "sys.executable"


@cache
def called_in(path: Path) -> set[int]:
    """What a module calls: elsewhere, as in `subprocess.Popen[bytes]`, the name is a type."""
    return {id(node.func) for node in nodes(path) if isinstance(node, ast.Call)}


def test_processes_are_started_in_one_place() -> None:
    places = {name(path): {*started(path)} for path in files()}
    assert {place: ways for place, ways in places.items() if ways} == {
        "processes.py": {"subprocess.Popen", "subprocess.run", f"a command of {PYTHON}"},
        # these two are inside the sandbox
        "sandbox/program.py": {"os.execve"},
        "python/execution/observers.py": {"os.execve", f"a command of {PYTHON}"},
    }


def test_other_ways_to_start_a_process_would_be_seen(tmp_path: Path) -> None:
    for line in (
        "import os; os.system('x')",
        "import subprocess; subprocess.run(['x'])",
        "from subprocess import check_output",
        "import asyncio; asyncio.create_subprocess_exec('x')",
        "from asyncio import create_subprocess_exec",
        "from os import execv",
        "import multiprocessing as m",
        "from multiprocessing.pool import Pool",
        "from concurrent.futures import ProcessPoolExecutor",
        "start([sys.executable, '-m', 'x'])",
    ):
        module = tmp_path / f"{len(list(tmp_path.iterdir()))}.py"
        module.write_text(line)
        assert {*started(module)}, line


def test_each_kind_of_thing_has_one_registry_and_plugins_are_found_in_one_place() -> None:
    registries = [
        (module, call.args[0].value)
        for module, called, call in calls()
        if called == "Registry" and isinstance(call.args[0], ast.Constant)
    ]
    assert sorted(registries) == [
        ("datasets/registry.py", "counterlens.datasets"),
        ("languages/registry.py", "counterlens.languages"),
        ("models/registry.py", "counterlens.models"),
        ("mutations/languages.py", "counterlens.mutations"),
        ("probes/registry.py", "counterlens.probes"),
    ]
    assert {module for module, called, _ in calls() if called == "entry_points"} == {"plugins.py"}


def test_nothing_asks_which_language_it_is_and_no_table_lists_languages() -> None:
    def known(node: ast.AST | None) -> bool:
        inside = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]
        return any(isinstance(part, ast.Constant) and part.value in set(LANGUAGES) for part in inside)

    def named(node: ast.AST) -> bool:
        return isinstance(node, ast.Name | ast.Attribute) and ast.unparse(node).endswith("language")

    def asks(sides: list[ast.expr]) -> bool:
        return any(map(named, sides)) and any(map(known, sides))

    found = {
        f"{name(path)}: {ast.unparse(node)[:60]}"
        for path in files()
        if layer_of(path) not in {"languages", "datasets"}  # formats of datasets say what is in them
        for node in nodes(path)
        if (isinstance(node, ast.Compare) and asks([node.left, *node.comparators]))
        or (isinstance(node, ast.Match) and named(node.subject))
        or (isinstance(node, ast.Dict) and sum(map(known, node.keys)) > 1)
    }
    assert found == set()


def test_a_protocol_is_an_object_that_the_probes_ask_and_no_flag() -> None:
    def named(node: ast.AST) -> bool:
        return isinstance(node, ast.Name | ast.Attribute) and ast.unparse(node).endswith("protocol")

    def asked(node: ast.AST) -> Iterator[ast.AST]:
        if isinstance(node, ast.If | ast.IfExp | ast.While):
            yield node.test
        elif isinstance(node, ast.comprehension):
            yield from node.ifs
        elif isinstance(node, ast.BoolOp):
            yield from node.values[:-1]
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield node.operand
        elif isinstance(node, ast.Compare):
            yield from (node.left, *node.comparators)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "bool":
            yield from node.args

    assert {
        f"{name(path)}: {ast.unparse(test)}"
        for path in files("probes", "evaluation", "metrics", "reports", "cli", "mcp")
        if name(path) != "probes/protocols.py"
        for node in nodes(path)
        for test in asked(node)
        if named(test)
    } == set()


def test_every_probe_is_in_the_registry() -> None:
    def kinds(kind: type[Any]) -> Iterator[type[Any]]:
        for below in kind.__subclasses__():
            yield from kinds(below)
            if not isabstract(below) and below.__module__.startswith("counterlens."):
                yield below

    own = {probe.__class__ for probe in PROBES.values()} - {
        probe.__class__ for probe in PROBES.added.values()
    }
    assert own == set(kinds(Probe))
    defined = {
        node.name
        for path in files("probes")
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ClassDef) and node.name.endswith("Probe") and not node.name.startswith("_")
    }
    assert {kind.__name__ for kind in own} == defined - {"Probe", "PairsProbe", "RobustnessProbe"}


def test_one_module_reads_the_name_of_a_task() -> None:
    def saying(text: str) -> set[str]:
        return {
            name(path)
            for path in files()
            for node in nodes(path)
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and re.fullmatch(text, node.value)
        }

    assert saying("there is no task .*") == {"probes/registry.py"}
    assert saying("--task") == {"cli/probe_options.py"}


def test_sites_of_mutations_are_asked_for_by_the_engine_alone() -> None:
    assert {module for module, called, _ in calls() if called == "sites"} == {"mutations/engine.py"}


def test_constants_stand_before_the_first_definition() -> None:
    """But for those that are made of one."""
    late = [f"{name(path)}: {constant}" for path in files() for constant in late_constants(path)]
    assert not late, "move it above the first function or class: " + ", ".join(late)


def late_constants(path: Path) -> Iterator[str]:
    """The constants of a module that stand behind a definition of which they are not made."""
    made: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            made.add(node.name)
        elif made:
            used = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
            bound = {
                part.id
                for part in ast.walk(node)
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
            }
            constant = isinstance(node, ast.Assign | ast.AnnAssign) and all(map(str.isupper, bound))
            if constant and not made & used:
                yield from bound
            made |= bound


def test_templates_are_filled_in_one_place() -> None:
    assert {module for module, called, _ in calls() if called == "Template"} == {
        "probes/prompts/templates.py"
    }


def test_the_page_names_no_module_that_is_not_there() -> None:
    named = set(re.findall(r"`([\w.]+(?:/[\w.]+)*/?)`", PAGE))
    paths = {path for path in named if path.endswith(("/", ".py", ".ts", ".mjs"))}
    assert len(paths) > 50
    # relative to the package, to one of its layers, or to the repository
    roots = [
        PACKAGE,
        REPOSITORY,
        *(place for place in PACKAGE.rglob("*") if place.is_dir()),
        REPOSITORY / "client/src",
    ]
    assert {path for path in paths if not any((root / path).exists() for root in roots)} == set()


READS = re.compile(
    r"(io\.|codecs\.)?open|(os|gzip|bz2|lzma|tarfile|tokenize|shelve|zipfile|Image)\.open"
    r"|(tarfile\.|zipfile\.|gzip\.)?(TarFile|ZipFile|GzipFile)|(io\.)?FileIO|mmap\.mmap|linecache\.\w+"
    r"|(np|numpy)\.(load\w*|genfromtxt|fromfile|memmap)|filecmp\.cmp\w*|shutil\.copy\w*|fileinput\.\w+"
    r"|.*\.(read_text|read_bytes|from_file|read_table|read_parquet|ParquetFile)"
)


def read_directly(path: Path) -> Iterator[str]:
    """The calls of a module that open a file by its path, other than by the functions of the door."""
    for node in nodes(path):
        called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
        if not isinstance(node, ast.Call) or called.startswith("regular_file."):
            continue
        given = {keyword.arg for keyword in node.keywords}
        first_is_mode = bool(node.args) and isinstance(node.args[0], ast.Constant | ast.IfExp)
        is_method = called.endswith(".open") and (
            first_is_mode or given >= {"mode"} or not (node.args or given)
        )
        if "fileobj" not in given and (is_method or READS.fullmatch(called)):
            yield called.rpartition(".")[2] if "read_" in called else called


def test_files_that_others_wrote_are_opened_in_one_place() -> None:
    inside = ("python/judging/sandboxed/", "python/execution/observers.py", "sandbox/linux/")  # the sandbox
    of_the_package = {
        "cli/doctor.py", "confidence/correctness.py", "evaluation/papers.py", "java/execution/rewriting.py",
        "models/code_models.py", "models/llama/rounding.py", "models/speed.py", "probes/prompts/templates.py",
        "probes/recognition/record.py", "probes/reference/published.py", "reports/page/__init__.py",
        "reports/render/html.py",
        "sandbox/claims.py", "sandbox/java/machine.py", "sandbox/shipping.py",
    }  # fmt: skip
    found: dict[str, set[str]] = {}
    for path in files():
        for way in read_directly(path):
            if not name(path).startswith(inside) and not (
                way.startswith("read_") and name(path) in of_the_package
            ):
                found.setdefault(name(path), set()).add(way)
    launcher = {
        "sandbox/attempts.py": {"open"},
        "sandbox/launcher.py": {"open", "os.open"},
        "sandbox/program.py": {"open", "os.open"},
    }
    own_pipes = {"models/local/worker.py": {"open"}, "cli/output.py": {"open"}}  # and the null device
    written = {"models/hub.py": {"part.open"}, "datasets/hub.py": {"part.open"}}
    assert found == launcher | own_pipes | written | {
        "regular_file.py": {"os.open"},
        "models/cache.py": {"np.load"},  # of bytes
        "datasets/files.py": {"parquet.ParquetFile"},  # of an open file
        "models/code_models.py": {"part.open", "zipfile.ZipFile"},  # what was just downloaded
        "sandbox/interpreter.py": {"filecmp.cmp"},  # of interpreters
    }


def test_other_ways_to_read_a_file_would_be_seen(tmp_path: Path) -> None:
    for line in (
        "open(path)",
        "path.open()",
        "path.open('rb')",
        "path.open(mode='rb')",
        "io.open(path)",
        "os.open(path, 0)",
        "path.read_text()",
        "Path(x).read_bytes()",
        "gzip.open(path)",
        "tarfile.open(path)",
        "ZipFile(path)",
        "np.load(path)",
        "linecache.getlines(name)",
        "tokenizers.Tokenizer.from_file(name)",
    ):
        module = tmp_path / f"{len(list(tmp_path.iterdir()))}.py"
        module.write_text(line)
        assert {*read_directly(module)}, line
