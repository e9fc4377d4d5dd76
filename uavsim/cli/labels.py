"""``uavsim events``, ``collaboration`` and ``questions``: what a data set's images say of themselves and of each other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from uavsim.access import Dataset, open_folder
from uavsim.config.events import EventThresholds
from uavsim.config.library import Library
from uavsim.errors import InputError
from uavsim.files.result_folder import check_result_folder
from uavsim.terminal import Screen, write_out
from uavsim.typing import JsonDict

__all__ = ["register"]

Folder = Annotated[Path, typer.Argument(help="The data set's folder: the one that holds v1.0-mini or the like.")]
Out = Annotated[Path, typer.Option(help="Folder for the result, outside of the data set.")]
Version = Annotated[str | None, typer.Option(help="Version folder; default: the only one.")]
Thresholds = Annotated[str | None, typer.Option(help="Other thresholds: a name or a YAML file (flight_plans/events).")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be written; write nothing.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON object instead of text.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this module to ``app``."""
    app.command(name="events")(events)
    app.command(name="collaboration")(collaboration)
    app.command(name="questions")(questions)


def events(
    folder: Folder,
    *,
    out: Out,
    twins: Annotated[Path | None, typer.Option(help="Folder of `uavsim twins`: labels say what a twin proves.")] = None,
    thresholds: Thresholds = None,
    version: Version = None,
    workers: Annotated[int | None, typer.Option(min=1, max=256, help="Processes; default: one a core.")] = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Label images and samples by rule: quality, degradations, what hinders objects, when to ask whom for what, and why."""
    from uavsim.labels.run import write_events
    from uavsim.labels.twin_tables import read_twins

    data = _opened(folder, out, version)
    levels = _thresholds(thresholds)
    tables = None if twins is None else read_twins(twins)
    if dry_run:
        _say_intent(data, out, as_json=as_json)
        return
    told = write_events(data, out, levels, twins=tables, workers=workers)
    if as_json:
        write_out(json.dumps({"out": str(out), **told}))
        return
    screen = Screen()
    for name in ("quality", "degradations", "why"):
        screen.print(f"{name}: " + (", ".join(f"{key} {count}" for key, count in told[name].items()) or "none"))
    hidden = told["occluded"]
    screen.print(
        f"occluded: {hidden['all']}, by a named actor {hidden['occluder_named']}, of these with a twin "
        f"{hidden['with_a_twin']}, proven {hidden['proven']}"
    )
    screen.print(
        f"wrote {out}: {told['images']} images of {told['samples']} samples, {told['images_that_ask']} ask for help, "
        f"{told['seconds']:.1f} s"
    )


def collaboration(
    folder: Folder,
    *,
    out: Out,
    thresholds: Thresholds = None,
    version: Version = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Say what each drone is worth for each object, exactly, over all subsets of the swarm; and who helps whom."""
    from uavsim.labels.values import write_values

    data = _opened(folder, out, version)
    levels = _thresholds(thresholds)
    if dry_run:
        _say_intent(data, out, as_json=as_json)
        return
    told = write_values(data, out, levels)
    if as_json:
        write_out(json.dumps({"out": str(out), **told}))
        return
    screen = Screen()
    table = Table("helps", *(f"drone {drone}" for drone in told["drones"]), "Shapley", "gain", box=None, pad_edge=False)
    table.title, table.title_justify = "objects that a drone (row) sees and another (column) does not", "left"
    worth = zip(told["worth"]["shapley_seen"], told["worth"]["gain_seen"], strict=True)
    for drone, row, (shapley, gain) in zip(told["drones"], told["helps"]["objects"], worth, strict=True):
        table.add_row(f"drone {drone}", *(f"{value:.0f}" for value in row), f"{shapley:.1f}", f"{gain:.0f}")
    screen.print(table)
    screen.print(f"wrote {out}: {told['objects']} objects in {told['samples']} samples, {told['seconds']:.1f} s")


def questions(
    folder: Folder,
    *,
    out: Out,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same questions.")] = 0,
    per_task: Annotated[int, typer.Option(min=1, max=100_000, help="Questions of each task, at most.")] = 100,
    thresholds: Thresholds = None,
    version: Version = None,
    workers: Annotated[int | None, typer.Option(min=1, max=256, help="Processes; default: one a core.")] = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Write questions with four options in AirCopBench's files, with no language model, and a report of their quality."""
    from uavsim.questions.run import write_questions

    data = _opened(folder, out, version)
    levels = _thresholds(thresholds)
    if dry_run:
        _say_intent(data, out, as_json=as_json)
        return
    told = write_questions(data, out, levels, seed=seed, per_task=per_task, workers=workers)
    if as_json:
        write_out(json.dumps({"out": str(out), **told}))
        return
    screen = Screen()
    table = Table("task", "questions", "text model", "majority answer", "note", box=None, pad_edge=False)
    for name, task in told["tasks"].items():
        blind = task.get("blind", {})
        figures = (f"{blind[model]:.3f}" if blind else "-" for model in ("text model", "majority answer"))
        table.add_row(name, str(task["questions"]), *figures, task["prior"])
    screen.print(table)
    counts = told["positions"]["counts"]
    places = ", ".join(f"{letter} {count}" for letter, count in counts.items())
    screen.print(f"right answers: {places}; faults {len(told['faults'])}, duplicates {told['duplicates']}")
    screen.print(f"wrote {out}: {told['questions']} questions, {told['seconds']:.1f} s")


def _opened(folder: Path, out: Path, version: str | None) -> Dataset:
    """Open the data set, and refuse a place in it for the result."""
    check_result_folder(out)
    if out.resolve() == folder.resolve() or folder.resolve() in out.resolve().parents:
        raise InputError(f"{out} is the data set itself, or in it: name another folder for the result")
    return open_folder(folder, version)


def _thresholds(name: str | None) -> EventThresholds:
    return EventThresholds() if name is None else Library.of().events(name).model


def _say_intent(data: Dataset, out: Path, *, as_json: bool) -> None:
    told: JsonDict = {"out": str(out), "scenes": len(data), "samples": sum(map(len, data))}
    if as_json:
        write_out(json.dumps(told))
        return
    Screen().print(
        f"{data.root}: {told['scenes']} scenes with {told['samples']} samples would be read, and the result written to {out}; "
        "nothing was written (--dry-run)"
    )
