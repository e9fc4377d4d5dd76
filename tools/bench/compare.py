"""Two runs of the benchmarks side by side."""

from collections.abc import Iterable, Mapping
from typing import Any


def compared(old: Iterable[Mapping[str, Any]], new: Iterable[Mapping[str, Any]]) -> str:
    """Return a table of the rows that both have: name, old value, new value, new / old, unit."""
    before = {row["name"]: row for row in old}
    lines = ["| row | before | now | now / before | unit |", "|---|---|---|---|---|"]
    for row in new:
        if row["name"] in before:
            was, now = float(before[row["name"]]["value"]), float(row["value"])
            ratio = f"{now / was:.2f}" if was else "-"
            lines.append(f"| {row['name']} | {was:.4g} | {now:.4g} | {ratio} | {row['unit']} |")
    return "\n".join(lines) + "\n"
