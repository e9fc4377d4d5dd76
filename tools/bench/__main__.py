"""Run benchmarks and print JSON rows: ``scripts/bench [--only NAME ...] [--out FILE] [--compare OLD.json]``."""

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tools.bench import Row, busy, cost, start

BENCHES: dict[str, Callable[[argparse.Namespace], Iterator[Row]]] = {
    "start": lambda _: start.rows(),
    "busy": lambda _: busy.rows(),
    "cost": lambda options: cost.rows(options.scenes, options.samples),
}


def compared(old: Iterable[Mapping[str, Any]], new: Iterable[Mapping[str, Any]]) -> str:
    """Return a table of the rows that both runs have: name, old value, new value, new / old, unit."""
    before = {row["name"]: row for row in old}
    lines = ["| row | before | now | now / before | unit |", "|---|---|---|---|---|"]
    for row in new:
        if row["name"] in before:
            was, now = float(before[row["name"]]["value"]), float(row["value"])
            ratio = f"{now / was:.2f}" if was else "-"
            lines.append(f"| {row['name']} | {was:.4g} | {now:.4g} | {ratio} | {row['unit']} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Print one JSON list of rows; a failed benchmark has no row and gives exit code 1."""
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument("--only", action="append", choices=sorted(BENCHES), help="default: start")
    parser.add_argument("--out", type=Path, help="write the rows here as well")
    parser.add_argument("--scenes", type=int, default=2, help="scenes of the benchmark cost")
    parser.add_argument("--samples", type=int, default=20, help="samples in each of these scenes")
    parser.add_argument("--compare", type=Path, metavar="OLD.json", help="print a table with these rows to stderr")
    options = parser.parse_args()
    old = json.loads(options.compare.read_text()) if options.compare else None
    rows: list[dict[str, Any]] = []
    failed = False
    for name in options.only or ["start"]:
        try:
            for row in BENCHES[name](options):
                rows.append(row.as_json())
                sys.stderr.write(f"{row.name}: {row.value:.4g} {row.unit}\n")
        except RuntimeError as error:
            failed = True
            sys.stderr.write(f"{name} failed: {error}\n")
    text = json.dumps(rows, indent=1) + "\n"
    sys.stdout.write(text)
    if old is not None:
        sys.stderr.write(compared(old, rows))
    if options.out:
        options.out.write_text(text)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
