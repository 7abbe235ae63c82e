"""An option that has no effect on the models that are asked is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterlens.cli.main import main
from counterlens.models.registry import BACKENDS, SOME_TAKE, Options


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("model", "option"),
    [
        ("smollm2-135m", ("--mask", "piece")),
        ("smollm2-135m", ("--base-url", "http://127.0.0.1:9/v1")),
        ("some/file.gguf", ("--thinking-tokens", "5")),
        ("onnx:folder", ("--base-url", "http://127.0.0.1:9/v1")),
        ("remote:m", ("--threads", "2")),
        ("remote:m", ("--mask", "word")),
        ("remote:m", ("--gpu-layers", "all")),
        ("onnx:folder", ("--gpu-layers", "2")),
    ],
)
def test_an_option_for_other_models_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], model: str, option: tuple[str, str]
) -> None:
    code = tmp_path / "code.py"
    code.write_text('def one():\n    """>>> one()\n    1\n    """\n    return 1\n')
    found = said(capsys, "score", str(code), "--model", model, *option)
    assert f"{option[0]} has no effect on {model}" in found
    run = ("bench", "--data", f"repo:{tmp_path}", "--out", str(tmp_path / "run"))
    if option[0] != "--mask":
        assert f"{option[0]} has no effect on {model}" in said(capsys, *run, "--model", model, *option)


def test_in_a_run_one_model_has_to_take_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = ("bench", "--data", f"repo:{tmp_path}", "--out", str(tmp_path / "run"), "--model", "smollm2-135m")
    found = said(capsys, *run, "--model", "some/file.gguf", "--thinking-tokens", "5")
    assert (
        "--thinking-tokens has no effect on smollm2-135m or some/file.gguf: it is for remote models" in found
    )


def test_each_back_end_of_ours_says_what_it_takes() -> None:
    assert Options.__dataclass_fields__.keys() >= SOME_TAKE.keys()
    taken = {backend.form: backend.takes for backend in BACKENDS.values()}
    assert None not in taken.values()
    assert set().union(*filter(None, taken.values())) == SOME_TAKE.keys()
