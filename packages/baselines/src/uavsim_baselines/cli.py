"""The command line: ``uavsim-baselines train|predict|evaluate|compare|...``; errors are one line, exit codes are uavsim's."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from typer.exceptions import TyperException

from uavsim import UavsimError

__all__ = ["app", "main"]

app = typer.Typer(add_completion=False, no_args_is_help=True, help=__doc__, pretty_exceptions_enable=False)
_SPEED_OVER_S = 120.0  # window of the speed for the remaining time

ConfigFile = Annotated[Path | None, typer.Argument(help="Configuration file (YAML), unless --profile is given.")]
Out = Annotated[Path, typer.Option(help="Run folder: checkpoint, logs, results, scores.")]
Profile = Annotated[str | None, typer.Option(help="Built-in configuration, such as cpu-small, instead of a file.")]
Data = Annotated[Path | None, typer.Option(help="The dataset's folder; overrides data.folder.")]
OtherData = Annotated[Path | None, typer.Option(help="The dataset's folder; default: the training dataset.")]
Split = Annotated[str | None, typer.Option(help="Split; default: data.test_split.")]
Seed = Annotated[int | None, typer.Option(help="Random seed; overrides the configuration.")]
Changes = Annotated[list[str] | None, typer.Option("--set", help="Key to override, KEY=VALUE; repeat for more.")]


@contextmanager
def _progress(description: str, total: int) -> Iterator[tuple[Progress, TaskID]]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("rest"),
               TimeRemainingColumn(), TextColumn("{task.fields[note]}"))  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), speed_estimate_period=_SPEED_OVER_S) as progress:
        yield progress, progress.add_task(description, total=total, note="")


@contextmanager
def _part(description: str, total: int) -> Iterator[Callable[[int], None]]:
    with _progress(description, total) as (progress, task):
        yield lambda done: progress.update(task, completed=done)


@app.command()
def train(
    config: ConfigFile = None,
    *,
    out: Out,
    profile: Profile = None,
    data: Data = None,
    sharing: Annotated[str | None, typer.Option(help="Sharing method; overrides sharing.kind.")] = None,
    seed: Seed = None,
    changes: Changes = None,
) -> None:
    """Train a model; a run that was interrupted continues from its last checkpoint."""
    from uavsim_baselines.config import requested_config
    from uavsim_baselines.training.train import train as run

    named = {"data.folder": data, "sharing.kind": sharing, "seed": seed}
    requested = requested_config(config, profile, named=named, changes=changes or ())
    with _progress(f"train {requested.sharing.kind}", requested.training.steps) as (progress, task):
        path = run(
            requested, out, report=lambda step, loss: progress.update(task, completed=step, note=f"loss {loss:.3f}")
        )
    typer.echo(str(path))


@app.command()
def predict(
    *,
    out: Out,
    data: OtherData = None,
    split: Split = None,
    sharing: Annotated[
        str | None, typer.Option(help="late: join all drones' boxes, for models trained with none.")
    ] = None,
    threshold: Annotated[float | None, typer.Option(help="For where2comm; overrides sharing.threshold.")] = None,
) -> None:
    """Write detections and tracks of a split, as nuScenes' result files."""
    from uavsim_baselines.data.frames import read_frames
    from uavsim_baselines.runs import predict_run, prediction_setup

    setup = prediction_setup(out, data=data, sharing=sharing, threshold=threshold)
    frames = read_frames(setup.config.data, split or setup.config.data.test_split)
    with _progress(f"predict {setup.config.sharing.kind}", len(frames)) as (progress, task):
        path = predict_run(setup, frames, out, report=lambda done: progress.update(task, completed=done))
    typer.echo(str(path))


@app.command()
def evaluate(*, out: Out, data: OtherData = None) -> None:
    """Score a run's detections and tracks as uavsim evaluate does, and write scores.json."""
    from uavsim_baselines.scores import score_run
    from uavsim_baselines.tables import table_of
    from uavsim_baselines.training.checkpoints import read_checkpoint
    from uavsim_baselines.training.train import CHECKPOINT

    trained = read_checkpoint(out / CHECKPOINT).config
    score_run(out, truth=data or trained.data.folder, version=trained.data.version)
    typer.echo(table_of([out]))


@app.command()
def compare(
    config: ConfigFile = None,
    *,
    out: Annotated[Path, typer.Option(help="Folder for the result: one run per sharing method, table.md, table.json.")],
    profile: Profile = None,
    data: Data = None,
    sharing: Annotated[list[str] | None, typer.Option(help="Sharing methods; default: all.")] = None,
    seed: Seed = None,
    changes: Changes = None,
) -> None:
    """Train, predict and score all sharing methods, and write a table; resumes an interrupted run."""
    from uavsim_baselines.compare import KINDS
    from uavsim_baselines.compare import compare as run
    from uavsim_baselines.config import known_sharing, requested_config

    requested = requested_config(config, profile, named={"data.folder": data, "seed": seed}, changes=changes or ())
    kinds = [known_sharing(kind) for kind in sharing] if sharing else KINDS
    typer.echo(run(requested, kinds, out, progress=_part).read_text("utf-8"))


