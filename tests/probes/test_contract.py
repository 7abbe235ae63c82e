"""Every probe keeps the contract: an option that is taken is recorded, and one that is not is refused."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import msgspec
import pytest

from counterlens.cli.main import main
from counterlens.errors import DataError, OptionError
from counterlens.evaluation.settings import RunSettings
from counterlens.mutations.cuts import Ratio
from counterlens.probes.options import OptionSpec, declared, make, plain_options, schema_of, specs
from counterlens.probes.record import SCHEMA, Outcome, Record, plain, read, schema, write_record
from counterlens.probes.registry import ALL, PROBES, choose

OPTIONS = declared(PROBES.values())
BOTH = [(task, name) for task in PROBES for name in OPTIONS]
TARGET = "examples/parity.py::parity"
NEEDED: dict[str, dict[str, Any]] = {"training_cutoff": {"holes": "commits"}}
"""Options without which an option is refused."""


def another(spec: OptionSpec) -> Any:
    """A value that an option can have, and that is not its default."""
    if spec.name in {"mutations", "added_mutations"}:
        return ("if-else-flip",)
    if spec.name == "from_language":
        return "java"
    if spec.name == "training_cutoff":
        return "2024-09-30"
    if spec.choices:
        other = next(choice for choice in spec.choices if choice != spec.default)
        return (other,) if spec.repeatable else other
    if spec.kind == Ratio:
        return ((0.3, 0.5),) if spec.repeatable else (0.3, 0.5)
    if spec.kind is bool:
        return True
    if spec.kind is str:
        return ("another",) if spec.repeatable else "another"
    return spec.kind(max((spec.default or 0) + 1, spec.low or 0))


def plain_value(value: Any) -> Any:
    """A value as a manifest has it."""
    return json.loads(msgspec.json.encode(value))


@pytest.mark.parametrize(("task", "name"), BOTH)
def test_an_option_that_is_taken_is_in_the_manifest_and_one_that_is_not_is_refused(
    task: str, name: str
) -> None:
    probe = PROBES[task]
    given = {name: another(OPTIONS[name][0])}
    if name not in specs(probe.options):
        with pytest.raises(OptionError, match=f"is not an option of {task}") as refused:
            RunSettings.of([task], "data", given)
        takers = OPTIONS[name][1]
        if name == "protocol":
            takers = [taker for taker in takers if given[name] in specs(PROBES[taker].options)[name].choices]
        assert takers
        assert all(taker in (refused.value.hint or "") for taker in takers)
        return
    given = {name: another(specs(probe.options)[name])}
    needed = NEEDED.get(name, {})
    usual, changed = RunSettings.of([task], "data", needed), RunSettings.of([task], "data", given | needed)
    assert usual.options[task].keys() == changed.options[task].keys()
    differing = {key for key in usual.options[task] if usual.options[task][key] != changed.options[task][key]}
    fixed = probe.options.published.get(given[name], {}) if name == "protocol" else {}
    assert differing == {name} | {key for key in fixed if usual.options[task][key] != plain_value(fixed[key])}
    assert all(changed.options[task][key] == plain_value(value) for key, value in fixed.items())
    assert plain_options(changed.options_of(task)) == changed.options[task]


@pytest.mark.parametrize(
    "name", [name for name, (spec, _) in OPTIONS.items() if (spec.low, spec.high) != (None, None)]
)
def test_a_number_out_of_bounds_is_refused(name: str) -> None:
    spec, (task, *_) = OPTIONS[name]
    for bound, beyond in ((spec.low, -1), (spec.high, 1)):
        if bound is not None:
            with pytest.raises(OptionError, match=f"{spec.flag} must be at (least|most) {bound:g}, not"):
                make(PROBES[task].options, {name: spec.kind(bound + beyond)})


def outcome(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """The exit code of the command line, and what it says on standard error."""
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    return int(ended.value.code or 0), capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--task", "execution", "--mutation", "if-else-flip"), "--mutation is not an option of execution"),
        (("--task", "execution", "--corpus", __file__), "Choose one of operator, memorisation"),
        (("--task", "operator", "--corpus", "nowhere"), "there is no dataset and no file nowhere"),
        (("--task", "execution", "--method", "core"), "Choose one of dependence"),
        (("--task", "name", "--prefix-ratio", "0.5"), "--prefix-ratio is not an option of name"),
        (("--mutation", "no-such"), "there is no mutation 'no-such'"),
        (("--mutation", "negate-condition"), "breaks the meaning"),
        (("--max-tokens", "0"), "--max-tokens"),
        (("--task", "execution", "--timeout", "0"), "--timeout"),
        (("--prefix-ratio", "2"), "prefix ratio"),
        (("--task", "dependence", "--method", "magic"), "'magic' is not one of"),
        (("--without", "gravity"), "'gravity' is not one of"),
    ],
)
def test_bad_usage_is_an_error_before_a_model_is_loaded(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str
) -> None:
    code, error = outcome(capsys, "probe", TARGET, "--model", "no-such-model-at-all", *arguments)
    assert (code, said in " ".join(error.split())) == (2, True), error


def test_several_probes_take_an_option_where_it_is_theirs() -> None:
    settings = RunSettings.of(list(PROBES), "data", {"corpus": "code", "timeout": 3.0})
    applied = settings.applied()
    assert applied["corpus"] == OPTIONS["corpus"][1]
    assert applied["timeout"] == OPTIONS["timeout"][1]
    assert [probe.id for probe in choose([ALL])] == list(PROBES)


def test_assistants_see_the_declarations() -> None:
    properties = schema_of(PROBES.values())["properties"]
    assert properties.keys() == OPTIONS.keys()
    assert properties["max_tokens"]["minimum"] == 1
    assert properties["mutations"]["type"] == "array"


@pytest.mark.parametrize("task", PROBES)
def test_the_schema_has_every_field_of_a_record(task: str) -> None:
    document = schema({name: probe.record for name, probe in PROBES.items()})
    json.dumps(document)
    kind = PROBES[task].record
    assert document["properties"][task]["else"] == {"$ref": f"#/$defs/{kind.__name__}"}
    described = document["$defs"][kind.__name__]["properties"]
    assert {field.encode_name for field in msgspec.inspect.type_info(kind).fields} == described.keys()  # type: ignore[union-attr]


@pytest.mark.parametrize("task", PROBES)
def test_a_function_that_was_left_out_has_a_record_of_any_probe(task: str) -> None:
    record = Record(probe=task, outcome=Outcome.LEFT_OUT, reason="it has no tests", hint="Add one")
    assert read(write_record(record), PROBES[task].record) == record
    published = schema({task: PROBES[task].record})
    shape = published["properties"][task] | {"$defs": published["$defs"]}
    jsonschema.validate(plain(record), shape)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(plain(record) | {"outcome": "probed"}, shape)
    with pytest.raises(DataError, match="has schema 99"):
        read(write_record(record).replace(f'"schema":{SCHEMA}', '"schema":99'), Record)


@pytest.mark.parametrize("task", PROBES)
def test_every_option_has_a_default_within_its_bounds(task: str) -> None:
    options = PROBES[task].options
    assert make(options, plain_options(make(options, {}))) == make(options, {})
