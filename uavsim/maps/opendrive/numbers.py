"""Numeric attributes of XML elements."""

import math
from typing import TypeAlias
from xml.etree import ElementTree

Element: TypeAlias = ElementTree.Element

_LARGEST = 1e8
_COEFFICIENTS = frozenset("bcd")  # may be large in pieces far below a millimetre


class Faulty(Exception):
    """Raised for a part of a file that cannot be used, at ``s_m`` of its road."""

    def __init__(self, text: str, s_m: float = 0.0) -> None:
        """Store the position."""
        super().__init__(text)
        self.s_m = s_m


def number(element: Element, key: str, default: float | None = None) -> float:
    """Return an attribute as a finite number.

    Raises:
        Faulty: the attribute is not a number in range, or is missing and has no default.
    """
    text = element.get(key)
    if text is None:
        if default is not None:
            return default
        raise Faulty(f"{element.tag} has no {key}")
    try:
        value = float(text)
    except ValueError as error:
        raise Faulty(f"{element.tag}: {key} is {text[:40]!r}, not a number") from error
    if not math.isfinite(value) or (abs(value) > _LARGEST and key not in _COEFFICIENTS):
        raise Faulty(f"{element.tag}: {key} is out of range: {text[:40]}")
    return value
