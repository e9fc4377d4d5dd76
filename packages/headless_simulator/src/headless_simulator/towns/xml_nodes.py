"""XML elements with their line number, for error messages."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final
from xml.parsers import expat

from headless_simulator.towns.errors import OpenDriveRefused
from headless_simulator.towns.limits import CLIENT

MOST_DEPTH: Final = 100
MOST_TEXT: Final = 100_000  # stored characters of one element
LARGEST_NUMBER: Final = 1e12  # its cube times a road's length is still finite


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
        """Return the error of an invalid element."""
        return OpenDriveRefused(self.source, self.line, self.tag, reason)

    def all(self, tag: str) -> Iterator[Node]:
        """Yield the children with this tag."""
        return (child for child in self.children if child.tag == tag)

    def first(self, tag: str) -> Node | None:
        """Return the first child with this tag, or None."""
        return next(self.all(tag), None)

    def word(self, name: str, default: str | None = None) -> str:
        """Return an attribute as text.

        Raises:
            OpenDriveRefused: the attribute is missing and has no default.
        """
        value = self.attributes.get(name)
        if value is not None:
            return value.strip()
        if default is None:
            raise self.refuse(f"attribute {name!r} is missing")
        return default

    def number(self, name: str, default: float | None = None) -> float:
        """Return an attribute as a finite number.

        Raises:
            OpenDriveRefused: the attribute is missing without a default, or is not a finite number.
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
        if abs(number) > LARGEST_NUMBER:
            raise self.refuse(f"attribute {name!r} is {value[:40]!r}; it must be at most {LARGEST_NUMBER:g}")
        return number

    def integer(self, name: str) -> int:
        """Attribute as a whole number."""
        number = self.number(name)
        if number != int(number):
            raise self.refuse(f"attribute {name!r} is {number}, not a whole number")
        return int(number)


def parse_xml(data: bytes, source: str, *, most_elements: int = CLIENT.elements) -> Node:
    """Parse a document.

    Raises:
        OpenDriveRefused: the document is not well-formed, declares entities, or is too long or too deep.
    """
    root: Node | None = None
    stack: list[Node] = []
    count = 0
    parser = expat.ParserCreate()
    parser.buffer_text = True

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal root, count
        node = Node(source, tag, attributes, parser.CurrentLineNumber)
        count += 1
        if count > most_elements:
            raise node.refuse(f"the file has more than {most_elements} elements")
        if len(stack) >= MOST_DEPTH:
            raise node.refuse(f"elements are nested more than {MOST_DEPTH} deep")
        if stack:
            stack[-1].children.append(node)
        else:
            root = node
        stack.append(node)

    def doctype(*_: object) -> None:
        raise OpenDriveRefused(source, parser.CurrentLineNumber, "DOCTYPE", "DTDs and entities are not supported")

    def end(_: str) -> None:
        stack.pop()

    def text(data: str) -> None:
        if stack and len(stack[-1].text) < MOST_TEXT:
            stack[-1].text += data

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, text
    parser.StartDoctypeDeclHandler = doctype
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        element = stack[-1].tag if stack else "document"
        reason = f"not well-formed XML: {expat.ErrorString(error.code)}"
        raise OpenDriveRefused(source, error.lineno, element, reason) from None
    except OpenDriveRefused:
        raise
    except (LookupError, ValueError) as error:  # of Python's codecs
        raise OpenDriveRefused(source, 1, "document", f"its encoding cannot be read: {error}") from None
    if root is None:
        raise OpenDriveRefused(source, 1, "document", "the file has no element")
    return root
