"""Commands made from typed functions: what a command needs is written once, in its signature.

    @command("Motion")
    def equilibrium(mechanism: MechanismFile, *, start: Coordinates) -> Outcome:

- The name of the function is the name of the command. Its docstring is the help: the summary in the
  list of commands, then `Parameters` (the help of each option) and `Examples`, as in numpydoc.
- A parameter is an option of its name and type. `options` has the types that several commands
  share: with other flags (`-t`), with help, and with a conversion, so that the function receives
  numbers in SI units, lists and dictionaries, not what was typed.
- A `MechanismFile` adds FILE and the options of reading (`--base`, `--closure`, `--ignore`,
  `--density`, `--arg`); every command gets `--json`. A function that needs these as well declares
  parameters `file`, `base`, `closure` or `as_json`.
- The function returns a `CommandOutcome`, which is printed here.

The functions import heavy packages when they run, so that `--help` stays fast.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from inspect import Parameter, Signature, cleandoc, signature
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import typer

from ..errors import ExpressionError
from .command_output import CommandOutcome, print_command_outcome
from .mechanism_argument import ReadingOptions, read_mechanism_argument
from .options import (
    BaseOption,
    ClosureOption,
    DensityOption,
    FileArgument,
    IgnoreOption,
    JsonFlag,
    MechanismSource,
    OptionalFileArgument,
    OptionConversion,
    XacroArgumentOption,
)

app = typer.Typer(
    name="linkwright",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="Equations of motion from the description of a mechanism: derived, checked, compiled.\n\n"
    "FILE is a .toml, .urdf, .xacro, .xml (MJCF), .sdf, .dh.toml or .dh.csv file, or the name of a "
    "gallery mechanism.",
)

CommandFunction = Callable[..., CommandOutcome]
Metadata = TypeVar("Metadata")


def register_command(panel: str) -> Callable[[CommandFunction], CommandFunction]:
    """Make a function a command, listed in this panel of `linkwright --help`."""

    def register(function: CommandFunction) -> CommandFunction:
        help_text, helps = read_command_docstring(function.__doc__ or "")
        described = dict(_command_parameters(function))
        options = _typer_parameters(described, helps)

        def run(**texts: Any) -> None:
            as_json = texts["as_json"]
            outcome = function(**_command_arguments(described, texts))
            print_command_outcome(outcome, as_json)

        run.__signature__ = Signature(options)  # type: ignore[attr-defined]
        name = function.__name__
        app.command(name, help=help_text, rich_help_panel=panel)(run)
        return function

    return register


@dataclass(frozen=True)
class _CommandParameter:
    """A parameter of a command's function: its type, its default and the metadata of its
    annotation."""

    type: Any
    default: Any
    metadata: tuple[Any, ...]

    def find_metadata(self, kind: type[Metadata]) -> Metadata | None:
        """Return the entry of this kind in the metadata, or None."""
        return next((entry for entry in self.metadata if isinstance(entry, kind)), None)


def _command_parameters(function: CommandFunction) -> Iterator[tuple[str, _CommandParameter]]:
    """The parameters of a command's function by name."""
    hints = get_type_hints(function, include_extras=True)
    for name, parameter in signature(function).parameters.items():
        hint = hints[name]
        kind, *metadata = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        yield name, _CommandParameter(kind, parameter.default, tuple(metadata))


def _typer_parameters(
    described: Mapping[str, _CommandParameter], helps: Mapping[str, str]
) -> list[Parameter]:
    """Return the parameters that Typer sees: FILE, the options, those of reading, `--json`."""
    found: dict[str, Parameter] = {}

    def add(name: str, hint: object, default: object) -> None:
        if name not in found:
            found[name] = Parameter(name, Parameter.KEYWORD_ONLY, annotation=hint, default=default)

    for name, one in described.items():
        source, converted = one.find_metadata(MechanismSource), one.find_metadata(OptionConversion)
        if source is not None:
            required = source.required
            add(
                "file",
                *((FileArgument, Parameter.empty) if required else (OptionalFileArgument, None)),
            )
            continue
        if name in ("base", "closure", "as_json"):
            continue  # always at the end
        info = copy(one.find_metadata(typer.models.ParameterInfo)) or _typer_option(name, one.type)
        info.help = helps.get(name, info.help)
        kind = one.type if converted is None else converted.text_type
        default = None if converted and one.default is Parameter.empty else one.default
        add(name, Annotated[kind, info], default)
    if "file" in found:
        add("base", BaseOption, None)
        add("closure", ClosureOption, None)
        add("ignore", IgnoreOption, None)
        add("density", DensityOption, None)
        add("argument", XacroArgumentOption, None)
    add("as_json", JsonFlag, False)
    return list(found.values())


def _typer_option(name: str, kind: Any) -> Any:
    """Return an option of the parameter's name; a flag has no negative form."""
    return typer.Option(f"--{name.replace('_', '-')}") if kind is bool else typer.Option()


def _command_arguments(
    described: Mapping[str, _CommandParameter], texts: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the arguments of the function: the mechanism, and values made from texts."""
    sources = [name for name, one in described.items() if one.find_metadata(MechanismSource)]
    mechanism = None
    if sources and texts["file"] is not None:
        mechanism = read_mechanism_argument(texts["file"], ReadingOptions.from_texts(texts))
    arguments: dict[str, Any] = dict.fromkeys(sources, mechanism)
    for name, one in described.items():
        if name not in sources:
            converted = one.find_metadata(OptionConversion)
            text = texts[name]
            try:
                arguments[name] = text if converted is None else converted.convert(text, mechanism)
            except ExpressionError as error:
                raise error if error.where else error.within(_option_name(name, one)) from None
    return arguments


def _option_name(name: str, parameter: _CommandParameter) -> str:
    """Return how users write an option: --time."""
    info = parameter.find_metadata(typer.models.ParameterInfo)
    words: Sequence[str] = info.param_decls or () if info else ()
    return next((word for word in words if word.startswith("--")), f"--{name.replace('_', '-')}")


def read_command_docstring(docstring: str) -> tuple[str, dict[str, str]]:
    """Return the help of a command and those of its options from a numpydoc docstring."""
    parts = re.split(r"^(Parameters|Examples)\n-+\n", cleandoc(docstring), flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    paragraphs = [" ".join(paragraph.split()) for paragraph in parts[0].strip().split("\n\n")]
    examples = sections.get("Examples", "").strip().splitlines()
    if examples:
        paragraphs.append("\n".join(["Examples:", *(f"$ {line}" for line in examples)]))
    options = re.findall(
        r"^(\w+)\n((?:[ ]+\S.*\n?)+)", sections.get("Parameters", ""), re.MULTILINE
    )
    return "\n\n".join(paragraphs), {name: " ".join(text.split()) for name, text in options}


def _print_version(is_wanted: bool) -> None:
    """Prints the version and ends the program."""
    if is_wanted:
        from .. import __version__

        print(f"linkwright {__version__}")
        raise typer.Exit


@app.callback()
def _program_options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    pass
