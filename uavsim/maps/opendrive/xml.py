"""Streaming XML parser of OpenDRIVE files with limits of bytes, names, depth and elements."""

from collections.abc import Iterator
from typing import IO, Final
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser

from uavsim.errors import InputError

_CHUNK_BYTES: Final = 1 << 18
_MOST_TOKEN_BYTES: Final = 4 << 20
_MOST_CHILD_BYTES: Final = 64 << 20
_MOST_PARTS: Final = 1_500_000
_MOST_ELEMENTS: Final = 4_000_000
_MOST_NAMES: Final = 10_000
_MOST_DEPTH: Final = 100


def children(file: IO[bytes], *, name: str) -> Iterator[Element]:
    """Yield each child of the root when it ends, and drop it.

    Document types are refused, so that no entity or default attribute is expanded.

    Args:
        file: the document.
        name: name of the document in messages.

    Raises:
        InputError: the document is not XML, has a document type, or exceeds a limit.
    """
    builder = _Builder()
    parser = XMLParser(target=builder)
    child_bytes = token_bytes = 0
    try:
        while chunk := file.read(_CHUNK_BYTES):
            before = builder.events
            parser.feed(chunk)
            token_bytes = 0 if builder.events > before else token_bytes + len(chunk)
            child_bytes = 0 if builder.done else child_bytes + len(chunk)
            if token_bytes > _MOST_TOKEN_BYTES or child_bytes > _MOST_CHILD_BYTES:
                raise InputError(f"{name}: not OpenDRIVE: an element is too large")
            yield from builder.take()
        parser.close()
    except LookupError as error:  # an unknown encoding; Python's advice after the semicolon is for programmers
        raise InputError(f"{name}: not OpenDRIVE: {str(error).partition(';')[0]}; use UTF-8") from error
    except (ParseError, ValueError, TypeError) as error:
        raise InputError(f"{name}: not OpenDRIVE: {error}") from error
    yield from builder.take()


class _Builder(TreeBuilder):
    """A tree builder that keeps one child of the root at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.done: list[Element] = []
        self.events = 0
        self._depth = self._parts = 0
        self._names = set[str]()
        self._root: Element | None = None

    def take(self) -> Iterator[Element]:
        """Yield and drop the children that have ended."""
        done, self.done = self.done, []
        yield from done

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:  # noqa: ARG002 - called by the parser
        """Refuse a document type."""
        raise ValueError("document types and entities (<!DOCTYPE ...>) are not supported; write the file without them")

    def start(self, tag: str, attrs: dict[str, str]) -> Element:
        """Add an element."""
        self.events += 1
        self._depth += 1
        self._parts += 1 + len(attrs)
        self._names.add(tag)
        self._names.update(attrs)
        if self._depth > _MOST_DEPTH:
            raise ValueError(f"elements are nested more than {_MOST_DEPTH} deep")
        if self._parts > _MOST_PARTS or self.events > 2 * _MOST_ELEMENTS:
            raise ValueError(
                f"more than {_MOST_PARTS:,} elements and attributes in an element, or {_MOST_ELEMENTS:,} elements"
            )
        if len(self._names) > _MOST_NAMES:
            raise ValueError(f"more than {_MOST_NAMES:,} names of elements and attributes")
        element = super().start(tag, attrs)
        if self._root is None:
            self._root = element
        return element

    def end(self, tag: str) -> Element:
        """End an element."""
        self.events += 1
        self._depth -= 1
        element = super().end(tag)
        if self._depth == 1 and self._root is not None:
            self.done.append(element)
            self._root.clear()
            self._parts = 0
        return element
