"""Our own format: TOML in and out. Numbers stay exactly as written."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from pydantic import BaseModel

from ..errors import FileError, MechanismError, suggest
from ..mechanism import Mechanism, Table, plain
from ..mechanism.parts import Quantity
from .toml_order import order_of_constraints

_PARTS = (
    "bodies", "joints", "frames", "loops", "constraints", "forces", "contacts", "actuators",
)  # fmt: skip
NOT_IN_FILES = ("unused", "constraint_order")
"""Fields of a mechanism that are not keys of the format: files say them by what they contain."""
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_PART = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"(?<![A-Za-z0-9_-])(?:{_PART}[ \t]*+\.[ \t]*+){{64}}")


def read_toml_table(text: str) -> dict[str, object]:
    """The parsed TOML, decimals kept exactly. What would cost tomllib dear is refused first."""
    deep = FileError("the TOML is nested too deeply", remedy="a mechanism has few levels")
    # its parser is recursive, and takes the square of the length of a dotted key
    if "[" * 200 in text or "{" * 200 in text or _LONG_KEY.search(text):
        raise deep
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise FileError(f"is no valid TOML: {error}") from None
    except ValueError:
        raise FileError("is no valid TOML: an integer has too many digits") from None
    except RecursionError:
        raise deep from None


def read_toml(text: str) -> Mechanism:
    """A mechanism from the text of a TOML file."""
    table = read_toml_table(text)
    for key in NOT_IN_FILES:
        if key in table:
            known = [name for name in Mechanism.model_fields if name not in NOT_IN_FILES]
            raise MechanismError(f"unknown key '{key}'", remedy=suggest(key, known))
    return Mechanism(**table, **order_of_constraints(text, table))


def write_toml(mechanism: Mechanism) -> str:
    """The TOML text of a mechanism; reading it gives the same mechanism."""
    lines = [f"name = {_string(mechanism.name)}"]
    lines.append(f"gravity = {_inline(plain(mechanism.gravity))}")
    if mechanism.independent:
        lines.append(f"independent = {_inline(list(mechanism.independent))}")
    if "closure" in mechanism.model_fields_set:
        lines.append(f"closure = {mechanism.closure!r}")
    if mechanism.parameters:
        lines += ["", "[parameters]"]
        lines += [f"{_key(k)} = {_inline(plain(v))}" for k, v in mechanism.parameters.items()]
    for table, name, part in _parts_in_order(mechanism):
        lines += ["", f"[{table}.{_key(name)}]"]
        lines += [f"{_key(k)} = {_inline(v)}" for k, v in _fields(part).items()]
    if mechanism.assembly:
        lines += ["", "[assembly]"]
        lines += [f"{_key(k)} = {_inline(plain(v))}" for k, v in mechanism.assembly.items()]
    lines += _coordinates(mechanism)
    return "\n".join(lines) + "\n"


def _parts_in_order(mechanism: Mechanism) -> Iterator[tuple[str, str, BaseModel]]:
    """(table, name, part) of all parts; loops and constraints stand in the order of their rows."""
    for table in _PARTS:
        if table == "loops":
            for name, part in mechanism.loops_and_constraints().items():
                yield "loops" if name in mechanism.loops else "constraints", name, part
        elif table != "constraints":
            for name, part in getattr(mechanism, table).items():
                yield table, name, part


def _coordinates(mechanism: Mechanism) -> list[str]:
    chosen = mechanism.coordinates
    if chosen is None:
        return []
    lines = ["", "[coordinates]", f"names = {_inline(list(chosen.names))}"] if chosen.names else []
    key, table = ("joints", chosen.joints) if chosen.joints else ("new", chosen.new)
    lines += ["", f"[coordinates.{key}]"]
    return lines + [f"{_key(name)} = {_inline(plain(value))}" for name, value in table.items()]


def _fields(part: BaseModel) -> dict[str, Any]:
    """What was said of a part, in the order of its fields; None is silence."""
    fields: dict[str, Any] = {}
    for key, info in type(part).model_fields.items():
        value = getattr(part, key)
        if key not in part.model_fields_set or value is None:
            continue
        is_number = any(isinstance(m, Quantity) for m in info.metadata)
        fields[key] = plain(value) if is_number else _plain_part(value)
    return fields


def _plain_part(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return _fields(value)
    if isinstance(value, Table):
        return {
            name: _fields(item) if isinstance(item, BaseModel) else plain(item)
            for name, item in value.items()
        }
    return list(value) if isinstance(value, tuple) else value


def _inline(value: Any) -> str:
    match value:
        case Decimal():
            return str(value)
        case str():
            return _string(value)
        case list():
            return f"[{', '.join(_inline(v) for v in value)}]"
        case dict():
            inner = ", ".join(f"{_key(k)} = {_inline(v)}" for k, v in value.items())
            return f"{{ {inner} }}" if inner else "{}"
        case _:
            raise TypeError(f"no TOML form of {type(value).__name__}")


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _string(name)


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def _string(text: str) -> str:
    escaped = "".join(_ESCAPES.get(c, c if c.isprintable() else f"\\U{ord(c):08x}") for c in text)
    return f'"{escaped}"'
