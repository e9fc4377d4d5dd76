"""``uavsim status``: committed, flying, quarantined and missing scenes."""

import json
import shlex
import time
from collections import defaultdict
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table

from uavsim.environment import own_command
from uavsim.errors import InputError
from uavsim.run.bill import SceneBill, bill_of, total
from uavsim.run.failures import FailedScene, failed_scenes
from uavsim.run.overview import Overview, overview
from uavsim.store.places import open_output
from uavsim.terminal import Screen, count, duration, line, size, write_out

_NAMES_SHOWN = 8
_LOOK_S = 2.0


def status(
    folder: Annotated[str, typer.Argument(help="The dataset's folder, or its URL in an object store.")],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")] = False,
    watch: Annotated[
        bool, typer.Option("--watch", "-w", help="Repeat every 2 s until all scenes are done or Ctrl-C.")
    ] = False,
    failed: Annotated[
        bool, typer.Option("--failed", help="The scenes in quarantine: reasons, times, simulators and the last image.")
    ] = False,
    bill: Annotated[
        bool,
        typer.Option("--bill", help="Cost so far: simulator and processor time, bytes and failures, by machine."),
    ] = False,
) -> None:
    """Run ``uavsim status``."""
    modes = {"--watch": watch, "--json": watch and as_json, "--bill": bill, "--failed": failed}
    chosen = [name for name, is_on in modes.items() if is_on]
    if len(chosen) > 1:
        raise InputError(f"{chosen[0]} and {chosen[1]}: give one of them")
    if failed:
        scenes = failed_scenes(folder)
        write_out(json.dumps([asdict(scene) for scene in scenes])) if as_json else _print_failed(scenes, folder)
        return
    found = overview(folder)
    if bill:
        bills = bill_of(open_output(folder))
        if as_json:
            by_scene = {name: asdict(row) for name, row in bills.items()}
            write_out(json.dumps({"scenes": by_scene, "total": asdict(total(bills.values()))}))
            return
        Screen().print(_bill_table(bills))
        return
    if as_json:
        write_out(found.as_json())
        return
    screen = Screen()
    if not watch:
        for part in _parts(found, folder):
            screen.print(part)
        return
    with Live(Group(*_parts(found, folder)), console=screen, auto_refresh=False) as live:
        try:
            while found.missing or found.flying or found.interrupted:
                time.sleep(_LOOK_S)
                found = overview(folder)
                live.update(Group(*_parts(found, folder)), refresh=True)
        except KeyboardInterrupt:
            return


def _print_failed(scenes: list[FailedScene], folder: str) -> None:
    screen = Screen()
    for scene in scenes:
        screen.print(line(("yellow", scene.scene), f": {count(len(scene.attempts), 'attempt')} failed"))
        for attempt in scene.attempts:
            started = f"{attempt.at[:19].replace('T', ' ')} UTC" if attempt.at else ""
            source = ", ".join(filter(None, (started, attempt.simulator))) or "not logged"
            screen.print(line(f"  {source}: {attempt.reason}"))
        if scene.last_image:
            screen.print(line(f"  last image: {scene.last_image}"))
    screen.print(
        line(
            f"fly them again: {own_command()} regenerate {shlex.quote(folder)} --failed"
            if scenes
            else "no scene is quarantined"
        )
    )


def _parts(found: Overview, folder: str) -> list[RenderableType]:
    """Return the lines of the status report."""
    images = count(found.images, "image")
    parts: list[RenderableType] = [
        line(("bold", found.dataset), f" (seed {found.seed}) in {found.address}: {images}"),
        _table(found),
    ]
    for entry in found.quarantined:
        parts.append(line(("yellow", entry.scene), f" {len(entry.failures)} attempts, the last: {entry.failures[-1]}"))
    if found.quarantined:
        parts.append(line(f"fly them again: {own_command()} regenerate {shlex.quote(folder)} --failed"))
    if found.not_asked:
        parts.append(line(f"{found.not_asked} more scenes of the dataset were not requested"))
    if found.eta_s:
        remaining = f"{found.eta_s / 3600:.1f} h" if found.eta_s > 3600 else f"{found.eta_s / 60:.0f} min"
        parts.append(line(f"about {remaining} left with {count(max(found.slots, 1), 'simulator')}"))
    return parts


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


def _bill_table(bills: dict[str, SceneBill]) -> Table:
    """Lay out the costs, a row per machine; the row "unfinished" is of scenes without a commit."""
    machines: dict[str, list[SceneBill]] = defaultdict(list)
    for row in bills.values():
        machines[row.machine or "unfinished"].append(row)
    heads = ("machine", "scenes", "images", "simulators", "lost", "failed", "processors", "files")
    table = Table(*heads, box=None, pad_edge=False)
    for name, rows in (*sorted(machines.items()), ("all", list(bills.values()))):
        row = total(rows, machine=name)
        numbers = (
            duration(row.simulator_s),
            duration(row.lost_s),
            str(row.failed),
            duration(row.core_s),
            size(row.size_bytes),
        )
        table.add_row(name, str(len(rows)), str(row.images), *numbers)
    return table
