"""A small, strict XML reader for files of strangers: no DTD, no entities, hard limits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from ..errors import FileError

MAX_BYTES = 16 * 2**20
MAX_DEPTH = 200
MAX_ELEMENTS = 500_000


@dataclass
class Element:
    """A tag with its attributes, children, and the line it stands on."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)

    def all(self, tag: str) -> Iterator[Element]:
        return (child for child in self.children if child.tag == tag)

    def first(self, tag: str) -> Element | None:
        return next(self.all(tag), None)

    def need(self, attribute: str) -> str:
        if attribute not in self.attributes:
            raise FileError(
                f"<{self.tag}> has no attribute '{attribute}'", where=f"line {self.line}",
                remedy="add it",
            )  # fmt: skip
        return self.attributes[attribute]


class _Builder:
    def __init__(self, parser: expat.XMLParserType) -> None:
        self.parser = parser
        self.root: Element | None = None
        self.stack: list[Element] = []
        self.count = 0
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.StartDoctypeDeclHandler = self.refuse_doctype
        parser.EntityDeclHandler = self.refuse_doctype

    def fail(self, what: str, remedy: str = "") -> FileError:
        return FileError(what, where=f"line {self.parser.CurrentLineNumber}", remedy=remedy)

    def refuse_doctype(self, *_: object) -> None:
        raise self.fail("has a DTD or entities, which are refused", "remove the <!DOCTYPE …>")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.count += 1
        if self.count > MAX_ELEMENTS:
            raise self.fail(f"has more than {MAX_ELEMENTS} elements")
        if len(self.stack) >= MAX_DEPTH:
            raise self.fail(f"elements are nested more than {MAX_DEPTH} deep")
        element = Element(tag, attributes, self.parser.CurrentLineNumber)
        if self.stack:
            self.stack[-1].children.append(element)
        else:
            self.root = element
        self.stack.append(element)

    def end(self, _: str) -> None:
        self.stack.pop()


def read_xml(text: str | bytes) -> Element:
    """The root element. Hostile input is refused before it costs time or memory."""
    if len(text) > MAX_BYTES:
        raise FileError(f"is larger than {MAX_BYTES // 2**20} MiB", remedy="reduce the file")
    parser = expat.ParserCreate()
    builder = _Builder(parser)
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        raise FileError(f"is no well-formed XML: {error}") from None
    assert builder.root is not None
    return builder.root
