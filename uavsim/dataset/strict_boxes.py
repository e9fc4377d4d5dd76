"""Box tables of the strict dialect: annotations, instances and their visibility in each camera."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, cast

import numpy as np

from uavsim.dataset.rows import (
    AgentEntry,
    IgnoreRegionRow,
    InstanceRow,
    SampleAnnotationRow,
    SweepAnnotationRow,
    ViewEntry,
    VisibilityDetailRow,
)
from uavsim.dataset.tokens import token
from uavsim.dataset.vocabulary import ATTRIBUTES, attribute_token, category_token
from uavsim.errors import DatasetError
from uavsim.geometry.se3 import SE3
from uavsim.records.ingredients import actor_kind, has_drones
from uavsim.records.label_columns import COLUMNS
from uavsim.records.labels import LabelledActor, SceneLabels
from uavsim.records.plan import ScenePlan
from uavsim.records.sensors import shutter_of
from uavsim.typing import IntArray, JsonDict

_TOGETHER: Final = 200  # boxes per batch


def box_rows(labels: SceneLabels, sample_tokens: list[str]) -> list[SampleAnnotationRow]:
    """Return the table ``sample_annotation``; sizes are width, length, height."""
    boxes, base = labels.boxes, (labels.plan.dataset, labels.plan.scene_name)
    instance_ids = boxes.instance_id.tolist()
    tokens = [token(*base, "annotation", k, i) for k, i in zip(boxes.sample_index.tolist(), instance_ids, strict=True)]
    before, after = _neighbours(boxes.instance_id)
    instances = [token(*base, "instance", actor.info.instance_id) for actor in labels.actors]
    sizes = [size_wlh(actor) for actor in labels.actors]
    attributes = [[attribute_token(name)] for name, _ in ATTRIBUTES] + [[]]  # [-1] is "none"
    columns = zip(
        tokens,
        boxes.sample_index.tolist(),
        boxes.actor_row.tolist(),
        before.tolist(),
        after.tolist(),
        boxes.visibility.tolist(),
        boxes.attribute.tolist(),
        boxes.map_SE3_box.translation_m.tolist(),
        boxes.map_SE3_box.quat_wxyz.tolist(),
        boxes.visible_px.tolist(),
        strict=True,
    )
    rows: list[SampleAnnotationRow] = [
        {
            "token": box_token,
            "sample_token": sample_tokens[k],
            "instance_token": instances[actor],
            "visibility_token": str(visibility),
            "attribute_tokens": attributes[attribute],
            "translation": centre,
            "size": sizes[actor],
            "rotation": rotation,
            "prev": tokens[prev_row] if prev_row >= 0 else "",
            "next": tokens[next_row] if next_row >= 0 else "",
            "num_lidar_pts": visible_px,
            "num_radar_pts": 0,
        }
        for box_token, k, actor, prev_row, next_row, visibility, attribute, centre, rotation, visible_px in columns
    ]
    _add_columns(rows, labels)
    for kind, counts in boxes.points.items():
        for row, count in zip(cast("list[JsonDict]", rows), counts.sum(axis=1).tolist(), strict=True):
            if kind == "lidar":
                row["uav_visible_px"] = row["num_lidar_pts"]
            row[f"num_{kind}_pts"] = count
    return rows


def _add_columns(rows: list[SampleAnnotationRow], labels: SceneLabels) -> None:
    """Append the ``uav_`` columns to the rows."""
    names = (*COLUMNS.builtin, *labels.columns)
    values = {name: COLUMNS.pick(name)(labels) for name in names}
    for name, column in values.items():
        if len(column) != len(rows):
            raise DatasetError(f"label column {name!r}: {len(column)} values for {len(rows)} boxes")
    for row, extra in zip(rows, zip(*values.values(), strict=True), strict=True):
        cast("JsonDict", row).update(zip(names, extra, strict=True))


def instance_rows(labels: SceneLabels, annotations: list[SampleAnnotationRow]) -> list[InstanceRow]:
    """Return the table ``instance`` for the boxes of ``box_rows``."""
    rows_of_actor: list[list[int]] = [[] for _ in labels.actors]
    for row, actor in enumerate(labels.boxes.actor_row.tolist()):
        rows_of_actor[actor].append(row)
    return [
        {
            "token": annotations[rows[0]]["instance_token"],
            "category_token": category_token(actor.category),
            "nbr_annotations": len(rows),
            "first_annotation_token": annotations[rows[0]]["token"],
            "last_annotation_token": annotations[rows[-1]]["token"],
            "uav_instance_id": actor.info.instance_id,
            "uav_label": actor.label,
            "uav_category": actor.uav3d_category,
            "uav_blueprint": actor.info.blueprint,
            "uav_base_type": actor.info.base_type,
            "uav_kind": actor_kind(actor.info.kind).written_as or actor.info.kind,
            "uav_semantic_tag": actor.info.semantic_tag,
            "uav_color": actor.info.attributes.get("color", ""),
            "uav_size_source": actor.size_source,
            "uav_removed_at_sample": actor.removed_at_sample,
        }
        for actor, rows in zip(labels.actors, rows_of_actor, strict=True)
        if rows
    ]


def detail_rows(labels: SceneLabels, annotations: list[SampleAnnotationRow]) -> list[VisibilityDetailRow]:
    """Return the table ``visibility_detail``: one row per box, one entry per camera image with a part of the box."""
    return cast("list[VisibilityDetailRow]", _DetailRows(labels, annotations))


class _DetailRows(Sequence[VisibilityDetailRow]):
    """Immutable rows that are computed at each iteration.

    The rows of a scene take 20 MB of small objects, which fragment the memory.
    """

    def __init__(self, labels: SceneLabels, annotations: list[SampleAnnotationRow]) -> None:
        self._labels, self._annotations = labels, annotations

    def __len__(self) -> int:
        return len(self._annotations)

    def __getitem__(self, at: Any) -> Any:
        return list(self)[at]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __iter__(self) -> Iterator[VisibilityDetailRow]:
        tokens, plan = _image_tokens(self._labels), self._labels.plan
        agents = _agent_entries(self._labels) if has_agent_table(plan) else None
        for first in range(0, len(self), _TOGETHER):
            annotations = self._annotations[first : first + _TOGETHER]
            for row, (annotation, views) in enumerate(
                zip(annotations, self._entries(first, tokens), strict=True), first
            ):
                detail: VisibilityDetailRow = {
                    "token": annotation["token"],
                    "sample_annotation_token": annotation["token"],
                    "seen_by": annotation["uav_seen_by"],
                    "views": views,
                }
                if agents is not None:
                    detail["agents"] = agents[row]
                yield detail

    def _entries(self, first: int, sample_data: Sequence[Sequence[str]]) -> list[list[ViewEntry]]:
        """Return the entries of ``_TOGETHER`` boxes from ``first`` on; views are sorted by box."""
        views, plan = self._labels.views, self._labels.plan
        last = min(first + _TOGETHER, len(self))
        view_rows = slice(*np.searchsorted(views.box_row, (first, last)).tolist())
        box_row, channels = views.box_row[view_rows], plan.channels
        shutter_channels = {s.channel for s in plan.sensors if shutter_of(s.spec) is not None}
        entries: list[list[ViewEntry]] = [[] for _ in range(first, last)]
        columns = zip(
            (box_row - first).tolist(),
            self._labels.boxes.sample_index[box_row].tolist() if len(box_row) else (),
            views.channel_index[view_rows].tolist(),
            views.visible_px[view_rows].tolist(),
            views.amodal_px[view_rows].tolist(),
            np.round(views.occlusion[view_rows], 4).tolist(),
            np.round(views.truncation[view_rows], 4).tolist(),
            views.visible_box_px[view_rows].tolist(),
            np.round(views.amodal_box_px[view_rows], 2).tolist(),
            views.shutter_px[view_rows].tolist(),
            views.shutter_box_px[view_rows].tolist(),
            strict=True,
        )
        for row, k, channel, visible_px, amodal_px, occlusion, truncation, visible_box, amodal_box, *shutter in columns:
            entry: ViewEntry = {
                "sample_data_token": sample_data[k][channel],
                "channel": channels[channel],
                "visible_px": visible_px,
                "amodal_px": amodal_px,
                "occlusion": occlusion,
                "truncation": truncation,
                "visible_box": visible_box if visible_px else None,
                "amodal_box": amodal_box,
            }
            if channels[channel] in shutter_channels:
                shutter_px, shutter_box = shutter
                entry |= {"shutter_px": shutter_px, "shutter_box": shutter_box if shutter_px else None}
            entries[row].append(entry)
        return entries


def _agent_entries(labels: SceneLabels) -> list[list[AgentEntry]]:
    """Return, for each box, the measurements of agents with visible pixels or points of it."""
    views, agents = labels.views, labels.plan.agents
    cameras = [sensor.agent for sensor in labels.plan.sensors if sensor.spec.params.is_optical]
    owner = np.array([agents.index(agent) for agent in cameras], dtype=np.int64)[views.channel_index]
    shape = (len(labels.boxes), len(agents))
    visible_px, amodal_px = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    np.add.at(visible_px, (views.box_row, owner), views.visible_px)
    np.add.at(amodal_px, (views.box_row, owner), views.amodal_px)
    hits = {f"num_{kind}_pts": counts for kind, counts in labels.boxes.points.items()}
    entries: list[list[AgentEntry]] = [[] for _ in range(shape[0])]
    measured = np.sum([visible_px, *hits.values()], axis=0)
    for row, agent in zip(*(axis.tolist() for axis in np.nonzero(measured)), strict=True):
        entry: AgentEntry = {
            "agent": agents[agent].id,
            "visible_px": int(visible_px[row, agent]),
            "amodal_px": int(amodal_px[row, agent]),
        }
        cast("JsonDict", entry).update({name: int(counts[row, agent]) for name, counts in hits.items()})
        entries[row].append(entry)
    return entries


def ignore_rows(labels: SceneLabels) -> list[IgnoreRegionRow]:
    """Return the table ``ignore_region``: one row per region of a keyframe's image."""
    ignored, sample_data = labels.ignored, _image_tokens(labels)
    columns = zip(
        ignored.sample_index.tolist(),
        ignored.channel_index.tolist(),
        ignored.semantic_tag.tolist(),
        ignored.box_px.tolist(),
        ignored.pixels.tolist(),
        strict=True,
    )
    return [
        {
            "token": token(sample_data[k][channel], "ignore_region", *box, tag),
            "sample_data_token": sample_data[k][channel],
            "semantic_tag": tag,
            "box": box,
            "pixels": pixels,
        }
        for k, channel, tag, box, pixels in columns
    ]


