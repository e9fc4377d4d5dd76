"""Records of formats ``uavsim-plan-1`` and ``uavsim-recording-1`` in today's fields.

They told each pose as two fields, and the files of a shot as one field a sensor.

Data sets keep their recordings, so that they can be labelled again; those of format 1 are read for their sake.
"""

from __future__ import annotations

from typing import Any, Final

__all__ = ["with_poses", "with_typed_extra"]

_POSES: Final[dict[str, dict[str, tuple[str, str]]]] = {
    "ActorInfo": {"actor_SE3_box": ("actor_q_box_wxyz", "actor_t_box_m")},
    "ActorStates": {"map_SE3_actor": ("map_q_actor_wxyz", "map_t_actor_m")},
    "CameraShot": {"map_SE3_optical": ("map_q_optical_wxyz", "map_t_optical_m")},
    "DroneState": {
        "map_SE3_flu": ("map_q_flu_wxyz", "map_t_flu_m"),
        "planned_map_SE3_flu": ("planned_map_q_flu_wxyz", "planned_map_t_flu_m"),
    },
    "SwarmTrajectory": {"map_SE3_flu": ("map_q_flu_wxyz", "map_t_flu_m")},
}
_FILES: Final = {"rgb": "rgb", "instance": "mask", "depth": "depth"}
_NOTES: Final = ("dataset_seed", "route_row", "route_start_share")
_RENAMED: Final = {
    "ActorStates": ("map_euler_deg", "ue_euler_deg"),
    "CameraShot": ("camera_euler_deg", "ue_euler_deg"),
}


def with_poses(kind: str, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the packed fields of a record with poses as packed ``SE3`` and files as one mapping.

    Args:
        kind: the record's name.
        fields: of format 1, or of today's, which come back as they are.
    """
    made = dict(fields)
    for pose, (turn, place) in _POSES.get(kind, {}).items():
        if turn in made and place in made:
            made[pose] = {"~": "SE3", "quat_wxyz": made.pop(turn), "translation_m": made.pop(place)}
    if kind == "CameraShot" and "mask" in made:
        files = {name: made.pop(field, None) for name, field in _FILES.items()}
        made["files"] = {name: path for name, path in files.items() if path is not None}
        made.pop("lidar", None)  # nothing ever filled it
    before, after = _RENAMED.get(kind, ("", ""))
    if before in made:
        made[after] = made.pop(before)
    return made


def with_typed_extra(kind: str, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the packed fields of a plan with its free dict ``extra`` as a packed ``LabelPlan`` and ``PlanNotes``.

    What else was in ``extra`` stands in the plan itself too.

    Args:
        kind: the record's name.
        fields: of a plan with ``extra``; all others come back as they are.
    """
    if kind != "ScenePlan" or "extra" not in fields:
        return fields
    extra = fields["extra"]
    labels = dict(extra.get("labels") or {})
    if isinstance(labels.get("classes"), dict):  # a list, which LabelPlan holds as a tuple
        labels["classes"] = labels["classes"]["items"]
    notes = {name: extra[name] for name in _NOTES if name in extra}
    rest = {name: value for name, value in fields.items() if name != "extra"}
    return rest | {"labels": {"~": "LabelPlan", **labels}, "notes": {"~": "PlanNotes", **notes}}
