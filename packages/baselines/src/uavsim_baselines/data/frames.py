"""The samples of a split with the cameras, drones and classes of a configuration, without pixels."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor

import uavsim
from uavsim_baselines.bev.boxes import Boxes
from uavsim_baselines.config import AgentId, DataConfig
from uavsim_baselines.errors import BaselineError

SIDES: Final = ("air", "ground")
"""Sides of agents: drones in the air, cars and roadside units on the ground."""


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One sample.

    Attributes:
        scene: name of the scene.
        number: index in the scene.
        token: token of the sample.
        timestamp_us: time of the sample.
        drones: (D,) agents in the order of the configuration, including cars and roadside units.
        cameras: images of each agent.
        map_T_flu: (D, 4, 4) float64 agent poses, metres.
        boxes: visible boxes of the configuration's classes, frame ``map``.
        seen_by: agents that see each box; () if unknown.
    """

    scene: str
    number: int
    token: str
    timestamp_us: int
    drones: tuple[AgentId, ...]
    cameras: tuple[tuple[uavsim.Image, ...], ...]
    map_T_flu: Tensor
    boxes: Boxes
    seen_by: tuple[tuple[AgentId, ...], ...]

    def boxes_for(self, drones: Collection[AgentId] | None) -> Boxes:
        """Return the boxes that the given drones see; all boxes for None or without visibility."""
        if drones is None or not any(self.seen_by):
            return self.boxes
        is_visible = [not set(drones).isdisjoint(viewers) for viewers in self.seen_by]
        return self.boxes.pick(torch.tensor(is_visible, dtype=torch.bool))


def side_of(agent: AgentId) -> str:
    """Return the side of an agent, from ``SIDES``."""
    return SIDES[isinstance(agent, str)]


def read_frames(config: DataConfig, split: str) -> list[Frame]:
    """Return the samples of a split in table order.

    Raises:
        BaselineError: the split does not exist, or a sample lacks a requested drone or camera.
        UavsimError: the dataset cannot be read.
    """
    data = uavsim.open(config.folder, config.version)
    if split not in data.splits:
        known = ", ".join(data.splits) or "none"
        raise BaselineError(
            f"{config.folder}: no split {split!r} (splits: {known}); set data.train_split and data.test_split"
        )
    scene_names, frames = set(data.splits[split]), list[Frame]()
    drones, cameras, kinds = config.drones, config.cameras, dict[str, tuple[str, ...]]()
    for scene in data:
        if scene.name not in scene_names:
            continue
        for sample in scene:
            found = _by_drone(sample)
            drones = drones or tuple(sorted(found, key=_sort_key))
            if not drones:
                raise BaselineError(f"{config.folder}: {sample} has no camera images, which every baseline needs")
            for drone in drones:
                kinds.setdefault(_kind(drone), cameras or tuple(found.get(drone, ())))
            frames.append(_frame(sample, found, drones=drones, cameras=kinds, classes=config.classes))
    if not frames:
        raise BaselineError(f"{config.folder}: split {split!r} has no samples")
    return frames


def _by_drone(sample: uavsim.Sample) -> dict[AgentId, dict[str, uavsim.Image]]:
    found: dict[AgentId, dict[str, uavsim.Image]] = {}
    for image in sample.images:
        agent = _agent(image.channel)
        found.setdefault(agent, {})[image.channel.removesuffix(f"_id_{agent}")] = image
    return found


def _agent(channel: str) -> AgentId:
    _, _, name = channel.rpartition("_id_")
    return name if name[:1] in {"v", "r"} and name[1:].isdecimal() else int(name) if name.isdecimal() else 0


def _kind(agent: AgentId) -> str:
    return agent[0] if isinstance(agent, str) else ""


def _sort_key(agent: AgentId) -> tuple[int, int]:
    """Return the sort key of an agent: drones, cars, roadside units."""
    return ("", "v", "r").index(_kind(agent)), int(str(agent).removeprefix(_kind(agent)))


def _named(agent: AgentId) -> str:
    return agent if isinstance(agent, str) else f"drone {agent}"


def _frame(
    sample: uavsim.Sample,
    found: Mapping[AgentId, Mapping[str, uavsim.Image]],
    *,
    drones: tuple[AgentId, ...],
    cameras: Mapping[str, tuple[str, ...]],
    classes: Mapping[str, tuple[str, ...]],
) -> Frame:
    missing = [drone for drone in drones if drone not in found]
    if missing:
        has = ", ".join(map(str, sorted(found, key=_sort_key)))
        raise BaselineError(f"{sample} has no images of {_named(missing[0])} (it has drones {has}); set data.drones")
    for drone in drones:
        unknown = [name for name in cameras[_kind(drone)] if name not in found[drone]]
        if unknown:
            has = ", ".join(found[drone])
            raise BaselineError(
                f"{sample}: {_named(drone)} has no camera {unknown[0]} (it has {has}); set data.cameras"
            )
    poses = [next(iter(found[drone].values())).map_SE3_flu.matrix for drone in drones]
    boxes, seen_by = _boxes(sample.boxes, classes)
    return Frame(
        scene=sample.scene_name,
        number=sample.number,
        token=sample.token,
        timestamp_us=sample.timestamp_us,
        drones=drones,
        cameras=tuple(tuple(found[drone][name] for name in cameras[_kind(drone)]) for drone in drones),
        map_T_flu=torch.from_numpy(np.stack(poses)),
        boxes=boxes,
        seen_by=seen_by,
    )


def _boxes(
    all_boxes: uavsim.Boxes, classes: Mapping[str, tuple[str, ...]]
) -> tuple[Boxes, tuple[tuple[AgentId, ...], ...]]:
    labels = np.array([_label(name, classes) for name in all_boxes.categories], dtype=np.int64)
    visible = (labels >= 0) & np.asarray(all_boxes.visible, dtype=bool)
    boxes = all_boxes.pick(visible)
    rotation = boxes.map_SE3_box.matrix[:, :3, :3]
    made = Boxes(
        centre_m=torch.from_numpy(boxes.map_SE3_box.translation_m.copy()),
        size_lwh_m=torch.from_numpy(boxes.size_lwh_m.copy()),
        yaw_rad=torch.from_numpy(np.arctan2(rotation[:, 1, 0], rotation[:, 0, 0])),
        velocity_mps=torch.from_numpy(boxes.velocity_map_mps[:, :2].copy()),
        label=torch.from_numpy(labels[visible]),
        score=torch.ones(len(boxes), dtype=torch.float64),
    )
    return made, tuple(_seen_by(*pair) for pair in zip(boxes.seen_by, boxes.views, strict=True))


def _seen_by(drones: tuple[int, ...], views: tuple[dict[str, Any], ...]) -> tuple[AgentId, ...]:
    """Return the agents that see a pixel of a box; ground agents by its views."""
    viewers = {_agent(view["channel"]) for view in views if view["visible_px"] > 0}
    return (*drones, *(agent for agent in viewers if isinstance(agent, str)))


def _label(category: str, classes: Mapping[str, tuple[str, ...]]) -> int:
    for number, beginnings in enumerate(classes.values()):
        if any(category == word or category.startswith(f"{word}.") for word in beginnings):
            return number
    return -1
