"""Building blocks of a mechanism's parts: frozen records, tables, exact numbers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Annotated, Any, Generic, Self, TypeAlias, TypeVar, get_args, overload

from pydantic import (
    BaseModel,
    ConfigDict,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    ValidationError,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from ..errors import ExpressionError, MechanismError, NameNotFoundError, suggest_remedy
from ..expressions import (
    ZERO,
    Expression,
    Number,
    decimal_literal_text,
    expression_text,
    read_expression,
)
from .validation_messages import to_mechanism_error

T = TypeVar("T")
D = TypeVar("D")
P = TypeVar("P", bound="MechanismPart")

Vector = tuple[Expression, ...]
ORIGIN: Vector = (ZERO, ZERO, ZERO)

PlainPartValue: TypeAlias = "Decimal | str | list[PlainPartValue] | None"
"""A number or numbers as files write them: decimals, text of formulas, lists."""

_NUMBER_SCHEMA = {"type": ["number", "string"]}


class MechanismPart(BaseModel):
    """A frozen record with no unknown keys; wrong input is a `MechanismError`."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    def __init__(self, **fields: Any) -> None:
        try:
            super().__init__(**fields)
        except ValidationError as error:
            raise to_mechanism_error(error, type(self), fields) from None

    def model_copy(self, *, update: Mapping[str, object] | None = None, deep: bool = False) -> Self:
        """Return a copy with some fields changed, validated again; computed values are not
        copied."""
        kept = {key: getattr(self, key) for key in self.model_fields_set}
        return type(self)(**{**kept, **(update or {})})

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Return the schema with which editors check files; defaults are written as in files."""
        found = handler(schema)
        properties = handler.resolve_ref_schema(found).get("properties", {})
        for key, info in cls.model_fields.items():
            if any(isinstance(m, PartNumberField) for m in info.metadata) and key in properties:
                properties[key].pop("default", None)
                if not info.is_required() and info.default is not None:
                    properties[key]["default"] = _part_value_in_json(plain_part_value(info.default))
        return found


def replace_part_fields(part: P, without: Collection[str] = (), **fields: Any) -> P:
    """Return a copy of a part with some fields removed and others changed, validated again."""
    kept = {key: getattr(part, key) for key in part.model_fields_set if key not in without}
    return type(part)(**{**kept, **fields})


def _part_value_in_json(value: PlainPartValue) -> object:
    """Return decimals as JSON numbers, also in lists."""
    if isinstance(value, list):
        return [_part_value_in_json(entry) for entry in value]
    if not isinstance(value, Decimal):
        return value
    return int(value) if value == int(value) else float(value)


def allow_list_in_part_schema(
    found: JsonSchemaValue, handler: GetJsonSchemaHandler, size: int
) -> JsonSchemaValue:
    """Return the schema of a part that may also be given as a bare list of `size` numbers."""
    part = handler.resolve_ref_schema(found)
    part |= PartNumberField("", size).list_schema() | {"type": ["object", "array"]}
    return found


@dataclass(frozen=True)
class PartNumberField:
    """Annotation of a field: exact numbers in `unit`, one (`size` 0), or `size` of them.

    `size` None means one number or a list, one for each degree of freedom of a joint; the unit of
    such a field depends on whether the degree of freedom turns or slides, and is checked there.
    """

    unit: str
    size: int | None = 0
    optional: bool = False

    def read_part_numbers(self, value: object) -> object:
        """Return a given number, or list of numbers, as exact expressions."""
        if value is None and self.optional:
            return None
        if self.size == 0 or (self.size is None and not isinstance(value, list | tuple)):
            return read_expression(value)
        if hasattr(value, "tolist"):
            value = value.tolist()
        if not isinstance(value, list | tuple):
            raise ExpressionError("is not a list of numbers", remedy=f"give {self.size} of them")
        if self.size is not None and len(value) != self.size:
            raise ExpressionError(f"has {len(value)} numbers", remedy=f"give {self.size} of them")
        return tuple(read_expression(entry) for entry in value)

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            self.read_part_numbers,
            serialization=core_schema.plain_serializer_function_ser_schema(plain_part_value),
        )

    def __get_pydantic_json_schema__(self, schema: object, handler: object) -> JsonSchemaValue:
        if self.size == 0:
            return dict(_NUMBER_SCHEMA)
        many = self.list_schema()
        return {"anyOf": [_NUMBER_SCHEMA, many]} if self.size is None else many

    def list_schema(self) -> JsonSchemaValue:
        """Return the JSON schema of a list of `size` numbers."""
        sizes = {"minItems": self.size, "maxItems": self.size} if self.size else {}
        return {"type": "array", "items": dict(_NUMBER_SCHEMA), **sizes}


@dataclass(frozen=True)
class PartMatrixField(PartNumberField):
    """Annotation of a field: a square matrix with `size` rows, row by row, or its diagonal alone;
    kept as a flat list."""

    def read_part_numbers(self, value: object) -> object:
        """Return the numbers of a matrix, or of its diagonal, as exact expressions."""
        size = self.size or 0
        if hasattr(value, "tolist"):
            value = value.tolist()
        if isinstance(value, list | tuple) and any(isinstance(row, list | tuple) for row in value):
            if len(value) != size or any(
                not isinstance(row, list | tuple) or len(row) != size for row in value
            ):
                raise ExpressionError(
                    "is not a square matrix", remedy=f"give {size} rows of {size} numbers"
                )
            value = [entry for row in value for entry in row]
        if not isinstance(value, list | tuple) or len(value) not in (size, size**2):
            raise ExpressionError(
                "is not a matrix", remedy=f"give its diagonal ({size} numbers), or {size} rows"
            )
        return tuple(read_expression(entry) for entry in value)

    def list_schema(self) -> JsonSchemaValue:
        """Return the JSON schema of a diagonal, of rows, or of all numbers row by row."""
        size = self.size or 0
        rows = {"type": "array", "items": dict(_NUMBER_SCHEMA), "minItems": size, "maxItems": size}
        either = [*({"type": kind} for kind in _NUMBER_SCHEMA["type"]), rows]
        return {"type": "array", "items": {"anyOf": either}, "minItems": size, "maxItems": size**2}


def plain_part_value(value: Expression | Vector | None) -> PlainPartValue:
    """Return expressions as files write them: decimals as numbers, everything else as text."""
    if value is None:
        return None
    if isinstance(value, tuple):
        return [plain_part_value(entry) for entry in value]
    decimal = decimal_literal_text(value.value) if isinstance(value, Number) else None
    return expression_text(value) if decimal is None else Decimal(decimal)


def part_numbers(
    part: BaseModel, place: str = ""
) -> Iterator[tuple[str, Expression, PartNumberField]]:
    """Yield every number in the part and below: its place, the number, and its field."""
    for key, info in type(part).model_fields.items():
        value, here = getattr(part, key), f"{place}.{key}" if place else key
        quantity = next((m for m in info.metadata if isinstance(m, PartNumberField)), None)
        if quantity is None:
            for name, inner in _nested_parts(value):
                yield from part_numbers(inner, here + name)
        elif isinstance(value, tuple):
            yield from ((f"{here}[{i}]", entry, quantity) for i, entry in enumerate(value))
        elif value is not None:
            yield here, value, quantity


def _nested_parts(value: object) -> Iterator[tuple[str, BaseModel]]:
    """Yield the parts inside a field's value, with their places in a table or list: ".name",
    "[0]", "" for a single part."""
    if isinstance(value, BaseModel):
        yield "", value
    elif isinstance(value, PartTable):
        yield from (
            (f".{name}", item) for name, item in value.items() if isinstance(item, BaseModel)
        )
    elif isinstance(value, tuple):
        yield from ((f"[{i}]", item) for i, item in enumerate(value) if isinstance(item, BaseModel))


class PartTable(Mapping[str, T], Generic[T]):
    """An ordered, immutable dictionary of named parts; order counts in comparisons.

    `place` is the table's name in the file; the error for a name that does not exist shows it.
    """

    __slots__ = ("_items", "_place")

    def __init__(self, items: Mapping[str, T] | None = None, place: str = "") -> None:
        self._items = dict(items or {})
        self._place = place

    def __getitem__(self, name: str) -> T:
        try:
            return self._items[name]
        except (KeyError, TypeError):
            known = list(self._items)
            remedy = suggest_remedy(name, known) if known else "the table is empty"
            raise NameNotFoundError(
                f"unknown name {name!r}", where=self._place, remedy=remedy
            ) from None

    def __contains__(self, name: object) -> bool:
        return name in self._items

    @overload
    def get(self, name: str, default: None = None, /) -> T | None: ...
    @overload
    def get(self, name: str, default: T | D, /) -> T | D: ...
    def get(self, name: str, default: object = None, /) -> object:
        """Return the part of that name, or the default where there is none."""
        return self._items.get(name, default)

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PartTable):
            return NotImplemented
        return list(self.items()) == list(other.items())

    def __hash__(self) -> int:
        return hash(tuple(self._items.items()))

    def __repr__(self) -> str:
        return f"Table({self._items!r})"

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        (item,) = get_args(source)
        place = handler.field_name or ""
        entries = handler.generate_schema(dict.__class_getitem__((str, item)))
        return core_schema.chain_schema(
            [
                core_schema.no_info_plain_validator_function(_check_is_part_table),
                entries,
                core_schema.no_info_plain_validator_function(partial(cls, place=place)),
            ],
            serialization=core_schema.wrap_serializer_function_ser_schema(
                lambda table, serialize: serialize(dict(table)),
                schema=entries,
            ),
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> Any:
        return handler(schema["steps"][1])


def _check_is_part_table(value: object) -> dict[Any, Any]:
    """Return a mapping as a dictionary; raise where the value is not one."""
    if not isinstance(value, Mapping):
        raise MechanismError("is not a table of named entries", remedy="write it as name = …")
    return dict(value)


Scalar = Annotated[Expression, PartNumberField("")]
