"""The fields that each table must have, as the devkit reads them, and the extra ones that the validator can use.

The writers have a list of their own, ``dataset/schema.py``. This second one is on purpose: a validator that took the writers'
word for the format would agree with their mistakes. A contract in pyproject.toml keeps it from importing them.

Source: nuScenes schema (nuscenes-devkit, docs/schema_nuscenes.md); extra fields: docs/formats-tables.md.
"""

from dataclasses import dataclass
from typing import Final, Literal

__all__ = ["EXTRA", "TABLES", "Field"]

Kind = Literal["token", "ref", "refs", "text", "int", "bool", "number", "numbers", "same", "vector", "matrix"]


@dataclass(frozen=True, slots=True)
class Field:
    """One column.

    Attributes:
        kind: how it is read: ``ref`` a token of ``table``, ``refs`` a list of them, ``vector`` ``length`` numbers,
            ``number`` one, ``numbers`` at most ``length``, ``matrix`` 3 x 3 or [], ``same`` named numbers, compared alone.
        table: what a reference points into.
        empty: a reference may be "".
        optional: the column may be missing from the file; then nothing is checked with it.
    """

    name: str
    kind: Kind
    table: str = ""
    length: int = 0
    empty: bool = False
    optional: bool = False


def _text(*names: str) -> tuple[Field, ...]:
    return tuple(Field(name, "text") for name in names)


_TOKEN: Final = Field("token", "token")
_ROTATION: Final = Field("rotation", "vector", length=4)
_TRANSLATION: Final = Field("translation", "vector", length=3)


def _chain(table: str) -> tuple[Field, ...]:
    return (Field("prev", "ref", table=table, empty=True), Field("next", "ref", table=table, empty=True))


TABLES: Final[dict[str, tuple[Field, ...]]] = {
    "category": (_TOKEN, *_text("name"), Field("index", "int", optional=True)),
    "attribute": (_TOKEN, *_text("name")),
    "visibility": (_TOKEN, Field("level", "text", optional=True)),
    "sensor": (_TOKEN, *_text("channel", "modality")),
    "log": (
        _TOKEN,
        *_text("logfile", "vehicle", "date_captured", "location"),
        *(
            Field(f"uav_{kind}_{what}", "int", optional=True)
            for kind in ("vehicles", "walkers")
            for what in ("asked", "spawned")
        ),
    ),
    "map": (_TOKEN, *_text("category", "filename"), Field("log_tokens", "refs", table="log")),
    "calibrated_sensor": (
        _TOKEN,
        Field("sensor_token", "ref", table="sensor"),
        _TRANSLATION,
        _ROTATION,
        Field("camera_intrinsic", "matrix"),
        Field("uav_lens", "text", optional=True),
        Field("uav_distortion", "numbers", length=5, optional=True),
        Field("uav_vignetting", "numbers", length=3, optional=True),
        Field("uav_exposure_us", "int", optional=True),
        Field("uav_readout_us", "int", optional=True),
        Field("uav_shutter_step_us", "int", optional=True),
    ),
    "ego_pose": (_TOKEN, Field("timestamp", "int"), _TRANSLATION, _ROTATION),
    "scene": (
        _TOKEN,
        *_text("name", "description"),
        Field("log_token", "ref", table="log"),
        Field("nbr_samples", "int"),
        Field("first_sample_token", "ref", table="sample"),
        Field("last_sample_token", "ref", table="sample"),
    ),
    "sample": (
        _TOKEN,
        Field("timestamp", "int"),
        Field("scene_token", "ref", table="scene"),
        *_chain("sample"),
        Field("uav_weather", "same", optional=True),
    ),
    "sample_data": (
        _TOKEN,
        Field("sample_token", "ref", table="sample"),
        Field("ego_pose_token", "ref", table="ego_pose"),
        Field("calibrated_sensor_token", "ref", table="calibrated_sensor"),
        Field("timestamp", "int"),
        Field("is_key_frame", "bool"),
        Field("height", "int"),
        Field("width", "int"),
        *_text("fileformat", "filename"),
        *_chain("sample_data"),
    ),
    "instance": (
        _TOKEN,
        Field("category_token", "ref", table="category"),
        Field("nbr_annotations", "int"),
        Field("first_annotation_token", "ref", table="sample_annotation"),
        Field("last_annotation_token", "ref", table="sample_annotation"),
    ),
    "sample_annotation": (
        _TOKEN,
        Field("sample_token", "ref", table="sample"),
        Field("instance_token", "ref", table="instance"),
        Field("visibility_token", "ref", table="visibility", empty=True),
        Field("attribute_tokens", "refs", table="attribute"),
        _TRANSLATION,
        Field("size", "vector", length=3),
        _ROTATION,
        Field("num_lidar_pts", "int"),
        Field("num_radar_pts", "int"),
        *_chain("sample_annotation"),
        Field("uav_instance_id", "int", optional=True),
        Field("uav_blueprint", "text", optional=True),
        Field("uav_actor_translation", "vector", length=3, optional=True),
        Field("uav_bbox_offset", "vector", length=3, optional=True),
        Field("uav_velocity", "vector", length=3, optional=True),
        Field("uav_amodal_px", "int", optional=True),
        Field("uav_visible_px", "int", optional=True),
    ),
}
"""The 13 tables that the devkit opens; ``uav_*`` are extra."""

