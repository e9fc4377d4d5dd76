"""All rows of a run as a table for people."""

from collections.abc import Iterable, Mapping
from typing import Any


def table(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return a Markdown table: name, value, unit, how."""
    lines = ["| row | value | unit | how |", "|---|---|---|---|"]
    for row in rows:
        how = str(row["how"]).replace("|", "\\|")
        lines.append(f"| {row['name']} | {float(row['value']):.4g} | {row['unit']} | {how} |")
    return "\n".join(lines) + "\n"
