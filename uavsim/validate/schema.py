"""The required fields of each table, as the devkit reads them, and the optional fields that the validator uses.

The writers have their own list, ``dataset/schema.py``. The validator does not import it, so that it does not repeat their
mistakes; an import contract verifies this.

Source: nuScenes schema (nuscenes-devkit, docs/schema_nuscenes.md); extra fields: docs/formats-tables.md.
"""

from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal["token", "ref", "refs", "text", "int", "bool", "number", "numbers", "same", "vector", "matrix"]


@dataclass(frozen=True, slots=True)
class Field:
    """One column.

    Attributes:
        kind: type of the values: ``ref`` a token of ``table``, ``refs`` a list of them, ``vector`` ``length`` numbers,
            ``number`` one, ``numbers`` at most ``length``, ``matrix`` 3 x 3 or [], ``same`` named numbers, for equality only.
        table: table of the referenced rows.
        empty: a reference may be "".
        optional: the column may be missing.
    """

    name: str
    kind: Kind
    table: str = ""
    length: int = 0
    empty: bool = False
    optional: bool = False


def _text(*names: str, optional: bool = False) -> tuple[Field, ...]:
    return tuple(Field(name, "text", optional=optional) for name in names)


def _ints(*names: str, optional: bool = False) -> tuple[Field, ...]:
    return tuple(Field(name, "int", optional=optional) for name in names)


def _numbers(*names: str) -> tuple[Field, ...]:
    return tuple(Field(name, "number") for name in names)


def _refs(*tables: str, empty: bool = False) -> tuple[Field, ...]:
    """Return the columns ``<table>_token``."""
    return tuple(Field(f"{table}_token", "ref", table=table, empty=empty) for table in tables)


def _ends(table: str, prefix: str = "") -> tuple[Field, ...]:
    """Return the columns of the first and the last row of a chain."""
    return tuple(Field(f"{end}_{prefix or table}_token", "ref", table=table) for end in ("first", "last"))


def _vectors(*names: str, length: int = 3, optional: bool = False) -> tuple[Field, ...]:
    return tuple(Field(name, "vector", length=length, optional=optional) for name in names)


_TOKEN: Final = Field("token", "token")
_POSE: Final = (*_vectors("translation"), *_vectors("rotation", length=4))


def _chain(table: str) -> tuple[Field, ...]:
    return (Field("prev", "ref", table=table, empty=True), Field("next", "ref", table=table, empty=True))


TABLES: Final[dict[str, tuple[Field, ...]]] = {
    "category": (_TOKEN, *_text("name"), *_ints("index", optional=True)),
    "attribute": (_TOKEN, *_text("name")),
    "visibility": (_TOKEN, *_text("level", optional=True)),
    "sensor": (_TOKEN, *_text("channel", "modality")),
    "log": (
        _TOKEN,
        *_text("logfile", "vehicle", "date_captured", "location"),
        *_ints("uav_vehicles_asked", "uav_vehicles_spawned", "uav_walkers_asked", "uav_walkers_spawned", optional=True),
    ),
    "map": (_TOKEN, *_text("category", "filename"), Field("log_tokens", "refs", table="log")),
    "calibrated_sensor": (
        _TOKEN,
        *_refs("sensor"),
        *_POSE,
        Field("camera_intrinsic", "matrix"),
        *_text("uav_lens", optional=True),
        Field("uav_distortion", "numbers", length=5, optional=True),
        Field("uav_vignetting", "numbers", length=3, optional=True),
        *_ints("uav_exposure_us", "uav_readout_us", "uav_shutter_step_us", optional=True),
    ),
    "ego_pose": (_TOKEN, *_ints("timestamp"), *_POSE),
    "scene": (_TOKEN, *_text("name", "description"), *_refs("log"), *_ints("nbr_samples"), *_ends("sample")),
    "sample": (
        _TOKEN,
        *_ints("timestamp"),
        *_refs("scene"),
        *_chain("sample"),
        Field("uav_weather", "same", optional=True),
    ),
    "sample_data": (
        _TOKEN,
        *_refs("sample", "ego_pose", "calibrated_sensor"),
        *_ints("timestamp"),
        Field("is_key_frame", "bool"),
        *_ints("height", "width"),
        *_text("fileformat", "filename"),
        *_chain("sample_data"),
    ),
    "instance": (
        _TOKEN,
        *_refs("category"),
        *_ints("nbr_annotations"),
        *_ends("sample_annotation", prefix="annotation"),
    ),
    "sample_annotation": (
        _TOKEN,
        *_refs("sample", "instance"),
        *_refs("visibility", empty=True),
        Field("attribute_tokens", "refs", table="attribute"),
        *_vectors("translation", "size"),
        *_vectors("rotation", length=4),
        *_ints("num_lidar_pts", "num_radar_pts"),
        *_chain("sample_annotation"),
        *_ints("uav_instance_id", optional=True),
        *_text("uav_blueprint", optional=True),
        *_vectors("uav_actor_translation", "uav_bbox_offset", "uav_velocity", optional=True),
        *_ints("uav_amodal_px", "uav_visible_px", optional=True),
    ),
}
"""The 13 tables that the devkit opens; columns ``uav_*`` are extensions."""