def sweep_rows(labels: SceneLabels, sample_tokens: list[str]) -> list[SweepAnnotationRow]:
    """Return the table ``sweep_annotation``: the true poses, at each sweep, of the boxes of the adjacent keyframes."""
    boxes, base = labels.boxes, (labels.plan.dataset, labels.plan.scene_name)
    ids = np.array([actor.info.instance_id for actor in labels.actors], dtype=np.int64)
    made: list[SweepAnnotationRow] = []
    following = len(sample_tokens) - 1
    for frame in reversed(labels.frames):
        if frame.sample_index is not None:
            following = frame.sample_index
            continue
        near = boxes.instance_id[(boxes.sample_index == following) | (boxes.sample_index == following - 1)]
        rows = np.flatnonzero(np.isin(frame.actors.instance_id, near))
        if not len(rows):
            continue
        swept_ids = frame.actors.instance_id[rows]
        actor_SE3_box = SE3.stack([labels.actors[k].actor_SE3_box for k in np.searchsorted(ids, swept_ids).tolist()])
        map_SE3_box = frame.actors.map_SE3_actor[rows] @ actor_SE3_box
        poses = zip(swept_ids.tolist(), map_SE3_box.translation_m.tolist(), map_SE3_box.quat_wxyz.tolist(), strict=True)
        made += [
            {
                "token": token(*base, "sweep_annotation", frame.timestamp_us, track_id),
                "sample_token": sample_tokens[following],
                "timestamp": frame.timestamp_us,
                "instance_token": token(*base, "instance", track_id),
                "translation": centre,
                "rotation": rotation,
            }
            for track_id, centre, rotation in poses
        ]
    return sorted(made, key=lambda row: row["timestamp"])


