"""The table of file formats, and the texts for users that list it."""

from __future__ import annotations

import re

import pytest

from linkwright.cli.command import app
from linkwright.errors import FileError
from linkwright.files import load
from linkwright.files.file_formats import FILE_FORMATS, detect_file_format, format_of_file_name
from linkwright.writers import FORMAT_WRITERS


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("arm.toml", "toml"), ("arm.dh.toml", "dh.toml"), ("arm.dh.csv", "dh.csv"), ("arm.urdf", "urdf"),
        ("arm.xml", None), ("arm.csv", None), ("arm", None), ("", None),
    ],
)  # fmt: skip
def test_the_longest_ending_decides(name: str, expected: str | None) -> None:
    found = format_of_file_name(name)
    assert (found and found.name) == expected


def test_content_decides_where_the_name_does_not() -> None:
    assert detect_file_format("<mujoco/>", "arm.xml").name == "mjcf"
    assert detect_file_format("<robot/>", "arm.xml").name == "urdf"
    assert detect_file_format("<sdf/>", "arm.xml").name == "sdf"
    assert detect_file_format("[[links]]\n", "").name == "dh.toml"
    assert detect_file_format("# table\na, alpha, d\n", "").name == "dh.csv"
    assert detect_file_format("name = 'arm'\n[bodies.a]\n", "").name == "toml"
    with pytest.raises(
        FileError, match=r"use \.toml, \.urdf, \.xacro, \.xml, \.sdf, \.dh\.toml or \.dh\.csv"
    ):
        detect_file_format("", "arm.xml")


@pytest.mark.parametrize(
    "first_line",
    [
        "name = 'alpha, beta'",
        "parameters = { alpha = 0.1, m = 1 }",
        "  # alpha, a, d",
        "['alpha, a']",
        "[parameters] # alpha, a and d",
    ],
)
def test_toml_is_not_a_table_because_it_names_alpha(first_line: str) -> None:
    assert detect_file_format(f"{first_line}\n[bodies.bob]\nmass = 1\n", "").name == "toml"


def test_tables_may_begin_with_blanks() -> None:
    assert detect_file_format("  \n # table\n alpha, a, d\n", "").name == "dh.csv"


def test_texts_for_users_list_all_endings() -> None:
    words = re.split(r"[\s,]+", str(app.info.help))
    for row in FILE_FORMATS.values():
        assert f"`{row.ending}`" in (load.__doc__ or "")
        assert row.ending in words


def test_written_formats_can_be_read() -> None:
    assert set(FORMAT_WRITERS) <= set(FILE_FORMATS)