EXTRA: Final[dict[str, tuple[Field, ...]]] = {
    "agent": (
        _TOKEN,
        Field("scene_token", "ref", table="scene"),
        *_text("id", "kind", "rig"),
        Field("instance_token", "ref", table="instance", empty=True),
    ),
    "layer": (_TOKEN, Field("sample_data_token", "ref", table="sample_data"), *_text("kind", "filename")),
    "shutter_tick": (
        _TOKEN,
        Field("sample_data_token", "ref", table="sample_data"),
        Field("timestamp", "int"),
        _TRANSLATION,
        _ROTATION,
    ),
    "ignore_region": (
        _TOKEN,
        Field("sample_data_token", "ref", table="sample_data"),
        Field("semantic_tag", "int"),
        Field("box", "vector", length=4),
        Field("pixels", "int"),
    ),
    "sweep_annotation": (
        _TOKEN,
        Field("sample_token", "ref", table="sample"),
        Field("timestamp", "int"),
        Field("instance_token", "ref", table="instance"),
        Field("translation", "vector", length=3),
        Field("rotation", "vector", length=4),
    ),
    "corner_case": (
        _TOKEN,
        Field("scene_token", "ref", table="scene"),
        *_text("name", "tag"),
        Field("min_visible_px", "int"),
        Field("instance_tokens", "refs", table="instance"),
    ),
    "object_tag": (_TOKEN, Field("instance_token", "ref", table="instance"), *_text("tag", "corner_case_token")),
    "lidarseg": (_TOKEN, Field("sample_data_token", "ref", table="sample_data"), *_text("filename")),
    "stream": (
        _TOKEN,
        Field("scene_token", "ref", table="scene"),
        *_text("channel", "kind", "motion", "filename"),
        Field("rate_hz", "number"),
        Field("count", "int"),
    ),
    "clock": (
        _TOKEN,
        Field("scene_token", "ref", table="scene"),
        *_text("agent"),
        Field("rate_hz", "number"),
        Field("step_us", "int"),
        Field("drift_ppm", "number"),
        Field("offset_us", "number"),
    ),
    "clock_reading": (
        _TOKEN,
        Field("sample_data_token", "ref", table="sample_data"),
        Field("asked_us", "number"),
        Field("residual_us", "number"),
        Field("agent_timestamp", "int"),
    ),
    "message": (
        _TOKEN,
        Field("scene_token", "ref", table="scene"),
        *_text("sender", "receiver"),
        Field("timestamp", "int"),
        Field("arrival", "int"),
    ),
    "encounter": (
        _TOKEN,
        Field("scene_token", "ref", table="scene"),
        *_text("name", "kind", "channel"),
        Field("planned", "bool"),
        Field("instance_id", "int"),
        Field("cpa_m", "number"),
    ),
    "intruder_view": (
        _TOKEN,
        Field("encounter_token", "ref", table="encounter"),
        Field("sample_data_token", "ref", table="sample_data"),
        _TRANSLATION,
        Field("range_m", "number"),
        Field("closing_mps", "number"),
        Field("bbox", "vector", length=4),
        Field("from_mask", "bool"),
        Field("visible_px", "int"),
        Field("is_above_horizon", "int", optional=True),
    ),
}
"""Tables that the devkit does not know and a dataset of others' does not have."""
