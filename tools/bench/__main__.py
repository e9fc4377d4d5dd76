"""Run benchmarks and print JSON rows: ``scripts/bench [--only NAME ...] [--out FILE] [--compare OLD.json] [--table]``."""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from tools.bench import (
    agents,
    assemble_many,
    busy,
    clip,
    cost,
    evaluate,
    growth,
    live,
    merged,
    mini,
    others,
    pages,
    pipeline,
    roofline,
    same_bytes,
    scale,
    sparse,
    stages,
)
from tools.bench.compare import compared
from tools.bench.rows import Row
from tools.bench.table import table

BENCHES: dict[str, Callable[[], Iterator[Row]]] = {
    "start": live.start,
    "ticks": live.ticks,
    "stages": stages.rows,
    "images": live.images,
    "merged": merged.rows,
    "validate-mini": mini.validate,
    "labels": mini.labels,
    "busy": busy.rows,
    "pipeline": pipeline.rows,
    "roofline": roofline.rows,
    "scale": scale.rows,
    "growth": growth.rows,
    "bytes": same_bytes.rows,
    "others": lambda: others.rows(None),
    "assemble": assemble_many.rows,
    "evaluate": evaluate.rows,
    "evaluate-large": evaluate.large,
    "pages": pages.rows,
    "agents": agents.rows,
    "sparse": sparse.rows,
    "cost": lambda: cost.rows(2, 20),
    "twins": lambda: cost.twin_rows(2, 20),
    "clip": clip.rows,
}
LONG = (  # only when asked for by name
    "evaluate-large", "pages", "agents", "sparse", "clip", "cost", "stages", "twins",
    "validate-mini", "labels", "busy", "pipeline", "roofline", "scale", "growth", "bytes", "others",
)  # fmt: skip


def main() -> int:
    """Print one JSON list of rows; a benchmark that fails is a row's absence and exit code 1."""
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument("--only", action="append", choices=sorted(BENCHES), help="default: all but the long ones")
    parser.add_argument("--out", type=Path, help="write the rows here as well")
    parser.add_argument("--scenes", type=int, default=2, help="of the cost and the twins")
    parser.add_argument("--samples", type=int, default=20, help="of each of their scenes")
    parser.add_argument("--compare", type=Path, metavar="OLD.json", help="print a table of both on standard error")
    parser.add_argument("--table", action="store_true", help="print a Markdown table of all rows on standard error")
    parser.add_argument("--others", type=Path, metavar="FOLDER", help="checkouts of other writers, of the others")
    options = parser.parse_args()
    old = json.loads(options.compare.read_text()) if options.compare else None
    BENCHES["cost"] = lambda: cost.rows(options.scenes, options.samples)
    BENCHES["twins"] = lambda: cost.twin_rows(options.scenes, options.samples)
    BENCHES["others"] = lambda: others.rows(options.others)
    rows: list[dict[str, object]] = []
    failed = False
    for name in options.only or [n for n in BENCHES if n not in LONG]:
        try:
            for row in BENCHES[name]():
                rows.append(row.as_json())
                sys.stderr.write(f"{row.name}: {row.value:.4g} {row.unit}\n")
        except RuntimeError as error:
            failed = True
            sys.stderr.write(f"{name} failed: {error}\n")
    text = json.dumps(rows, indent=1) + "\n"
    sys.stdout.write(text)
    if options.table:
        sys.stderr.write(table(rows))
    if old is not None:
        sys.stderr.write(compared(old, rows))
    if options.out:
        options.out.write_text(text)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
