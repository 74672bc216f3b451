"""Commands are made from typed functions: every option has help, and help loads nothing heavy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer

from linkwright.cli import command as commands
from linkwright.cli.command_output import CommandOutcome
from linkwright.cli.main import app
from linkwright.cli.options import (
    MechanismFile,
    OptionalMechanism,
    VelocityOptions,
    output_file_conversion,
)
from linkwright.errors import LinkwrightError
from linkwright.formulations import FORMULATIONS

PROGRAM: Any = typer.main.get_command(app)


@pytest.mark.parametrize("name", list(PROGRAM.commands))
def test_every_command_and_every_option_has_help(name: str) -> None:
    made = PROGRAM.commands[name]
    summary, *rest = made.help.split("\n\n")
    assert len(summary) <= 90
    assert "\n" not in summary
    assert rest[-1].startswith("Examples:\n$ linkwright ")
    for option in made.params:
        assert option.help, f"{name} {option.name}"
    assert "--json" in [text for option in made.params for text in option.opts]


def test_options_of_the_mechanism_come_with_its_file() -> None:
    options = {name: {one.name for one in made.params} for name, made in PROGRAM.commands.items()}
    reading = {name for name, given in options.items() if "file" in given}
    assert set(options) - reading == {"cam", "gallery", "schema"}
    for name in ("base", "closure"):
        assert {command for command, given in options.items() if name in given} == reading
    with pytest.raises(LinkwrightError, match="elbow: --closure is for mechanisms with loops"):
        app(["info", "elbow", "--closure", "1e-3"], standalone_mode=False)


@pytest.mark.parametrize("name", ["derive", "simulate"])
def test_help_names_all_formulations(name: str) -> None:
    (by,) = (option for option in PROGRAM.commands[name].params if option.name == "by")
    words = by.help.removesuffix(".").partition(": ")[2].split(", ")
    assert set(words) == set(FORMULATIONS)


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from linkwright.cli.main import app\n"
        "app(['simulate', '--help'], standalone_mode=False)\n"
        "heavy = {'numpy', 'casadi', 'llvmlite', 'jinja2', 'linkwright.mechanism', 'linkwright.files'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_a_docstring_becomes_help() -> None:
    text, helps = commands.read_command_docstring(
        """Do this.

        More
        of it.

        Parameters
        ----------
        one
            First
            option.
        two
            Second.

        Examples
        --------
        linkwright this
        """
    )
    assert text == "Do this.\n\nMore of it.\n\nExamples:\n$ linkwright this"
    assert helps == {"one": "First option.", "two": "Second."}


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> typer.Typer:
    """A program without commands, to which `command` adds."""
    empty = typer.Typer()
    empty.callback()(lambda: None)
    monkeypatch.setattr(commands, "app", empty)
    return empty


def test_texts_become_values(program: typer.Typer, tmp_path: Path) -> None:
    given: list[Any] = []

    @commands.register_command("Tests")
    def try_it(
        mechanism: MechanismFile,
        *,
        speed: VelocityOptions,
        output: Annotated[Path | None, typer.Option(), output_file_conversion(".csv")],
        often: bool = False,
        base: str | None,
    ) -> CommandOutcome:
        """Try it."""
        given.append((mechanism.name, speed, output, often, base))
        return CommandOutcome({}, lambda: None)

    program(["try_it", "elbow", "--speed", "q1=180deg/s", "--often"], standalone_mode=False)
    ((name, speed, output, often, base),) = given
    assert (name, output, often, base) == ("elbow", None, True, None)
    assert speed == pytest.approx({"q1": 3.141592653589793})
    with pytest.raises(LinkwrightError, match=r"'\.txt' cannot be written; use \.csv"):
        program(["try_it", "elbow", "--output", "a.txt"], standalone_mode=False)
    with pytest.raises(LinkwrightError, match="is not a folder"):
        program(
            ["try_it", "elbow", "--output", str(tmp_path / "no" / "a.csv")], standalone_mode=False
        )


def test_values_without_a_mechanism_are_refused(program: typer.Typer) -> None:
    @commands.register_command("Tests")
    def try_it(mechanism: OptionalMechanism, *, speed: VelocityOptions) -> CommandOutcome:
        """Try it."""
        return CommandOutcome({}, lambda: None)

    program(["try_it"], standalone_mode=False)
    with pytest.raises(LinkwrightError, match="'q1=1' is given without a FILE"):
        program(["try_it", "--speed", "q1=1"], standalone_mode=False)
