"""``uavsim status``: what is done, flying, quarantined and missing."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from uavsim.run.overview import Overview, overview
from uavsim.terminal import Screen, line, write_out

__all__ = ["register"]

_NAMES_SHOWN = 8


def register(app: typer.Typer) -> None:
    """Add the commands of this module to ``app``."""
    app.command(name="status")(status)


def status(
    folder: Annotated[str, typer.Argument(help="The dataset's folder, or its URL in an object store.")],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of a table.")] = False,
) -> None:
    """Show what is done, flying, quarantined and missing, and how long the rest takes. Changes nothing."""
    found = overview(folder)
    console = Screen()
    if as_json:
        write_out(found.as_json())
        return
    console.print(line(("bold", found.dataset), f" (seed {found.seed}) in {found.address}: {found.images} images"))
    console.print(_table(found))
    for entry in found.quarantined:
        console.print(line(("yellow", entry.scene), f" {len(entry.failures)} attempts, the last: {entry.failures[-1]}"))
    if found.quarantined:
        console.print(f"fly them anew: uavsim regenerate {folder}")
    if found.eta_s:
        left = f"{found.eta_s / 3600:.1f} h" if found.eta_s > 3600 else f"{found.eta_s / 60:.0f} min"
        console.print(f"about {left} to go with {max(found.slots, 1)} simulator(s)")


def _table(found: Overview) -> Table:
    table = Table("state", "scenes", "names", box=None, pad_edge=False)
    rows = {
        "committed": [entry.scene for entry in found.committed],
        "flying": list(found.flying),
        "interrupted": list(found.interrupted),
        "quarantined": [entry.scene for entry in found.quarantined],
    }
    for state, names in rows.items():
        table.add_row(state, str(len(names)), _shown(names))
    if found.missing is None:
        table.add_row("missing", "?", "the dataset's YAML cannot be read any more, or has changed")
    else:
        table.add_row("missing", str(len(found.missing)), _shown(list(found.missing)))
    return table


def _shown(names: list[str]) -> str:
    more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    return " ".join(names[:_NAMES_SHOWN]) + more
