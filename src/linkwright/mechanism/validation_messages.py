"""Pydantic's validation errors as our messages: what is wrong, where in the file, what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from pydantic import BaseModel, ValidationError

from ..errors import LinkwrightError, MechanismError, suggest_remedy

_SHORTHAND_REMEDIES = {
    "Inertia": "write { xx = …, yy = …, zz = … } or [xx, yy, zz]",
    "Placement": "write { xyz = […], rpy = […] } or [x, y, z]",
}


def to_mechanism_error(
    error: ValidationError, kind: type[BaseModel], fields: Mapping[str, object]
) -> MechanismError:
    """Return the first validation error of the `fields` given for a part of this kind, as our own
    error."""
    first, count = error.errors()[0], error.error_count()
    place, cause = _part_field_place(first["loc"], fields), first.get("ctx", {}).get("error")
    if isinstance(cause, LinkwrightError):
        what, remedy = cause.what, cause.remedy
        place = ".".join(part for part in (place, cause.where) if part)
    elif first["type"] == "extra_forbidden":
        place, _, key = place.rpartition(".")
        what, remedy = f"unknown key '{key}'", suggest_remedy(key, list(kind.model_fields))
    else:
        what, remedy = _describe_part_error(
            first["type"], first["input"], first.get("ctx", {}), first["msg"]
        )
    if count > 1:
        remedy = "; ".join(part for part in (remedy, f"{count - 1} more like this") if part)
    return MechanismError(what, where=place, remedy=remedy)


def _part_field_place(location: Sequence[str | int], fields: Mapping[str, Any]) -> str:
    """Return the place of an error as the file has it, without the types that pydantic inserts."""
    place, here = "", cast(Any, fields)
    for number, part in enumerate(location, 1):
        if part == "[key]":
            continue
        absent = isinstance(here, Mapping) and part not in here
        if absent and (number < len(location) or part == here.get("type")):
            continue
        place += f"[{part}]" if isinstance(part, int) else f".{part}"
        if isinstance(here, list | tuple) and isinstance(part, int) and part < len(here):
            here = here[part]
        else:
            here = here.get(part) if isinstance(here, Mapping) else None
    return place.removeprefix(".")


def _describe_part_error(
    kind: str, value: Any, context: Mapping[str, Any], words: str
) -> tuple[str, str]:
    """Return what is wrong and what to do, for the kinds of errors that our records can have."""
    match kind:
        case "union_tag_not_found":
            return "has no type", "give type = one of those in the schema"
        case "union_tag_invalid":
            return (
                f"'{context['tag']}' is not a type here",
                f"use type = {context['expected_tags']}",
            )
        case "missing":
            return "is missing", "give it"
        case "string_type":
            return f"{_shortened_part_value(value)} is not text", "put it in quotes"
        case "literal_error":
            return f"{_shortened_part_value(value)} is not known here", f"use {context['expected']}"
        case "model_type" | "model_attributes_type" | "dict_type":
            remedy = _SHORTHAND_REMEDIES.get(
                context.get("class_name", ""), "write it as { key = … }"
            )
            return f"{_shortened_part_value(value)} is not a table", remedy
        case "tuple_type":
            return f"{_shortened_part_value(value)} is not a list", "write it as […, …]"
        case "too_short" | "too_long":
            wanted = context.get("min_length", context.get("max_length"))
            return f"has {context['actual_length']} entries", f"give {wanted}"
        case _:
            return words[0].lower() + words[1:], ""


def _shortened_part_value(value: Any, width: int = 40) -> str:
    """Return the repr of a value, cut at `width` characters."""
    text = repr(value)
    return text if len(text) <= width else f"{text[: width - 1]}…"
