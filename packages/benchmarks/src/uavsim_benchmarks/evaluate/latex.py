"""Scores as rows of a LaTeX table."""

from __future__ import annotations

from typing import Final

from uavsim_benchmarks.evaluate.outcome import Outcome

__all__ = ["latex_rows"]

_ESCAPES: Final = {"_": r"\_", "%": r"\%", "&": r"\&", "#": r"\#"}


def latex_rows(outcome: Outcome, *, name: str) -> str:
    """Return a heading and a row with the headline scores, to four digits; ``name`` is the row's name."""
    heading = [_safe(outcome.benchmark), *(_safe(score) for score in outcome.headline)]
    row = [_safe(name), *(_number(outcome.scores.get(score)) for score in outcome.headline)]
    return "\n".join(" & ".join(cells) + r" \\" for cells in (heading, row)) + "\n"


def _number(value: object) -> str:
    return f"{value:.4f}" if isinstance(value, (int, float)) and value == value else "--"


def _safe(text: str) -> str:
    return "".join(_ESCAPES.get(character, character) for character in text)
