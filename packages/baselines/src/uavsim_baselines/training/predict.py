"""Predictions: a model's boxes in a split, and the transmitted bytes."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch

from uavsim_baselines.bev.boxes import Boxes, nms_by_distance
from uavsim_baselines.bev.grid import inverse
from uavsim_baselines.bev.maps import decode
from uavsim_baselines.config import AgentId, Config
from uavsim_baselines.data.frames import SIDES, Frame
from uavsim_baselines.data.items import Images, Sights, drones_heard, drones_used, stack_views, views_of
from uavsim_baselines.data.late import sights_for
from uavsim_baselines.detector.network import Detector, Views
from uavsim_baselines.sharing.messages import FLOAT_BYTES, POSE_BYTES

__all__ = ["BOX_BYTES", "Prediction", "Sights", "predict"]

BOX_BYTES = 10 * FLOAT_BYTES + 1
"""Bytes of a transmitted box: centre, size, heading, velocity, score, and a byte for its class."""


@dataclass(frozen=True, slots=True, eq=False)
class Prediction:
    """Predicted boxes of one frame, frame ``map``, and the transmitted bytes."""

    frame: Frame
    boxes: Boxes
    sent_bytes: int


def predict(
    detector: Detector, config: Config, frames: Sequence[Frame], *, device: torch.device,
    report: Callable[[int], None] = lambda _done: None, sights: Sights | None = None, ego: AgentId | None = None,
    hears: Sequence[str] = SIDES,
) -> Iterator[Prediction]:  # fmt: skip
    """Yield a model's predictions frame by frame.

    Args:
        detector: the network.
        config: configuration of the model.
        frames: frames of a split.
        device: device of the network.
        report: receives the number of finished frames.
        sights: returns the drones' views; default: by the configuration.
        ego: the detecting agent; default: the first drone.
        hears: sides of the received agents.
    """
    if config.training.threads:
        torch.set_num_threads(config.training.threads)
    sights = sights or sights_for(frames, config.data)
    detector = detector.to(device).eval()
    images = Images(config)
    for done, frame in enumerate(frames, 1):
        late = config.sharing.kind == "late"
        ego_index = 0 if ego is None else frame.drones.index(ego)
        heard = drones_heard(frame.drones, ego_index, hears)
        used = heard if late else drones_used(config, frame.drones, ego_index, hears)
        views = stack_views([views_of(sights(frame, used), images)]).to(device)
        with torch.no_grad():
            yield _late(detector, config, frame, views) if late else _joint(detector, config, frame, views)
        report(done)


def _joint(detector: Detector, config: Config, frame: Frame, views: Views) -> Prediction:
    found = detector(views)
    boxes = decode(
        found.maps, grid=detector.grid, min_score=config.prediction.min_score, max_boxes=config.prediction.max_boxes
    )[0]
    return Prediction(frame, boxes.moved(views.map_T_grid[0, 0].cpu()), int(found.sent_bytes[0]))


def _late(detector: Detector, config: Config, frame: Frame, views: Views) -> Prediction:
    """Join the boxes of all drones that lie in the ego's grid."""
    prediction = config.prediction
    found = decode(
        detector.each(views), grid=detector.grid, min_score=prediction.min_score, max_boxes=prediction.max_boxes
    )
    poses = views.map_T_grid[0].cpu()
    present = views.present[0].tolist()
    heard = [boxes.moved(pose) for boxes, pose, is_present in zip(found, poses, present, strict=True) if is_present]
    sent = sum(len(boxes) * BOX_BYTES + POSE_BYTES for boxes in heard[1:])
    joined = Boxes.joined(heard)
    joined = joined.pick(detector.grid.holds(joined.moved(inverse(poses[0])).centre_m[:, :2]))
    merged = nms_by_distance(joined, nearer_than_m=prediction.nms_m)
    strongest = torch.arange(len(merged)) < prediction.max_boxes
    return Prediction(frame, merged.pick(strongest), sent)
