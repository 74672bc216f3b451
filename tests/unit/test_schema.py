"""The JSON schema accepts what the reader accepts."""

from __future__ import annotations

import json
import re
import tomllib
from contextlib import nullcontext
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import linkwright as lw
from linkwright.mechanism.gallery_files import read_gallery_file
from linkwright.writers import write_mechanism_text
from tests.commands import ok


@pytest.fixture(scope="module")
def schema() -> Draft202012Validator:
    found = json.loads(ok("schema"))
    Draft202012Validator.check_schema(found)
    return Draft202012Validator(found)


def _documents() -> dict[str, str]:
    """Everything we have that is written in our format."""
    home = Path(__file__).parents[2]
    texts = {name: write_mechanism_text(lw.gallery(name), "toml")[0] for name in lw.gallery()}
    for name in lw.gallery():
        stored = read_gallery_file(name)
        if stored is not None and not stored[0].endswith(".dh.toml"):
            texts[stored[0]] = stored[1]
    texts["everything"] = (home / "tests/files/everything.toml").read_text(encoding="utf-8")
    format_ = (home / "docs/reference/format.md").read_text(encoding="utf-8")
    texts["docs"] = re.findall(r"```toml\n(.*?)```", format_, re.DOTALL)[0]
    return texts


@pytest.mark.parametrize(("name", "text"), _documents().items())
def test_schema_accepts_our_own_files(name: str, text: str, schema: Draft202012Validator) -> None:
    lw.load(text)
    schema.validate(tomllib.loads(text))


ARM = """
gravity = [0, 0, -9.81]
[bodies.a]
mass = 1
[joints.q]
type = "spherical"
child = "a"
[frames.f]
body = "a"
"""


@pytest.mark.parametrize(
    ("old", "new", "accepted"),
    [
        ("body", "body", True),
        ('body = "a"', 'body = "a"\norigin = ["1", 0, 0]', True),
        ('body = "a"', 'body = "a"\norigin = { xyz = [1, 0, 0], rpy = [0, 0, 1] }', True),
        (
            'body = "a"',
            'body = "a"\norigin = { rpy = [0, 0, 1], quaternion = [1, 0, 0, 0] }',
            False,
        ),
        ('body = "a"', 'body = "a"\norigin = [1, 0]', False),
        ('body = "a"', 'body = "a"\norigin = "1"', False),
        ("mass = 1", "inertia = [1, 1, 1]", True),
        ("mass = 1", "inertia = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]", True),
        ("mass = 1", "inertia = [[1, 0], [0, 1]]", False),
        ("mass = 1", 'inertia = { zz = "1 kg*m^2" }', True),
        ("mass = 1", "inertia = [1, 1, 1, 0, 0, 0]", False),
        ("mass = 1", "inertia = 1", False),
        ("mass = 1", "mass = true", False),
        ("mass = 1", "mass = [1]", False),
        ("mass = 1", "weight = 1", False),
        ("-9.81]", "-9.81, 0]", False),
        ("spherical", "round", False),
        ('type = "spherical"', "", False),
        ("[frames.f]", "[frame.f]", False),
        ('body = "a"', '[constraints.c]\ntype = "equation"\nposition = "q.qx"', True),
        ('body = "a"', '[constraints.c]\nposition = "q.qx"', False),
    ],
)
def test_schema_accepts_what_the_reader_accepts(
    old: str, new: str, accepted: bool, schema: Draft202012Validator
) -> None:
    text = ARM.replace(old, new)
    if "constraints" in text:
        text = text.replace("[frames.f]\n", "")
    assert schema.is_valid(tomllib.loads(text)) is accepted
    with nullcontext() if accepted else pytest.raises(lw.errors.LinkwrightError):
        lw.load(text)


def test_schema_shows_defaults_as_files_write_them(schema: Draft202012Validator) -> None:
    properties = schema.schema["$defs"]["Joint"]["properties"]
    assert properties["axis"]["default"] == [0, 0, 1]
    assert "default" not in properties["pitch"]
    assert schema.schema["properties"]["gravity"]["default"] == [0, 0, -9.81]
    assert "unused" not in schema.schema["properties"]
