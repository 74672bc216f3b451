"""Writer of our own format, TOML. Numbers stay exactly as they were given."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from pydantic import BaseModel

from ..mechanism import Mechanism, PartTable, plain_part_value
from ..mechanism.parts import PartNumberField, Scalar

_TOML_TABLES = (
    "bodies",
    "joints",
    "frames",
    "loops",
    "constraints",
    "lengths",
    "forces",
    "contacts",
    "actuators",
    "poses",
)
_BARE_TOML_KEY = re.compile(r"[A-Za-z0-9_-]+")


def write_toml(mechanism: Mechanism) -> str:
    """Return the TOML text of a mechanism, from which `read_toml` reads the same mechanism."""
    lines = [f"name = {_write_toml_string(mechanism.name)}"]
    lines.append(f"gravity = {_write_inline_toml(plain_part_value(mechanism.gravity))}")
    if mechanism.independent:
        lines.append(f"independent = {_write_inline_toml(list(mechanism.independent))}")
    if mechanism.ground_shapes:
        shapes = _toml_value_to_write(mechanism.ground_shapes)
        lines.append(f"ground_shapes = {_write_inline_toml(shapes)}")
    if "closure" in mechanism.model_fields_set:
        lines.append(f"closure = {mechanism.closure!r}")
    lines += _write_toml_numbers("parameters", mechanism.parameters)
    for table, name, part in _parts_in_writing_order(mechanism):
        lines += ["", f"[{table}.{_write_toml_key(name)}]"]
        lines += [
            f"{_write_toml_key(k)} = {_write_inline_toml(v)}"
            for k, v in _fields_to_write(part).items()
        ]
    lines += _write_toml_numbers("assembly", mechanism.assembly)
    lines += _write_toml_coordinates(mechanism)
    lines += _write_toml_numbers("speeds", mechanism.speeds)
    if mechanism.approximate is not None:
        lines += ["", "[approximate]"]
        lines += [
            f"{key} = {_write_inline_toml(value)}"
            for key, value in _fields_to_write(mechanism.approximate).items()
        ]
    return "\n".join(lines) + "\n"


def _parts_in_writing_order(mechanism: Mechanism) -> Iterator[tuple[str, str, BaseModel]]:
    """Yield (table, name, part) of all parts; loops and constraints in the order of their rows."""
    for table in _TOML_TABLES:
        if table == "loops":
            for name, part in mechanism.loops_and_constraints().items():
                yield "loops" if name in mechanism.loops else "constraints", name, part
        elif table != "constraints":
            for name, part in getattr(mechanism, table).items():
                yield table, name, part


def _write_toml_coordinates(mechanism: Mechanism) -> list[str]:
    """Return the lines of the table `[coordinates]`; none without chosen coordinates."""
    chosen = mechanism.coordinates
    if chosen is None:
        return []
    lines = (
        ["", "[coordinates]", f"names = {_write_inline_toml(list(chosen.names))}"]
        if chosen.names
        else []
    )
    key, table = ("joints", chosen.joints) if chosen.joints else ("new", chosen.new)
    return lines + _write_toml_numbers(f"coordinates.{key}", table)


def _write_toml_numbers(name: str, table: PartTable[Scalar]) -> list[str]:
    """Return the lines of a table of named numbers; none where it is empty."""
    lines = [
        f"{_write_toml_key(key)} = {_write_inline_toml(plain_part_value(value))}"
        for key, value in table.items()
    ]
    return ["", f"[{name}]", *lines] if lines else []


def _fields_to_write(part: BaseModel) -> dict[str, object]:
    """Return the fields of a part that were given, in their order, without None."""
    fields: dict[str, object] = {}
    for key, info in type(part).model_fields.items():
        value = getattr(part, key)
        if key not in part.model_fields_set or value is None:
            continue
        is_number = any(isinstance(m, PartNumberField) for m in info.metadata)
        fields[key] = plain_part_value(value) if is_number else _toml_value_to_write(value)
    return fields


def _toml_value_to_write(value: object) -> object:
    """Return a field of a part as text, decimal, list or table, which TOML can write."""
    if isinstance(value, BaseModel):
        return _fields_to_write(value)
    if isinstance(value, PartTable):
        return {
            name: _fields_to_write(item) if isinstance(item, BaseModel) else plain_part_value(item)
            for name, item in value.items()
        }
    return [_toml_value_to_write(item) for item in value] if isinstance(value, tuple) else value


def _write_inline_toml(value: object) -> str:
    """Return the TOML of a value on one line."""
    match value:
        case Decimal() | int():
            return str(value)
        case str():
            return _write_toml_string(value)
        case list():
            return f"[{', '.join(_write_inline_toml(v) for v in value)}]"
        case dict():
            inner = ", ".join(
                f"{_write_toml_key(k)} = {_write_inline_toml(v)}" for k, v in value.items()
            )
            return f"{{ {inner} }}" if inner else "{}"
        case _:
            raise TypeError(f"no TOML form of {type(value).__name__}")


def _write_toml_key(name: str) -> str:
    """Return a key, quoted where TOML requires it."""
    return name if _BARE_TOML_KEY.fullmatch(name) else _write_toml_string(name)


_TOML_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def _write_toml_string(text: str) -> str:
    """Return a quoted string with its special characters escaped."""
    escaped = "".join(
        _TOML_ESCAPES.get(c, c if c.isprintable() else f"\\U{ord(c):08x}") for c in text
    )
    return f'"{escaped}"'
