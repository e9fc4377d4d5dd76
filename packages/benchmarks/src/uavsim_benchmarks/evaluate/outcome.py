"""Results of an evaluation: figures for scripts, tables for people, curves for a page."""

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
        version: of a dataset; default: the only one there.
        split: of a dataset; default: see the metric.
        options: ``name=value`` pairs that only one metric knows, as text.
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
            InputError: it is none, or not a finite one.
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
            InputError: it is none.
        """
        number = self.number(name, default)
        if number != int(number) or not 0 <= number <= most:
            raise InputError(f"--option {name}={self.options[name]}: not a whole number from 0 to {most}")
        return int(number)

    def path(self, name: str) -> Path | None:
        """Return an option as a path, None where it is not given."""
        return Path(self.options[name]) if name in self.options else None


@dataclass(frozen=True, slots=True)
class Table:
    """Rows for people; the first column names the row."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """One diagram: lines by name, (points,) x and y each.

    ``steps`` draws the outline of bars, x are their edges; ``ticks`` names bars; ``log_x`` is for rates that span decades.
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
        scores: everything, with the metrics' published names in snake_case; numbers may be NaN here, None in the JSON.
        headline: names of the scores that a paper prints, in order.
        tables: for people.
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
        reported: JsonDict = plain({"benchmark": self.benchmark, "mode": self.mode} | self.scores)
        return reported


def histogram(title: str, x_label: str, values: dict[str, FloatArray], *, highest: float) -> Curve:
    """Return how errors are spread: the share of each line's values by bin; larger values are in the last bin.

    Args:
        title: of the diagram.
        x_label: what is measured, with its unit.
        values: (N,) by name of the line; NaN is left out.
        highest: where the last bin ends.
    """
    edges = np.linspace(0.0, highest, _BINS + 1)
    lines = {}
    for name, of_line in values.items():
        known = np.minimum(of_line[~np.isnan(of_line)], highest)
        if len(known):
            lines[name] = (edges, np.histogram(known, edges)[0] / len(known))
    return Curve(title, x_label, "share of matches", lines, steps=True)


def thinned(lines: dict[str, tuple[FloatArray, FloatArray]]) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Return lines, (points,) x and y, of at most a thousand points each: a page does not grow with the detections."""
    kept = {}
    for name, (x, y) in lines.items():
        rows = np.unique(np.linspace(0, len(x) - 1, _POINTS).astype(np.int64)) if len(x) > _POINTS else slice(None)
        kept[name] = (x[rows], y[rows])
    return kept


def plain(value: Any) -> Any:
    """Return ``value`` with arrays as lists, numpy numbers as Python's, and None for what is not finite."""
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
