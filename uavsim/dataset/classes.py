"""From what the simulator calls an actor to the classes of both dialects.

UAV3D names its categories by the blueprints of CARLA 0.9.10; later versions renamed most of them, and a tracking evaluation
that does not know a name drops its boxes. ``UAV3D_NAME`` therefore maps today's blueprints to the old names: renamed ones to
themselves, remodelled ones (``_2020``, ``_2021``) to the car that they replaced.
Source: UAV3D ``nusc_tracking/projects/utils.py`` (27 names); CARLA docs, "Vehicle catalogue", 0.9.12 to 0.9.16.
"""

from __future__ import annotations

from typing import Final

from uavsim.records.recording import ActorInfo
from uavsim.records.vocabulary import UAV3D_CARS

__all__ = [
    "NUSCENES_CATEGORY",
    "UAV3D_CAR_BLUEPRINTS",
    "UAV3D_NAME",
    "label_of",
    "label_of_blueprint",
    "uav3d_category",
]

NUSCENES_CATEGORY: Final = {
    "car": "vehicle.car",
    "van": "vehicle.car",  # nuScenes counts vans and people carriers as cars
    "truck": "vehicle.truck",
    "bus": "vehicle.bus.rigid",
    "motorcycle": "vehicle.motorcycle",
    "bicycle": "vehicle.bicycle",
    "pedestrian": "human.pedestrian.adult",
}

UAV3D_CAR_BLUEPRINTS: Final = UAV3D_CARS
"""The 17 classes of UAV3D: CARLA 0.9.10's cars less those that its ``--safe`` traffic leaves out."""

UAV3D_NAME: Final = {
    "vehicle.dodge.charger_police": "vehicle.dodge_charger.police",
    "vehicle.dodge.charger_police_2020": "vehicle.dodge_charger.police",
    "vehicle.dodge.charger_2020": "vehicle.dodge_charger.police",
    "vehicle.ford.mustang": "vehicle.mustang.mustang",
    "vehicle.lincoln.mkz_2017": "vehicle.lincoln.mkz2017",
    "vehicle.lincoln.mkz_2020": "vehicle.lincoln.mkz2017",
    "vehicle.mercedes.coupe": "vehicle.mercedes-benz.coupe",
    "vehicle.mercedes.coupe_2020": "vehicle.mercedes-benz.coupe",
    "vehicle.mini.cooper_s": "vehicle.mini.cooperst",
    "vehicle.mini.cooper_s_2021": "vehicle.mini.cooperst",
    "vehicle.nissan.patrol_2021": "vehicle.nissan.patrol",
    "vehicle.volkswagen.t2_2021": "vehicle.volkswagen.t2",
}

_BY_TAG: Final = {12: "pedestrian", 14: "car", 15: "truck", 16: "bus", 18: "motorcycle", 19: "bicycle"}
_BY_BLUEPRINT: Final = {  # what some versions report with no base_type or a misleading one
    "vehicle.carlamotors.carlacola": "truck",
    "vehicle.carlamotors.european_hgv": "truck",
    "vehicle.carlamotors.firetruck": "truck",
    "vehicle.ford.ambulance": "van",
    "vehicle.mercedes.sprinter": "van",
    "vehicle.volkswagen.t2": "van",
    "vehicle.volkswagen.t2_2021": "van",
    "vehicle.mitsubishi.fusorosa": "bus",
    "vehicle.bh.crossbike": "bicycle",
    "vehicle.diamondback.century": "bicycle",
    "vehicle.gazelle.omafiets": "bicycle",
    "vehicle.harley-davidson.low_rider": "motorcycle",
    "vehicle.kawasaki.ninja": "motorcycle",
    "vehicle.vespa.zx125": "motorcycle",
    "vehicle.yamaha.yzf": "motorcycle",
}
_BY_BASE_TYPE: Final = {
    "car": "car",
    "van": "van",
    "truck": "truck",
    "bus": "bus",
    "motorcycle": "motorcycle",
    "motorbike": "motorcycle",
    "bicycle": "bicycle",
}


def label_of(info: ActorInfo) -> str | None:
    """Return the class of an actor (car, van, ..., pedestrian), or None for things that are no traffic."""
    if info.kind == "walker":
        return "pedestrian"
    named = _BY_BLUEPRINT.get(info.blueprint) or _BY_BASE_TYPE.get(info.base_type.casefold())
    return named or _BY_TAG.get(info.semantic_tag) or label_of_blueprint(info.blueprint)


def label_of_blueprint(blueprint: str) -> str | None:
    """Return the class that a blueprint's name tells, by CARLA's catalogue."""
    if blueprint.startswith("walker."):
        return "pedestrian"
    return _BY_BLUEPRINT.get(blueprint, "car" if blueprint.startswith("vehicle.") else None)


def uav3d_category(blueprint: str) -> str:
    """Return the name that UAV3D's tables have for a blueprint; names it never had stay as they are."""
    return UAV3D_NAME.get(blueprint, blueprint)
