"""``uavsim events``, ``collaboration`` and ``questions``: labels by rule, drone values and questions of a dataset."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from uavsim.access import Dataset, open_folder
from uavsim.config.events import EventThresholds
from uavsim.config.library import Library
from uavsim.files.result_folder import check_result_beside
from uavsim.records.channels import agent_name
from uavsim.terminal import Screen, write_out
from uavsim.typing import JsonDict

__all__ = ["collaboration", "events", "questions"]

Folder = Annotated[Path, typer.Argument(help="The dataset's folder, which has a version folder such as v1.0-mini.")]
Out = Annotated[Path, typer.Option(help="Folder for the result, outside of the dataset.")]
Version = Annotated[str | None, typer.Option(help="Version folder; default: the only one.")]
Thresholds = Annotated[str | None, typer.Option(help="Named thresholds (uavsim list events) or a YAML file.")]
Workers = Annotated[int | None, typer.Option(min=1, max=256, help="Processes; default: one per core, at most 8.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the intended result; write nothing.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]


def events(
    folder: Folder,
    *,
    out: Out,
    twins: Annotated[
        Path | None, typer.Option(help="Folder that uavsim twins wrote; twins prove causes of poor visibility.")
    ] = None,
    collaboration: Annotated[
        Path | None, typer.Option(help="Folder for the files of `uavsim collaboration`, written in the same pass.")
    ] = None,
    thresholds: Thresholds = None,
    version: Version = None,
    workers: Workers = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Run ``uavsim events``."""
    from uavsim_benchmarks.labels.twin_tables import read_twins
    from uavsim_benchmarks.labels.write_events import write_events

    request = _Request(folder, out, version, thresholds, dry_run=dry_run, as_json=as_json)
    data, levels = request.open(collaboration)
    tables = None if twins is None else read_twins(twins)
    request.carry_out(
        data,
        lambda: write_events(data, out, levels, twins=tables, collaboration=collaboration, workers=workers),
        _show_events,
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
    """Run ``uavsim collaboration``."""
    from uavsim_benchmarks.labels.values import write_values

    request = _Request(folder, out, version, thresholds, dry_run=dry_run, as_json=as_json)
    data, levels = request.open()
    request.carry_out(data, lambda: write_values(data, out, levels), _show_values)


def questions(
    folder: Folder,
    *,
    out: Out,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    per_task: Annotated[int, typer.Option(min=1, max=100_000, help="Maximum number of questions of each task.")] = 100,
    thresholds: Thresholds = None,
    version: Version = None,
    workers: Workers = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Run ``uavsim questions``."""
    from uavsim_benchmarks.questions.write_questions import write_questions

    request = _Request(folder, out, version, thresholds, dry_run=dry_run, as_json=as_json)
    data, levels = request.open()
    request.carry_out(
        data,
        lambda: write_questions(data, out, levels, seed=seed, per_task=per_task, workers=workers),
        _show_questions,
    )


@dataclass(frozen=True, slots=True)
class _Request:
    """The common options of the three commands."""

    folder: Path
    out: Path
    version: str | None
    thresholds: str | None
    dry_run: bool = field(kw_only=True)
    as_json: bool = field(kw_only=True)

    def open(self, *more: Path | None) -> tuple[Dataset, EventThresholds]:
        """Open the dataset and the thresholds, and refuse result folders inside the dataset.

        Args:
            more: further folders for results.
        """
        for out in (self.out, *(path for path in more if path is not None)):
            check_result_beside(self.folder, out)
        levels = EventThresholds() if self.thresholds is None else Library.of().events(self.thresholds).model
        return open_folder(self.folder, self.version), levels

    def carry_out(
        self, data: Dataset, write: Callable[[], JsonDict], show: Callable[[Screen, Path, JsonDict], None]
    ) -> None:
        """Write the result and print its summary; a dry run only prints the plan."""
        if self.dry_run:
            self._print_intent(data)
            return
        found = write()
        if self.as_json:
            write_out(json.dumps({"out": str(self.out), **found}))
        else:
            show(Screen(), self.out, found)

    def _print_intent(self, data: Dataset) -> None:
        found: JsonDict = {"out": str(self.out), "scenes": len(data), "samples": sum(map(len, data))}
        if self.as_json:
            write_out(json.dumps(found))
            return
        Screen().print(
            f"{data.root}: {found['scenes']} scenes with {found['samples']} samples would be read, and the result written to "
            f"{self.out}; nothing was written (--dry-run)"
        )


def _show_events(screen: Screen, out: Path, found: JsonDict) -> None:
    for name in ("quality", "degradations", "why"):
        screen.print(f"{name}: " + (", ".join(f"{key} {count}" for key, count in found[name].items()) or "none"))
    hidden = found["occluded"]
    screen.print(
        f"occluded: {hidden['all']}, by a named actor {hidden['occluder_named']}, of these with a twin "
        f"{hidden['with_a_twin']}, proven {hidden['proven']}"
    )
    if "collaboration" in found:
        _show_worth(screen, found["collaboration"])
    screen.print(
        f"wrote {out}: {found['images']} images of {found['samples']} samples, {found['images_that_ask']} ask for help, "
        f"{found['seconds']:.1f} s"
    )


def _show_values(screen: Screen, out: Path, found: JsonDict) -> None:
    _show_worth(screen, found)
    screen.print(f"wrote {out}: {found['objects']} objects in {found['samples']} samples, {found['seconds']:.1f} s")


def _show_worth(screen: Screen, found: JsonDict) -> None:
    table = Table("helps", *map(agent_name, found["drones"]), "Shapley", "gain", box=None, pad_edge=False)
    table.title, table.title_justify = "objects that an agent (row) sees and another (column) does not", "left"
    worth = zip(found["worth"]["shapley_seen"], found["worth"]["gain_seen"], strict=True)
    for drone, row, (shapley, gain) in zip(found["drones"], found["helps"]["objects"], worth, strict=True):
        table.add_row(agent_name(drone), *(f"{value:.0f}" for value in row), f"{shapley:.1f}", f"{gain:.0f}")
    screen.print(table)


def _show_questions(screen: Screen, out: Path, found: JsonDict) -> None:
    table = Table("task", "questions", "text model", "majority answer", "note", box=None, pad_edge=False)
    without = {name: f"needs {requirement}" for name, requirement in found["tasks_without_questions"].items()}
    for name, task in found["tasks"].items():
        blind = task.get("blind", {})
        figures = (f"{blind[model]:.3f}" if blind else "-" for model in ("text model", "majority answer"))
        table.add_row(name, str(task["questions"]), *figures, without.get(name, task["prior"]))
    screen.print(table)
    counts = found["positions"]["counts"]
    places = ", ".join(f"{letter} {count}" for letter, count in counts.items())
    screen.print(f"right answers: {places}; faults {len(found['faults'])}, duplicates {found['duplicates']}")
    screen.print(f"wrote {out}: {found['questions']} questions, {found['seconds']:.1f} s")
