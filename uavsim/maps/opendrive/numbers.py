"""Numbers of an XML element, or why there is none."""

import math
from typing import TypeAlias
from xml.etree import ElementTree

Element: TypeAlias = ElementTree.Element

_LARGEST = 1e8
_COEFFICIENTS = frozenset("bcd")  # of pieces that are far shorter than a millimetre: anything


class Faulty(Exception):
    """Part of a file cannot be used; the message says why, ``s_m`` where."""

    def __init__(self, text: str, s_m: float = 0.0) -> None:
        """Remember where."""
        super().__init__(text)
        self.s_m = s_m


def number(element: Element, key: str, default: float | None = None) -> float:
    """Return an attribute as a finite number.

    Raises:
        Faulty: it is none, or not there and has no default.
    """
    text = element.get(key)
    if text is None:
        if default is not None:
            return default
        raise Faulty(f"{element.tag} has no {key}")
    try:
        value = float(text)
    except ValueError as error:
        raise Faulty(f"{element.tag}: {key} is {text[:40]!r}, no number") from error
    if not math.isfinite(value) or (abs(value) > _LARGEST and key not in _COEFFICIENTS):
        raise Faulty(f"{element.tag}: {key} is {text[:40]}")
    return value