@app.command()
def robustness(
    runs: Annotated[list[Path], typer.Argument(help="Folders of trained runs.")],
    *,
    out: Annotated[Path, typer.Option(help="Folder for robustness.md, .json and .png.")],
    data: Annotated[Path | None, typer.Option(help="Dataset with degradations; default: the training dataset.")] = None,
    kinds: Annotated[
        list[str] | None,
        typer.Option("--kind", help="pose, latency, messages or cameras; default: all."),
    ] = None,
) -> None:
    """Measure AP under the dataset's errors of poses, links and cameras; write a table and a plot."""
    from uavsim_baselines.data.frames import read_frames
    from uavsim_baselines.robustness import SHARES, known_kinds, measure_curves, write_curves
    from uavsim_baselines.runs import prediction_setup

    chosen = known_kinds(kinds)
    curves = []
    for run in runs:
        setup = prediction_setup(run, data=data)
        frames = read_frames(setup.config.data, setup.config.data.test_split)
        with _part(f"degrade {setup.config.sharing.kind}", len(chosen) * len(SHARES)) as report:
            curves += measure_curves(setup, frames, run, kinds=chosen, shares=SHARES, report=report)
    typer.echo(write_curves(out, curves))


@app.command()
def airground(
    runs: Annotated[list[Path], typer.Argument(help="Folders of trained runs.")],
    *,
    out: Annotated[Path, typer.Option(help="Folder for airground.md and .json.")],
    data: Annotated[
        Path | None, typer.Option(help="Dataset with aerial and ground agents; default: the training dataset.")
    ] = None,
    range_m: Annotated[
        float, typer.Option("--range", min=1, help="Largest distance of counted boxes from the ego, metres.")
    ] = 50.0,
) -> None:
    """Measure the gain of aerial agents for ground agents and vice versa, and write a table."""
    from uavsim_baselines.airground import HEARD, egos_of, measure_sides, write_sides
    from uavsim_baselines.data.frames import read_frames
    from uavsim_baselines.runs import prediction_setup

    rows = []
    for run in runs:
        setup = prediction_setup(run, data=data)
        frames = read_frames(setup.config.data, setup.config.data.test_split)
        each = 1 if setup.config.sharing.kind == "none" else len(HEARD)
        with _part(f"hear {setup.config.sharing.kind}", each * len(egos_of(frames))) as report:
            rows += measure_sides(setup, frames, run, range_m=range_m, report=report)
    typer.echo(write_sides(out, rows))


@app.command()
def occupancy(
    config: ConfigFile = None,
    *,
    voxels: Annotated[Path, typer.Option(help="Folder that uavsim occupancy --grid GRID --of 0 wrote.")],
    out: Annotated[Path, typer.Option(help="Folder for the result: a model per sharing method, voxels.md, .json.")],
    profile: Profile = None,
    data: Data = None,
    sharing: Annotated[list[str] | None, typer.Option(help="Sharing methods; default: none, v2vnet, early.")] = None,
    seed: Seed = None,
    changes: Changes = None,
) -> None:
    """Train models of the voxels around drone 0, alone and together with the swarm, and write a table."""
    from uavsim_baselines.config import known_sharing, requested_config
    from uavsim_baselines.voxels import KINDS, compare_voxels

    requested = requested_config(config, profile, named={"data.folder": data, "seed": seed}, changes=changes or ())
    kinds = [known_sharing(kind) for kind in sharing] if sharing else KINDS
    typer.echo(compare_voxels(requested, voxels, kinds, out, progress=_part))


@app.command()
def draw(
    *,
    out: Out,
    to: Annotated[Path, typer.Option(help="Image file, .png or .jpg.")],
    data: OtherData = None,
    split: Split = None,
    scene: Annotated[str | None, typer.Option(help="Name of a scene; default: the first of the split.")] = None,
    sample: Annotated[int, typer.Option(min=0, help="Sample number in the scene.")] = 0,
    min_score: Annotated[float, typer.Option(min=0, max=1, help="Lowest score of drawn boxes.")] = 0.3,
) -> None:
    """Draw predicted and true boxes of one sample: in all camera images, and from above."""
    from uavsim_baselines.drawing import draw_run
    from uavsim_baselines.runs import prediction_setup

    config = prediction_setup(out, data=data).config
    chosen = split or config.data.test_split
    typer.echo(str(draw_run(out, config, scene=scene, sample=sample, min_score=min_score, split=chosen, to=to)))


@app.command()
def table(runs: Annotated[list[Path], typer.Argument(help="Folders of evaluated runs.")]) -> None:
    """Print one row for each run, in Markdown."""
    from uavsim_baselines.tables import table_of

    typer.echo(table_of(runs))


def main() -> None:
    """Run the command line and end with its exit code."""
    sys.exit(_run())


def _run() -> int:
    try:
        app(standalone_mode=False)
    except typer.Exit as end:
        return end.exit_code
    except TyperException as error:
        return _say(f"{error.format_message()} (`uavsim-baselines --help` lists the commands)", code=2)
    except UavsimError as error:
        return _say(str(error), code=error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        return _say("interrupted; run the same command again", code=130)
    except OSError as error:
        return _say(f"{error.filename}: {error.strerror}", code=3)
    return 0


def _say(message: str, *, code: int) -> int:
    typer.echo(f"error: {' '.join(message.split())}", err=True)
    return code
