"""Scores as rows of a LaTeX table."""

from uavsim.escape import latex_text
from uavsim_benchmarks.evaluate.outcome import Outcome

__all__ = ["latex_rows"]


def latex_rows(outcome: Outcome, *, name: str) -> str:
    """Return a heading and a row of headline scores with four digits; ``name`` labels the row."""
    heading = [latex_text(outcome.benchmark), *(latex_text(score) for score in outcome.headline)]
    row = [latex_text(name), *(_number(outcome.scores.get(score)) for score in outcome.headline)]
    return "\n".join(" & ".join(cells) + r" \\" for cells in (heading, row)) + "\n"


def _number(value: object) -> str:
    return f"{value:.4f}" if isinstance(value, (int, float)) and value == value else "--"
