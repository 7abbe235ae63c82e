"""Chat templates come with model files: one that loops or grows without end is an error, soon."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from counterlens.errors import ModelError
from counterlens.models.base import Prompt, Reply, Stop
from counterlens.models.llama.model import LlamaModel
from counterlens.models.llama.prompt_encoding import fill_template
from tests.conftest import short_model
from tests.models.llama.measured import note_measurements

MESSAGES = [{"role": "system", "content": "s"}, {"role": "user", "content": "hello"}]
LOOP = "{% for a in range(99999) %}"
ENDLESS = {
    "nested loops": LOOP * 3 + "{% endfor %}" * 3,
    "a number": "{{ 9 ** (9 ** 9) }}",
    "a text": "{{ 'a' * 10 ** 11 }}",
    "a doubled text": f"{{% set n = namespace(s='a') %}}{LOOP}{{% set n.s = n.s + n.s %}}{{% endfor %}}",
    "a list": "{{ (range(99999) | list) * 99999 }}",
    "a filter": "{{ 'a' | center(10 ** 11) }}",
    "a long prompt": LOOP + "a" * 40 + "{% endfor %}",
    "a number's digits": "{{ '%099999999999d' % 1 }}",
}


def with_template(path: Path, template: str) -> Path:
    """The short model with another template, which must not be longer than its own."""
    data = bytearray(short_model(endless=True).read_bytes())
    at = data.index(b"tokenizer.chat_template") + len(b"tokenizer.chat_template") + 4
    (length,) = struct.unpack_from("<Q", data, at)
    data[at + 8 : at + 8 + length] = template.encode().ljust(length)
    path.write_bytes(data)
    note_measurements(path, short_model(endless=True))
    return path


@pytest.mark.parametrize("name", ENDLESS)
def test_a_template_without_end_is_an_error(name: str) -> None:
    with pytest.raises(ModelError, match="needs too much time or memory"):
        fill_template(ENDLESS[name], "", MESSAGES)


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("{% for", "TemplateSyntaxError"),
        ("{{ raise_exception('no tools') }}", "no tools"),
        ("{{ ''.__class__.__mro__ }}", "SecurityError"),
        ("{{ messages.append(1) }}", "SecurityError"),
        ("{% macro f(n) %}{{ f(n) }}{% endmacro %}{{ f(0) }}", "RecursionError"),
        ("{% include '/etc/passwd' %}", "cannot be used"),
    ],
)
def test_a_template_that_fails_is_an_error_in_words(template: str, said: str) -> None:
    with pytest.raises(ModelError, match=said):
        fill_template(template, "", MESSAGES)


def test_a_model_file_with_such_a_template_is_not_opened_for_chat(tmp_path: Path) -> None:
    path = with_template(tmp_path / "model.gguf", ENDLESS["a text"])
    with pytest.raises(ModelError, match="needs too much time or memory"):
        LlamaModel(path, spec="m", api="chat")
    with LlamaModel(path, spec="m") as model:
        assert model.complete([Prompt("def add(a, b):\n", 4, Stop(indent=0))])


def test_a_template_without_end_for_one_role_only_is_an_error_each_time(tmp_path: Path) -> None:
    template = "{% if messages[0].role == 'user' %}{{ 'a' * 10 ** 11 }}{% endif %}{{ raise_exception('no') }}"
    with LlamaModel(with_template(tmp_path / "m.gguf", template), spec="m", api="chat") as model:
        for _ in range(2):
            with pytest.raises(ModelError, match="needs too much time or memory"):
                model.complete([Prompt("def add(a, b):\n", 4, Stop(indent=0))])


def test_without_a_system_role_its_text_goes_to_the_user(tmp_path: Path) -> None:
    template = (
        "{% if messages[0].role != 'user' %}{{ raise_exception('no') }}{% endif %}{{ messages[0].content }}"
    )
    path = with_template(tmp_path / "model.gguf", template)
    with LlamaModel(path, spec="m", api="chat") as model:
        assert model.complete([Prompt("def add(a, b):\n", 4, Stop(indent=0))])


def test_earlier_turns_are_read_with_their_roles(tmp_path: Path) -> None:
    alternating = (
        "{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}"
        "{{ raise_exception('roles') }}{% endif %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
    )
    turns = (("1 + 1?", "2"),)
    with LlamaModel(with_template(tmp_path / "model.gguf", alternating), spec="m", api="chat") as model:
        # The instruction goes to the first message of the user, and the earlier turn keeps its roles.
        assert model.complete([Prompt("2 + 2?", 4, reply=Reply("Add.", "", turns=turns))])
    answered = alternating.replace("== 'user'", "!= 'user'")
    with (
        LlamaModel(with_template(tmp_path / "other.gguf", answered), spec="m", api="chat") as model,
        pytest.raises(ModelError, match="roles"),
    ):
        model.complete([Prompt("2 + 2?", 4, reply=Reply("", "", turns=turns))])
