"""Training, prediction, scores and tables of all sharing methods of one configuration."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeAlias

from uavsim_baselines.config import Config, SharingKind
from uavsim_baselines.data.frames import Frame, read_frames
from uavsim_baselines.data.results import is_newer, write_json
from uavsim_baselines.runs import predict_run, prediction_setup
from uavsim_baselines.scores import DETECTIONS, SCORES, score_run
from uavsim_baselines.tables import markdown_of, rows_of
from uavsim_baselines.training.checkpoints import read_checkpoint, write_checkpoint
from uavsim_baselines.training.train import CHECKPOINT, train

KINDS: Final[tuple[SharingKind, ...]] = (
    "none", "late", "who2com", "when2com", "where2comm", "v2vnet", "disconet", "early",
)  # fmt: skip
"""Rows of the table: from the lower bound to the upper one."""

Progress: TypeAlias = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]
"""Starts a part of the work with its name and number of steps, and reports completed steps."""


def compare(config: Config, kinds: Sequence[SharingKind], out: Path, *, progress: Progress) -> Path:
    """Train, predict and score each sharing method in its own folder; returns ``table.md``, beside ``table.json``.

    Existing results are reused: an interrupted comparison continues. ``late`` uses the model of ``none``.

    Raises:
        BaselineError: the dataset or a checkpoint does not fit.
        UavsimError: the dataset cannot be read.
    """
    rows = [kind for kind in KINDS if kind in kinds]
    train_all(config, rows, out, progress=progress)
    frames = read_frames(config.data, config.data.test_split)
    for kind in rows:
        _predicted(config, kind, out, frames, progress=progress)
    bounds: list[SharingKind] = [kind for kind in ("none", "late") if kind in rows]
    for kind in rows:
        _scored(config, kind, out, against=[other for other in bounds if other != kind], progress=progress)
    found = rows_of([out / kind for kind in rows])
    write_json(out / "table.json", {"name": config.name, "seed": config.seed, "rows": found})
    table = out / "table.md"
    table.write_text(markdown_of(found), "utf-8")
    return table


def train_all(config: Config, kinds: Sequence[SharingKind], out: Path, *, progress: Progress) -> None:
    """Train a sharing method, with its teacher first for DiscoNet; ``late`` uses the weights of ``none``."""
    needed = dict.fromkeys(_model_of(kind) for kind in kinds)
    if "disconet" in needed:
        needed = {"early": None, **needed}
    for kind in sorted(needed, key=lambda name: name == "disconet"):
        kind_config = config_for(config, kind, out)
        with progress(f"train {kind}", kind_config.training.steps) as report:
            _train(kind_config, out / kind, report)
    if "late" in kinds and not is_newer(out / "late" / CHECKPOINT, out / "none" / CHECKPOINT):
        trained = read_checkpoint(out / "none" / CHECKPOINT)
        write_checkpoint(out / "late" / CHECKPOINT, replace(trained, config=config_for(config, "late", out)))


def _train(config: Config, out: Path, report: Callable[[int], None]) -> None:
    train(config, out, report=lambda step, _loss: report(step))
    report(config.training.steps)  # also for a finished training


def config_for(config: Config, kind: SharingKind, out: Path) -> Config:
    """Return the configuration of one sharing method."""
    teacher = {"teacher": out / "early" / CHECKPOINT} if kind == "disconet" else {}
    sharing = config.sharing.model_copy(update={"kind": kind, **teacher})
    return config.model_copy(update={"sharing": sharing})


def _model_of(kind: SharingKind) -> SharingKind:
    return "none" if kind == "late" else kind


def _predicted(config: Config, kind: SharingKind, out: Path, frames: Sequence[Frame], *, progress: Progress) -> None:
    if is_newer(out / kind / DETECTIONS, out / kind / CHECKPOINT):
        return
    setup = prediction_setup(out / kind, data=config.data.folder)
    with progress(f"predict {kind}", len(frames)) as report:
        predict_run(setup, frames, out / kind, report=report)


def _scored(
    config: Config, kind: SharingKind, out: Path, *, against: Sequence[SharingKind], progress: Progress
) -> None:
    if all(is_newer(out / kind / SCORES, out / other / DETECTIONS) for other in (kind, *against)):
        return
    with progress(f"score {kind}", 1) as report:
        others = {str(other): out / other for other in against}
        score_run(out / kind, truth=config.data.folder, version=config.data.version, against=others)
        report(1)
