"""TOML: round trips, exact numbers, errors with places, and the schema."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

import linkwright as lw
from linkwright.cli.commands.export_command import export
from linkwright.errors import FileError, LinkwrightError
from linkwright.files import load
from linkwright.files.toml_reader import FIELDS_NOT_IN_FILES, read_toml
from linkwright.writers import check_written_file_name, save, write_mechanism_text
from linkwright.writers.toml_writer import write_toml
from tests.random_trees import RandomTree, trees

EVERYTHING = (Path(__file__).parent / "everything.toml").read_text(encoding="utf-8")


def test_every_part_of_the_format_round_trips() -> None:
    mechanism = read_toml(EVERYTHING)
    text = write_toml(mechanism)
    assert read_toml(text) == mechanism
    assert write_toml(read_toml(text)) == text


def test_the_example_of_every_part_has_every_part() -> None:
    """The documented example uses every key that the schema knows; coordinates and actuators
    are in the gallery, since quaternions allow no others."""
    schema = lw.Mechanism.model_json_schema()
    keys = set()
    for definition in [schema, *schema["$defs"].values()]:
        keys |= set(definition.get("properties", {}))
    written = EVERYTHING + "".join(
        write_toml(lw.gallery(name)) for name in ("triple-pendulum", "remote-elbow")
    )
    missing = {key for key in keys - set(FIELDS_NOT_IN_FILES) if key not in written}
    assert not missing


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(trees(max_bodies=6))
def test_random_mechanisms_round_trip(tree: RandomTree) -> None:
    assert read_toml(write_toml(tree.mechanism)) == tree.mechanism


@pytest.mark.parametrize("name", lw.gallery())
def test_gallery_round_trips(name: str) -> None:
    mechanism = lw.gallery(name)
    assert read_toml(write_toml(mechanism)) == mechanism


def test_odd_names_survive() -> None:
    name = 'a "b" \\ c\n\t☃ [x].y'
    arm = lw.Mechanism(bodies={name: {"mass": 1}}, joints={"j 1": {"type": "free", "child": name}})
    assert read_toml(write_toml(arm)) == arm


def test_numbers_are_written_as_they_were_read() -> None:
    text = write_toml(
        read_toml('gravity = [0, 0, -9.80665]\n[parameters]\na = 1e-12\nb = "30 deg"\nc = 0.100')
    )
    assert "-9.80665" in text
    assert tomllib.loads(text)["parameters"] == {"a": 1e-12, "b": "30 deg", "c": 0.1}


def test_errors_name_file_table_and_key(tmp_path: Path) -> None:
    file = tmp_path / "arm.toml"
    file.write_text('[bodies.a]\nmass = "2 m"\n[joints.q]\ntype = "revolute"\nchild = "a"\n')
    with pytest.raises(LinkwrightError) as error:
        load(file)
    assert str(error.value) == f"{file}: bodies.a.mass: is in m; give it in kg"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("[bodies.a]\n[bodies.a]\n", "is not valid TOML"),
        ("x = \n", "is not valid TOML"),
        ("x = " + "[" * 5000 + "\n", "nested too deeply"),
        ("x" + ".b" * 100_000 + " = 1\n", "nested too deeply"),
        ("[x" + " . 'b'" * 100_000 + "]\n", "nested too deeply"),
        ('x = { "a"' + '."b"' * 100_000 + " = 1 }\n", "nested too deeply"),
        ("x = " + "1" * 5000 + "\n", "too many digits"),
        ("x = 1\nname = '\ud800'\n", "line 2: contains an unpaired surrogate"),
    ],
)
def test_broken_toml(text: str, what: str) -> None:
    with pytest.raises(FileError, match=what):
        load(text)


def test_long_texts_without_long_keys_are_scanned_fast() -> None:
    for filler in ("a" * 2**20, "'\"" * 2**19, "'a'." * 60 + "\n"):
        text = f"# {filler}\nname = 'plain'\n[bodies.a]\n[joints.q]\nchild = 'a'\ntype = 'free'\n"
        assert load(text).name == "plain"


def test_the_internal_list_of_what_is_unused_is_no_key() -> None:
    with pytest.raises(LinkwrightError, match="unknown key 'unused'"):
        load("unused = ['a']\n[bodies]\n")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_pipes_and_devices_are_refused_at_once(tmp_path: Path) -> None:
    pipe = tmp_path / "arm.toml"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero")):
        with pytest.raises(FileError, match="pipe or device"):
            load(path)


def test_no_more_is_read_than_the_limit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("linkwright.files.MAX_FILE_BYTES", 2**20)
    path = tmp_path / "arm.toml"
    path.write_text("# é\n" * 2**18, encoding="utf-8")
    with pytest.raises(FileError, match="larger than 1 MiB"):
        load(path)
    with pytest.raises(FileError, match="larger than 1 MiB"):
        load("# long\n" * 2**18)


@pytest.mark.parametrize("name", ["a\0b", "a\0b.toml"])
def test_names_that_no_file_can_have(name: str) -> None:
    with pytest.raises(FileError, match="not a valid file name"):
        load(name)
    with pytest.raises(FileError):
        save(lw.gallery("elbow"), name)


def test_names_say_the_format(tmp_path: Path) -> None:
    arm = lw.gallery("elbow")
    save(arm, tmp_path / "arm.TOML")
    assert load(tmp_path / "arm.TOML") == arm
    for name in ("arm.dh.toml", "arm.DH.TOML"):
        with pytest.raises(FileError, match="is not a file name for TOML"):
            save(arm, tmp_path / name)
    with pytest.raises(FileError, match="is not a file name for URDF"):
        check_written_file_name(Path("arm.toml"), "urdf")
    check_written_file_name(Path("arm.txt"), "toml")
    with pytest.raises(FileError, match="is not a file name for TOML"):
        export(arm, to="toml", output=tmp_path / "arm.dh.toml")
    assert [path.name for path in tmp_path.iterdir()] == ["arm.TOML"]


def test_files_that_are_not_there(tmp_path: Path) -> None:
    for path, what in ((tmp_path / "no.toml", "no such file"), (tmp_path, "folder")):
        with pytest.raises(FileError, match=what):
            load(path)
    (tmp_path / "x.docx").write_text("hello")
    with pytest.raises(FileError, match="is not a known kind of file"):
        load(tmp_path / "x.docx")
    (tmp_path / "x.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FileError, match="UTF-8"):
        load(tmp_path / "x.toml")
    with pytest.raises(FileError, match="for URDF"):
        load("[bodies.a]\n", base="free")


def test_saving_is_whole_or_not_at_all(tmp_path: Path) -> None:
    arm = lw.gallery("elbow")
    save(arm, tmp_path / "arm.toml")
    assert load(tmp_path / "arm.toml") == arm
    with pytest.raises(FileError, match="cannot be written"):
        save(arm, tmp_path / "missing" / "arm.toml")
    with pytest.raises(FileError, match="'step' cannot be written"):
        write_mechanism_text(arm, "step")
    assert [p.name for p in tmp_path.iterdir()] == ["arm.toml"]


def test_schema_is_json_and_names_every_joint_type() -> None:
    schema = lw.Mechanism.model_json_schema()
    text = json.dumps(schema)
    for kind in ("turn-slide", "helical", "spherical"):
        assert kind in text
    assert schema["additionalProperties"] is False
    assert schema["$defs"]["Body"]["properties"]["mass"]["type"] == ["number", "string"]
