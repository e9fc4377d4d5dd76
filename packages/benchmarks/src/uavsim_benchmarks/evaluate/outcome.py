"""Requests and results of an evaluation: scores, tables and curves."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np

from uavsim.errors import InputError
from uavsim.typing import FloatArray, JsonDict

__all__ = ["Curve", "EvaluationRequest", "Outcome", "Row", "Table", "histogram", "plain", "thinned"]

_BINS: Final = 40
_POINTS: Final = 1000
Row: TypeAlias = tuple[str | float | int | None, ...]


@dataclass(frozen=True, slots=True)
class EvaluationRequest:
    """A metric's request from the command line.

    Args:
        truth: a dataset's folder or the benchmark's own ground-truth file or folder.
        results: the benchmark's own result file.
        mode: ``official`` or ``corrected``.
        version: version folder of a dataset; default: the only one there.
        split: split of a dataset; default: see the metric.
        options: ``name=value`` pairs of the metric, as text.
    """

    truth: Path
    results: Path
    mode: str = "official"
    version: str | None = None
    split: str | None = None
    options: dict[str, str] = field(default_factory=dict)

    def number(self, name: str, default: float) -> float:
        """Return an option as a number.

        Raises:
            InputError: the option is not a finite number.
        """
        try:
            number = float(self.options.get(name, default))
        except ValueError as error:
            raise InputError(f"--option {name}={self.options[name]}: not a number") from error
        if not np.isfinite(number):
            raise InputError(f"--option {name}={self.options[name]}: not a finite number")
        return number

    def count(self, name: str, default: int, *, most: int = 1_000_000) -> int:
        """Return an option as a whole number from 0 to ``most``.

        Raises:
            InputError: the option is not a whole number in this range.
        """
        number = self.number(name, default)
        if number != int(number) or not 0 <= number <= most:
            raise InputError(f"--option {name}={self.options[name]}: not a whole number from 0 to {most}")
        return int(number)

    def path(self, name: str) -> Path | None:
        """Return an option as a path, or None."""
        return Path(self.options[name]) if name in self.options else None


@dataclass(frozen=True, slots=True)
class Table:
    """A table to print; the first column names the row."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """One diagram: lines by name, (points,) x and y each.

    With ``steps`` the lines are outlines of bars and x their edges; ``ticks`` labels bars; ``log_x`` uses a logarithmic axis.
    """

    title: str
    x_label: str
    y_label: str
    lines: dict[str, tuple[FloatArray, FloatArray]]
    steps: bool = False
    log_x: bool = False
    ticks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """Scores of one result.

    Args:
        benchmark: the metric's name.
        mode: ``official`` or ``corrected``.
        scores: all scores by their published names in snake_case; NaN becomes null in JSON.
        headline: names of the main scores, in order.
        tables: for the terminal and the page.
        curves: for the page.
    """

    benchmark: str
    mode: str
    scores: JsonDict
    headline: tuple[str, ...]
    tables: tuple[Table, ...] = ()
    curves: tuple[Curve, ...] = ()

    def as_json(self) -> JsonDict:
        """Return the scores as plain JSON."""
        content: JsonDict = plain({"benchmark": self.benchmark, "mode": self.mode} | self.scores)
        return content


def histogram(title: str, x_label: str, values: dict[str, FloatArray], *, highest: float) -> Curve:
    """Return a normalised histogram of each line's values; the last bin includes larger values.

    Args:
        title: title of the diagram.
        x_label: quantity and unit.
        values: (N,) by line; NaN is left out.
        highest: upper edge of the last bin.
    """
    edges = np.linspace(0.0, highest, _BINS + 1)
    lines = {}
    for name, of_line in values.items():
        known = np.minimum(of_line[~np.isnan(of_line)], highest)
        if len(known):
            lines[name] = (edges, np.histogram(known, edges)[0] / len(known))
    return Curve(title, x_label, "share of matches", lines, steps=True)


def thinned(lines: dict[str, tuple[FloatArray, FloatArray]]) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Thin lines, (points,) x and y, to at most a thousand points, which bounds the size of a page."""
    thin = {}
    for name, (x, y) in lines.items():
        rows = np.unique(np.linspace(0, len(x) - 1, _POINTS).astype(np.int64)) if len(x) > _POINTS else slice(None)
        thin[name] = (x[rows], y[rows])
    return thin


def plain(value: Any) -> Any:
    """Convert arrays to lists, NumPy numbers to Python's, and numbers that are not finite to None."""
    if isinstance(value, dict):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
