"""A small, strict XML reader for untrusted files: no DTD, no entities, hard limits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from ..errors import FileError

MAX_XML_BYTES = 16 * 2**20
MAX_XML_DEPTH = 200
MAX_XML_ELEMENTS = 500_000


@dataclass
class XmlElement:
    """A tag with its attributes, its children, its own text and its line in the file."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[XmlElement] = field(default_factory=list)
    text: str = ""

    def children_with_tag(self, tag: str) -> Iterator[XmlElement]:
        """Yield the children with this tag."""
        return (child for child in self.children if child.tag == tag)

    def first_child(self, tag: str) -> XmlElement | None:
        """Return the first child with this tag; None if there is none."""
        return next(self.children_with_tag(tag), None)

    def required_attribute(self, attribute: str) -> str:
        """Return an attribute; raise a `FileError` if it is absent."""
        if attribute not in self.attributes:
            raise FileError(
                f"<{self.tag}> has no attribute '{attribute}'",
                where=f"line {self.line}",
                remedy="add it",
            )
        return self.attributes[attribute]


class _XmlElementBuilder:
    """Builds a tree of elements from the events of the parser, within limits."""

    def __init__(self, parser: expat.XMLParserType) -> None:
        self.parser = parser
        self.root: XmlElement | None = None
        self.stack: list[XmlElement] = []
        self.count = 0
        parser.StartElementHandler = self.start_element
        parser.EndElementHandler = self.end_element
        parser.CharacterDataHandler = self.add_text
        parser.StartDoctypeDeclHandler = self.refuse_doctype
        parser.EntityDeclHandler = self.refuse_doctype

    def xml_error(self, what: str, remedy: str = "") -> FileError:
        """Return an error at the parser's current line."""
        return FileError(what, where=f"line {self.parser.CurrentLineNumber}", remedy=remedy)

    def refuse_doctype(self, *_: object) -> None:
        """Raise on a DTD or an entity declaration."""
        raise self.xml_error("has a DTD or entities, which are refused", "remove the <!DOCTYPE …>")

    def start_element(self, tag: str, attributes: dict[str, str]) -> None:
        """Open an element inside the current one."""
        self.count += 1
        if self.count > MAX_XML_ELEMENTS:
            raise self.xml_error(f"has more than {MAX_XML_ELEMENTS} elements")
        if len(self.stack) >= MAX_XML_DEPTH:
            raise self.xml_error(f"elements are nested more than {MAX_XML_DEPTH} deep")
        element = XmlElement(tag, attributes, self.parser.CurrentLineNumber)
        if self.stack:
            self.stack[-1].children.append(element)
        else:
            self.root = element
        self.stack.append(element)

    def add_text(self, text: str) -> None:
        """Add text to the current element."""
        self.stack[-1].text += text

    def end_element(self, _: str) -> None:
        """Close the current element."""
        self.stack.pop()


def read_xml(text: str | bytes) -> XmlElement:
    """Return the root element; hostile input is refused before it takes much time or memory."""
    if len(text) > MAX_XML_BYTES:
        raise FileError(f"is larger than {MAX_XML_BYTES // 2**20} MiB", remedy="reduce the file")
    parser = expat.ParserCreate()
    builder = _XmlElementBuilder(parser)
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        raise FileError(f"is not well-formed XML: {error}") from None
    assert builder.root is not None
    return builder.root
