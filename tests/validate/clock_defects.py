"""Planted defects of clocks, for the flown dataset of ``tests.e2e.test_clocks``."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.validate.disk import edited_table

Rows = list[dict[str, Any]]


def _edit(table: str, change: Callable[[Rows], None]) -> Callable[[Path, Path], None]:
    def plant(out: Path, tables: Path) -> None:
        with edited_table(tables, table) as rows:
            change(rows)

    return plant


def _lost(out: Path, tables: Path) -> None:
    (tables / "clock_reading.json").unlink()


def _add(row: int, key: str, more: float) -> Callable[[Rows], None]:
    def change(rows: Rows) -> None:
        rows[row][key] += more

    return change


def _first_gone(rows: Rows) -> None:
    del rows[0]


def _swap(rows: Rows) -> None:
    rows[0]["sender"], rows[0]["receiver"] = rows[0]["receiver"], rows[0]["sender"]


def _early(rows: Rows) -> None:
    arrived = next(row for row in rows if row["arrival"])
    arrived["arrival"] = arrived["timestamp"] - 1


PLANTED_CLOCKS: dict[str, tuple[Callable[[Path, Path], None], str]] = {
    "asked for half a step earlier": (_edit("clock_reading", _add(3, "asked_us", -5100.0)), "clock.reading"),
    "a residual of another image": (_edit("clock_reading", _add(3, "residual_us", 2.5)), "clock.reading"),
    "a stamp of another clock": (_edit("clock_reading", _add(3, "agent_timestamp", 700)), "clock.reading"),
    "a clock that is faster": (_edit("clock", _add(0, "drift_ppm", 400.0)), "clock.reading"),
    "a sweep without reading": (_edit("clock_reading", _first_gone), "clock.reading"),
    "no readings at all": (_lost, "clock.reading"),
    "a message that nobody sent": (_edit("message", _add(0, "timestamp", 1)), "clock.message"),
    "a message the other way": (_edit("message", _swap), "clock.message"),
    "a message from the future": (_edit("message", _early), "clock.message"),
}
"""Name -> (function that plants the defect, code of the finding)."""
PLANTED = {name: code for name, (_, code) in PLANTED_CLOCKS.items()}
