"""XML elements that remember their line, so that a refusal can say where."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from headless_simulator.towns.errors import OpenDriveRefused


@dataclass(slots=True)
class Node:
    """One XML element.

    Attributes:
        source: file name for messages.
        line: 1-based line of its start tag.
    """

    source: str
    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Node] = field(default_factory=list)
    text: str = ""

    def refuse(self, reason: str) -> OpenDriveRefused:
        """The error to raise when this element cannot be taken."""
        return OpenDriveRefused(self.source, self.line, self.tag, reason)

    def all(self, tag: str) -> Iterator[Node]:
        """Children with this tag."""
        return (child for child in self.children if child.tag == tag)

    def first(self, tag: str) -> Node | None:
        """First child with this tag."""
        return next(self.all(tag), None)

    def word(self, name: str, default: str | None = None) -> str:
        """Attribute as text.

        Raises:
            OpenDriveRefused: it is missing and there is no default.
        """
        value = self.attributes.get(name)
        if value is not None:
            return value.strip()
        if default is None:
            raise self.refuse(f"attribute {name!r} is missing")
        return default

    def number(self, name: str, default: float | None = None) -> float:
        """Attribute as a finite number.

        Raises:
            OpenDriveRefused: it is missing without a default, or is no finite number.
        """
        value = self.attributes.get(name)
        if value is None or (default is not None and not value.strip()):
            if default is None:
                raise self.refuse(f"attribute {name!r} is missing")
            return default
        try:
            number = float(value)
        except ValueError:
            raise self.refuse(f"attribute {name!r} is {value[:40]!r}, not a number") from None
        if not math.isfinite(number):
            raise self.refuse(f"attribute {name!r} is {value[:40]!r}; it must be finite")
        return number

    def integer(self, name: str) -> int:
        """Attribute as a whole number."""
        number = self.number(name)
        if number != int(number):
            raise self.refuse(f"attribute {name!r} is {number}, not a whole number")
        return int(number)


def parse_xml(data: bytes, source: str) -> Node:
    """Parse a document.

    Raises:
        OpenDriveRefused: it is not well-formed XML.
    """
    root: Node | None = None
    stack: list[Node] = []
    parser = expat.ParserCreate()
    parser.buffer_text = True

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal root
        node = Node(source, tag, attributes, parser.CurrentLineNumber)
        if stack:
            stack[-1].children.append(node)
        else:
            root = node
        stack.append(node)

    def end(_: str) -> None:
        stack.pop()

    def text(data: str) -> None:
        if stack:
            stack[-1].text += data

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, text
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        element = stack[-1].tag if stack else "document"
        reason = f"not well-formed XML: {expat.ErrorString(error.code)}"
        raise OpenDriveRefused(source, error.lineno, element, reason) from None
    if root is None:
        raise OpenDriveRefused(source, 1, "document", "there is no element in it")
    return root
