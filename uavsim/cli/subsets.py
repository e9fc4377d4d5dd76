"""``uavsim select``, ``merge``, ``split`` and ``diff``: make datasets from finished ones, and compare two."""

from pathlib import Path
from typing import Annotated

import typer

from uavsim.errors import DatasetError, InputError
from uavsim.plan.numbering import parse_numbers
from uavsim.records.ingredients import AGENT_KINDS
from uavsim.registry import pick
from uavsim.run import subsets
from uavsim.terminal import Screen, count

Dataset = Annotated[Path, typer.Argument(help="The dataset's folder.")]
NewFolder = Annotated[Path, typer.Option("--out", help="Folder of the new dataset.")]


def select(
    folder: Dataset,
    *,
    out: NewFolder,
    scenes: Annotated[str | None, typer.Option(help="Scene numbers, 0-4,7.")] = None,
    town: Annotated[list[str] | None, typer.Option(help="Scenes in this town; repeat for more.")] = None,
    weather: Annotated[list[str] | None, typer.Option(help="Scenes in this weather; repeat for more.")] = None,
    split: Annotated[list[str] | None, typer.Option(help="Scenes of this split; repeat for more.")] = None,
    agent: Annotated[
        list[str] | None, typer.Option(help="Scenes with this kind of agent: drone, vehicle, roadside.")
    ] = None,
    event: Annotated[str | None, typer.Option(help="With --events: scenes with this event, such as occluded.")] = None,
    events: Annotated[Path | None, typer.Option(help="Folder that uavsim events wrote.")] = None,
    label: Annotated[
        list[str] | None, typer.Option("--class", help="Scenes in which a visible object has this class.")
    ] = None,
    min_visibility: Annotated[
        int, typer.Option(min=1, max=4, help="With --class: least visibility level of that object.")
    ] = 1,
    within_m: Annotated[
        float | None, typer.Option(min=0.0, help="With --class: greatest distance of that object from a drone, metres.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the scenes; write nothing.")] = False,
) -> None:
    """Run ``uavsim select``."""
    if (event is None) != (events is None):
        raise InputError("--event and --events go together: --event occluded --events out/demo-events")
    scene_filter = subsets.SceneFilter(
        numbers=parse_numbers(scenes) if scenes is not None else None,
        towns=tuple(town or ()),
        weathers=tuple(weather or ()),
        splits=tuple(split or ()),
        agents=tuple(pick(AGENT_KINDS, kind, what="kind of agent").name for kind in agent or ()),
        events=subsets.scenes_with(event, events) if event is not None and events is not None else None,
        classes=tuple(label or ()),
        least_visibility=min_visibility,
        within_m=within_m,
    )
    if scene_filter == subsets.SceneFilter():
        raise InputError("no condition is given; use --scenes, --town, --weather, --split, --agent, --event or --class")
    chosen = subsets.choose(folder, scene_filter)
    if dry_run:
        Screen().print(f"{count(len(chosen), 'scene')}: {' '.join(scene.name for scene in chosen)}")
        return
    _report(out, subsets.select(chosen, out), scenes=len(chosen))


def merge(
    folders: Annotated[list[Path], typer.Argument(help="Folders of the datasets.")],
    *,
    out: NewFolder,
) -> None:
    """Run ``uavsim merge``."""
    if len(folders) < 2:
        raise InputError("merge needs at least two datasets")
    _report(out, subsets.merge(folders, out), scenes=sum(len(subsets.scenes_of(folder)) for folder in folders))


def split(
    folder: Dataset,
    *,
    out: NewFolder,
    assign: Annotated[list[str], typer.Option(help="SPLIT=NUMBERS, uav_val=3,7-9; repeat for more.")],
    rest: Annotated[str | None, typer.Option(help="Split of all other scenes; default: none.")] = None,
) -> None:
    """Run ``uavsim split``."""
    assigned: dict[str, tuple[int, ...]] = {}
    for text in assign:
        name, equals, numbers = text.partition("=")
        if not (name and equals):
            raise InputError(f"--assign {text}: write SPLIT=NUMBERS, for example uav_val=3,7-9")
        assigned[name] = parse_numbers(numbers, what=f"--assign {name}=")
    _report(out, subsets.split(folder, out, assigned, rest=rest), scenes=len(subsets.scenes_of(folder)))


def diff(
    first: Annotated[Path, typer.Argument(help="Folder of the first dataset.")],
    second: Annotated[Path, typer.Argument(help="Folder of the second dataset.")],
) -> None:
    """Run ``uavsim diff``."""
    lines = list(subsets.differences(first, second))
    for line in lines:
        Screen().print(line)
    if lines:
        raise DatasetError(f"{first} and {second} differ in {count(len(lines), 'place')}")
    Screen().print(f"{first} and {second} hold the same scenes")


def _report(out: Path, versions: list[str], *, scenes: int) -> None:
    Screen().print(f"wrote {', '.join(versions)} of {out}: {count(scenes, 'scene')}")
