"""Predictions of a run's checkpoint: detections and tracks in its folder."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from uavsim_baselines.config import Config, SharingConfig
from uavsim_baselines.data.frames import Frame
from uavsim_baselines.data.results import box_rows, write_results
from uavsim_baselines.detector.network import Detector
from uavsim_baselines.errors import BaselineError
from uavsim_baselines.scores import DETECTIONS, tracks_file
from uavsim_baselines.tracking.run import track_rows
from uavsim_baselines.tracking.trackers import TRACKERS
from uavsim_baselines.training.checkpoints import detector_of, read_checkpoint
from uavsim_baselines.training.memory import with_memory_reported
from uavsim_baselines.training.predict import Prediction, predict
from uavsim_baselines.training.train import CHECKPOINT, device_of


@dataclass(frozen=True, slots=True, eq=False)
class PredictionSetup:
    """A trained network with its configuration."""

    detector: Detector
    config: Config


def prediction_setup(
    run: Path, *, data: Path | None = None, sharing: str | None = None, threshold: float | None = None
) -> PredictionSetup:
    """Read a run's checkpoint, with optional changes of some settings.

    Raises:
        BaselineError: there is no checkpoint, or the model does not allow a change.
    """
    checkpoint = read_checkpoint(run / CHECKPOINT)
    config = checkpoint.config
    kind = config.sharing.kind
    if sharing not in {None, kind}:
        if (kind, sharing) not in {("none", "late"), ("late", "none")}:
            raise BaselineError(
                f"{run}: was trained with sharing {kind} and cannot predict with {sharing}; train a run with it"
            )
        kind = "late" if sharing == "late" else "none"
    if threshold is not None and (kind != "where2comm" or not 0.0 <= threshold <= 1.0):
        raise BaselineError(f"--threshold {threshold}: must be from 0 to 1, for where2comm; {run} has sharing {kind}")
    changed: dict[str, object] = {"kind": kind, **({} if threshold is None else {"threshold": threshold})}
    folder = config.data.model_copy(update={} if data is None else {"folder": data})
    made: SharingConfig = config.sharing.model_copy(update=changed)
    config = config.model_copy(update={"sharing": made, "data": folder})
    trained = detector_of(checkpoint, source=run / CHECKPOINT)
    detector = Detector(config)
    detector.load_state_dict(trained.state_dict())
    return PredictionSetup(detector, config)


def predict_run(
    setup: PredictionSetup, frames: Sequence[Frame], out: Path, *, report: Callable[[int], None] = lambda _done: None
) -> Path:
    """Predict frames and write detections and the tracks of every tracker; returns the file of detections.

    Raises:
        OutOfMemory: memory is too small; the message names settings.
    """
    device = device_of(setup.config)
    with with_memory_reported(setup.config, device=device):
        found = list(predict(setup.detector, setup.config, frames, device=device, report=report))
    classes = list(setup.config.data.classes)
    about = {
        "sharing": setup.config.sharing.kind,
        "name": setup.config.name,
        "seed": setup.config.seed,
        "bytes_per_frame": sum(p.sent_bytes for p in found) / len(found),
    }
    for tracker in TRACKERS:
        write_results(out / tracks_file(tracker), track_rows(found, tracker=tracker, classes=classes), about=about)
    write_detections(out / DETECTIONS, found, setup.config, about=about)
    return out / DETECTIONS


def write_detections(
    path: Path, found: Iterable[Prediction], config: Config, *, about: Mapping[str, object] = MappingProxyType({})
) -> None:
    """Write the boxes of predictions as a nuScenes result file, with the sharing method and ``about`` as ``meta``."""
    classes = list(config.data.classes)
    rows = {p.frame.token: box_rows(p.boxes, token=p.frame.token, classes=classes) for p in found}
    write_results(path, rows, about={"sharing": config.sharing.kind, **about})