EXTRA: Final[dict[str, tuple[Field, ...]]] = {
    "agent": (_TOKEN, *_refs("scene"), *_text("id", "kind", "rig"), *_refs("instance", empty=True)),
    "layer": (_TOKEN, *_refs("sample_data"), *_text("kind", "filename")),
    "shutter_tick": (_TOKEN, *_refs("sample_data"), *_ints("timestamp"), *_POSE),
    "ignore_region": (
        _TOKEN,
        *_refs("sample_data"),
        *_ints("semantic_tag"),
        *_vectors("box", length=4),
        *_ints("pixels"),
    ),
    "sweep_annotation": (_TOKEN, *_refs("sample"), *_ints("timestamp"), *_refs("instance"), *_POSE),
    "corner_case": (
        _TOKEN,
        *_refs("scene"),
        *_text("name", "tag"),
        *_ints("min_visible_px"),
        Field("instance_tokens", "refs", table="instance"),
    ),
    "object_tag": (_TOKEN, *_refs("instance"), *_text("tag", "corner_case_token")),
    "lidarseg": (_TOKEN, *_refs("sample_data"), *_text("filename")),
    "stream": (
        _TOKEN,
        *_refs("scene"),
        *_text("channel", "kind", "motion", "filename"),
        *_numbers("rate_hz"),
        *_ints("count"),
    ),
    "clock": (
        _TOKEN,
        *_refs("scene"),
        *_text("agent"),
        *_numbers("rate_hz"),
        *_ints("step_us"),
        *_numbers("drift_ppm", "offset_us"),
    ),
    "clock_reading": (
        _TOKEN,
        *_refs("sample_data"),
        *_numbers("asked_us", "residual_us"),
        *_ints("agent_timestamp"),
    ),
    "message": (_TOKEN, *_refs("scene"), *_text("sender", "receiver"), *_ints("timestamp", "arrival")),
    "encounter": (
        _TOKEN,
        *_refs("scene"),
        *_text("name", "kind", "channel"),
        Field("planned", "bool"),
        *_ints("instance_id"),
        *_numbers("cpa_m"),
    ),
    "intruder_view": (
        _TOKEN,
        *_refs("encounter", "sample_data"),
        *_vectors("translation"),
        *_numbers("range_m", "closing_mps"),
        *_vectors("bbox", length=4),
        Field("from_mask", "bool"),
        *_ints("visible_px"),
        *_ints("is_above_horizon", optional=True),
    ),
}
"""Tables that the devkit does not know; third-party datasets do not have them."""
