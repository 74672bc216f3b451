"""Names that try to become code: in no target do they leave comments and identifiers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import linkwright as lw
from linkwright.readings.targets.safe_names import (
    make_safe_identifier,
    make_unique_identifiers,
    write_comment_text,
)
from linkwright.writers.export_target import ExportRequest
from linkwright.writers.export_targets import EXPORT_TARGETS
from tests.export.target_runs import TARGETS

HOSTILE = (
    '*/ int x = system("touch pwned"); /*',
    '"""\nopen("pwned", "w")\n"""',
    "%}\nsystem('touch pwned')\n%{",
    "\\end{align*}\\input{pwned}\\write18{touch pwned}",
    "??/\n#include <pwned.h>",
    "{{7*7}} $(touch pwned) `touch pwned`",
    "a\u202eb\u2028c\r\n\tfn pwned() {}",
    "\\",
    "../../pwned",
    "for",
    "'); fclose(fopen('pwned', 'w')); ('",
)
CODE_TARGETS = [name for name in TARGETS if name in EXPORT_TARGETS]


def hostile_arm(name: str) -> lw.Mechanism:
    """An arm whose every name is the text."""
    other = f"{name} "
    return lw.Mechanism(
        name=name,
        bodies={name: {"mass": 1, "inertia": [1, 1, 1], "center": [1, 0, 0]},
                other: {"mass": 2, "inertia": [1, 1, 1]}},
        joints={name: {"type": "revolute", "parent": "ground", "child": name, "axis": [0, 0, 1]},
                other: {"type": "prismatic", "parent": name, "child": other, "axis": [1, 0, 0]}},
        frames={f"{name}.": {"body": name}},
    )  # fmt: skip


COMMENTS = {
    ".c": r"/\*.*?\*/", ".h": r"/\*.*?\*/", ".hpp": r"/\*.*?\*/|//[^\n]*", ".cpp": r"/\*.*?\*/",
    ".rs": r"//[^\n]*", ".m": r"%[^\n]*", ".py": r'""".*?"""', ".tex": r"(?!)", ".casadi": r"(?!)",
}  # fmt: skip
"""Comments by the endings of files."""

CODE_IN_NAMES = (
    "touch pwned", "open(", "fclose(", "\\input", "\\write", "<pwned", "fn pwned", "7*7", "\u202e",
    "\u2028", "\r", "??/",
)  # fmt: skip


@pytest.mark.parametrize("target", CODE_TARGETS)
@pytest.mark.parametrize("name", HOSTILE)
def test_no_text_of_a_user_is_code(target: str, name: str) -> None:
    """Files have plain names; outside of comments, nothing is left of the name but identifiers."""
    made = lw.export(hostile_arm(name), to=target, quantities=["bias", f"placement:{name}."])
    for file, content in made.files.items():
        assert re.fullmatch(r"\w+\.\w+", file), file
        text = content.decode() if isinstance(content, bytes) else content
        assert not set("\u202e\u2028\r") & set(text)
        code = re.sub(COMMENTS[Path(file).suffix], "", text, flags=re.DOTALL)
        if target == "latex":  # names are text there, with every command escaped
            code = code.replace("touch pwned", "").replace("open(", "").replace("fclose(", "")
            code = re.sub(r"7\*7|<pwned|fn pwned|\?\?/", "", code)
        for word in CODE_IN_NAMES:
            assert word not in code, (file, word)


SLOW = ("matlab", "rust", "cpp", "c", "numpy")
COMPILED = (HOSTILE[0], HOSTILE[2], HOSTILE[4], HOSTILE[6])
"""Names that the slow targets are run with."""


@pytest.mark.parametrize("target", [
    pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in CODE_TARGETS
])  # fmt: skip
def test_code_with_hostile_names_still_runs(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All names at once, each on a mechanism of its own; nothing is created beside the files."""
    monkeypatch.chdir(tmp_path)
    for number, name in enumerate(COMPILED if target in SLOW else HOSTILE):
        arm = hostile_arm(name)
        request = ExportRequest(
            arm, lambda arm=arm: lw.compile(arm), ("bias", f"placement:{name}.")
        )
        TARGETS[target](request.code, tmp_path / str(number))
    assert not list(tmp_path.rglob("pwned"))


def test_identifiers_are_plain_and_different() -> None:
    found = make_unique_identifiers([*HOSTILE, "", "1", "Ä", "a b", "a-b", "A_B"])
    assert len({one.lower() for one in found}) == len(found)
    assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", one) for one in found)
    assert make_safe_identifier("six-axis") == "six_axis"
    assert make_safe_identifier("while") == "while_"
    assert len(make_safe_identifier("x" * 300)) <= 63


def test_functions_of_frames_have_whole_and_different_names() -> None:
    """Long names of frames are kept; variants of one function never have the name of another."""
    arm = lw.Mechanism(
        name="m" * 80,
        bodies={"link": {"mass": 1, "inertia": [1, 1, 1]}},
        joints={"q": {"type": "revolute", "parent": "ground", "child": "link"}},
        frames={name: {"body": "link"} for name in ("left_fingertip", "tool", "tool batch")},
    )
    names = [f"placement:{frame}" for frame in ("tool batch", "tool")]
    names.append("frame_acceleration_derivatives:left_fingertip")
    header = str(next(iter(lw.export(arm, to="c", quantities=names).files.values())))
    functions = re.findall(r"^void (\w+)\(", header, flags=re.MULTILINE)
    assert len(set(functions)) == 6
    assert any(one.endswith("derivatives_of_left_fingertip") for one in functions)
    files = lw.export(arm, to="matlab", quantities=names).files
    assert len(files) == 4
    assert max(map(len, files)) <= 63 + len(".m")


def test_comments_keep_letters_and_formulas() -> None:
    assert write_comment_text("M q̈ + C q̇ − f, größe [m/s²]") == "M q̈ + C q̇ − f, größe [m/s²]"
    assert write_comment_text("Runge–Kutta") == "Runge–Kutta"
    assert write_comment_text("a*/b\n") == "a<U+002A>/b<U+000A>"