def has_agent_table(plan: ScenePlan) -> bool:
    """Return whether a scene has rows in the table ``agent``: agents on the ground, or drones with bodies."""
    return bool(plan.ground) or has_drones(plan.ingredients)


def _image_tokens(labels: SceneLabels) -> list[list[str]]:
    """Return the tokens of the keyframes' images by sample and channel."""
    plan, keyframes = labels.plan, [f.timestamp_us for f in labels.frames if f.sample_index is not None]
    return [[token(plan.dataset, plan.scene_name, "sample_data", c, t) for c in plan.channels] for t in keyframes]


def size_wlh(actor: LabelledActor) -> list[float]:
    """Return width, length, height of an actor's box, metres."""
    half_length, half_width, half_height = actor.half_extent_m
    return [2 * half_width, 2 * half_length, 2 * half_height]


def _neighbours(instance_id: IntArray) -> tuple[IntArray, IntArray]:
    """Return (N,) previous and (N,) next rows of the same instance, -1 at the ends; rows are sorted by sample."""
    order = np.argsort(instance_id, kind="stable")
    same = instance_id[order][1:] == instance_id[order][:-1]
    before = np.full(len(instance_id), -1, dtype=np.int64)
    after = np.full(len(instance_id), -1, dtype=np.int64)
    before[order[1:][same]] = order[:-1][same]
    after[order[:-1][same]] = order[1:][same]
    return before, after
