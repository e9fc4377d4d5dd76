"""Rows of the additional tables ``encounter`` and ``intruder_view``."""

from collections.abc import Sequence

from uavsim.dataset.rows import EncounterRow, IntruderViewRow
from uavsim.dataset.schema import ENCOUNTER, INTRUDER_VIEW, Tables
from uavsim.dataset.tokens import token
from uavsim.ingredients.intruders.intruder_plans import IntruderPlan, IntrudersPlan
from uavsim.ingredients.intruders.labels import UNKNOWN, IntruderLabels
from uavsim.records.labels import SceneLabels
from uavsim.records.plan import ScenePlan


def rows(labels: SceneLabels, record: IntrudersPlan, tables: Tables) -> Tables:
    """Return the tables of encounters; a scene without intruders has no rows."""
    del tables
    found: tuple[IntruderLabels, ...] = labels.ingredients["intruders"]
    made: Tables = {
        ENCOUNTER.name: encounter_rows(labels, record, found),
        INTRUDER_VIEW.name: intruder_view_rows(labels, record, found),
    }
    return {name: table_rows for name, table_rows in made.items() if table_rows}


def encounter_rows(
    labels: SceneLabels, record: IntrudersPlan, intruders: Sequence[IntruderLabels]
) -> list[EncounterRow]:
    """Return one row for each intruder."""
    plan = labels.plan
    made: list[EncounterRow] = []
    for found in intruders:
        intruder = record.intruders[found.intruder]
        made.append(
            {
                "token": _token(plan, intruder),
                "scene_token": token(plan.dataset, plan.scene_name, "scene"),
                "name": intruder.name,
                "kind": intruder.kind,
                "path": intruder.path,
                "profile": intruder.profile,
                "planned": intruder.planned,
                "instance_id": found.instance_id,
                "channel": plan.channel(camera=intruder.camera, drone_id=intruder.drone_id),
                "size": list(intruder.size_lwh_m),
                "collision_course": intruder.collision_course,
                "begin_s": intruder.begin_s,
                "range_m": intruder.range_m,
                "closing_mps": intruder.closing_mps,
                "azimuth_deg": intruder.azimuth_deg,
                "elevation_deg": intruder.elevation_deg,
                "cpa_m": found.cpa_m,
                "cpa_s": found.cpa_us / 1e6,
                "planned_cpa_m": intruder.cpa_m,
                "planned_cpa_s": intruder.cpa_s,
            }
        )
    return made


def intruder_view_rows(
    labels: SceneLabels, record: IntrudersPlan, intruders: Sequence[IntruderLabels]
) -> list[IntruderViewRow]:
    """Return one row for each image that shows an intruder."""
    plan = labels.plan
    made: list[IntruderViewRow] = []
    for found in intruders:
        intruder = record.intruders[found.intruder]
        channel = plan.channel(camera=intruder.camera, drone_id=intruder.drone_id)
        encounter_token = _token(plan, intruder)
        for number, frame in enumerate(found.frame.tolist()):
            timestamp_us = labels.frames[frame].timestamp_us
            image = token(plan.dataset, plan.scene_name, "sample_data", channel, timestamp_us)
            side = int(found.horizon[number])
            azimuth, elevation = found.bearing_deg[number].tolist()
            row: IntruderViewRow = {
                "token": token(encounter_token, image),
                "encounter_token": encounter_token,
                "sample_data_token": image,
                "translation": found.map_SE3_intruder.translation_m[number].tolist(),
                "rotation": found.map_SE3_intruder.quat_wxyz[number].tolist(),
                "range_m": float(found.range_m[number]),
                "closing_mps": float(found.closing_mps[number]),
                "azimuth_deg": azimuth,
                "elevation_deg": elevation,
                "bbox": found.box_px[number].tolist(),
                "bbox_aot": found.aot_px[number].tolist(),
                "from_mask": bool(found.from_mask[number]),
                "visible_px": int(found.visible_px[number]),
            }
            if side != UNKNOWN:
                row["is_above_horizon"] = side
            made.append(row)
    return made


def _token(plan: ScenePlan, intruder: IntruderPlan) -> str:
    return token(plan.dataset, plan.scene_name, "encounter", intruder.name)
