"""The tables of encounters in the air."""

from typing import Final, NotRequired, TypedDict

from uavsim.dataset.rows import Vector
from uavsim.dataset.schema import Table


class EncounterRow(TypedDict):
    """An intruder and how it passes: as planned, and ``cpa_m`` and ``cpa_s`` as flown; times since the scene's first image."""

    token: str
    scene_token: str
    name: str
    kind: str
    path: str
    profile: str
    planned: bool
    instance_id: int
    channel: str
    size: Vector
    collision_course: bool
    begin_s: float
    range_m: float
    closing_mps: float
    azimuth_deg: float
    elevation_deg: float
    cpa_m: float
    cpa_s: float
    planned_cpa_m: float
    planned_cpa_s: float


class IntruderViewRow(TypedDict):
    """An intruder in one image; boxes are left, top, width, height."""

    token: str
    encounter_token: str
    sample_data_token: str
    translation: Vector
    rotation: Vector
    range_m: float
    closing_mps: float
    azimuth_deg: float
    elevation_deg: float
    bbox: Vector
    bbox_aot: Vector
    from_mask: bool
    visible_px: int
    is_above_horizon: NotRequired[int]


ENCOUNTER: Final = Table.where_used("encounter", EncounterRow, "scene_token")
INTRUDER_VIEW: Final = Table.where_used("intruder_view", IntruderViewRow, "sample_data_token")
TABLES: Final = (ENCOUNTER, INTRUDER_VIEW)
