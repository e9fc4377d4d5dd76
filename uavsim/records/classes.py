"""Object classes: labels, sizes, attributes and tags for labelling, dialects and exports.

A class is one row of ``CLASSES`` and a word in ``Label``. Strict datasets have the coarser categories of nuScenes, which
several classes may share. The validator has its own list (``validate``). Source: CARLA docs, "Vehicle catalogue" and
"Semantic segmentation camera", 0.9.12 to 0.9.16; nuScenes ``utils/color_map.py``, lidarseg's category table,
``eval/detection/utils.py``; UAV3D ``nusc_tracking/projects/utils.py`` (27 names).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, get_args

from uavsim.records.ingredients import actor_kind
from uavsim.records.props import PROP_MESH, PROPS, PropLabel
from uavsim.records.recording import ActorInfo

TrafficLabel: TypeAlias = Literal["car", "van", "truck", "bus", "motorcycle", "bicycle", "pedestrian"]
Label: TypeAlias = TrafficLabel | PropLabel | Literal["drone"]
"""The words of configuration files; ``CLASSES`` has one row for each."""
LABELS: Final[tuple[Label, ...]] = (*get_args(TrafficLabel), *get_args(PropLabel), "drone")
Behaviour: TypeAlias = Literal["drives", "is_ridden", "walks", "stands", "flies"]
"""Attributes of a class: moving, stopped, parked; with and without rider; moving, standing; none; none."""
Size: TypeAlias = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Category:
    """A category of nuScenes with its index, colour and detection class."""

    name: str
    index: int
    colour_rgb: tuple[int, int, int]
    description: str
    detection: str


@dataclass(frozen=True, slots=True)
class ObjectClass:
    """One class of objects.

    Attributes:
        label: name in configuration files and in ``uav_label``.
        category: category in strict datasets.
        behaviour: see ``Behaviour``.
        half_extent_m: (x, y, z) for implausible boxes of blueprints that are not in ``sizes``.
        fill: covered share of the box's silhouette, for scenes without an unoccluded object of the class.
        base_types: CARLA's ``base_type`` attributes.
        tag: semantic tag in CARLA's palette; None if another class has it.
        blueprints: blueprints of the class regardless of their ``base_type`` and tag.
        sizes: half extents (x, y, z) of single blueprints, metres.
        uav3d_names: blueprint -> name in CARLA 0.9.10, as in UAV3D's files; remodelled vehicles (``_2020``, ``_2021``) have
            the names of those that they replace. UAV3D's tracking evaluation drops boxes with unknown names.
    """

    label: Label
    category: Category
    behaviour: Behaviour
    half_extent_m: Size
    fill: float
    base_types: tuple[str, ...] = ()
    tag: int | None = None
    blueprints: tuple[str, ...] = ()
    sizes: Mapping[str, Size] = field(default_factory=dict)
    uav3d_names: Mapping[str, str] = field(default_factory=dict)


_ADULT: Final = Category("human.pedestrian.adult", 2, (0, 0, 230), "Adult on foot.", "pedestrian")
_BICYCLE: Final = Category("vehicle.bicycle", 14, (220, 20, 60), "Bicycle, with its rider.", "bicycle")
_BUS: Final = Category("vehicle.bus.rigid", 16, (255, 69, 0), "Bus.", "bus")
_CAR: Final = Category("vehicle.car", 17, (255, 158, 0), "Car, van, jeep, pick-up or taxi.", "car")
_MOTORCYCLE: Final = Category(
    "vehicle.motorcycle", 21, (255, 61, 99), "Motorcycle or scooter, with its rider.", "motorcycle"
)
_TRUCK: Final = Category(
    "vehicle.truck", 23, (255, 99, 71), "Lorry, fire engine, ambulance or other heavy vehicle.", "truck"
)

_CONE: Final = Category("movable_object.trafficcone", 12, (47, 79, 79), "Traffic cone.", "traffic_cone")
_BARRIER: Final = Category("movable_object.barrier", 9, (112, 128, 144), "Barrier that can be moved.", "barrier")
_PUSHABLE: Final = Category(
    "movable_object.pushable_pullable",
    11,
    (105, 105, 105),
    "Dustbin, shopping cart or other thing to push or pull.",
    "",
)
_DRONE: Final = Category("vehicle.ego", 31, (255, 240, 245), "Drone of the swarm, which carries sensors.", "")
_DEBRIS: Final = Category("movable_object.debris", 10, (210, 105, 30), "Thing that lies where it is in the way.", "")


def _prop_class(label: PropLabel, category: Category, *, half_extent_m: Size) -> ObjectClass:
    """Return the class of all props with a label."""
    sizes = {name: half for name, (prop_label, half) in PROPS.items() if prop_label == label}
    return ObjectClass(
        label=label,
        category=category,
        behaviour="stands",
        half_extent_m=half_extent_m,
        fill=0.7,
        blueprints=(*sizes, *([PROP_MESH] if label == "debris" else [])),
        sizes=sizes,
    )


CLASSES: Final[tuple[ObjectClass, ...]] = (
    ObjectClass(
        label="car",
        category=_CAR,
        behaviour="drives",
        half_extent_m=(2.3, 1.0, 0.76),
        fill=0.85,
        base_types=("car",),
        tag=14,
        uav3d_names={
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
        },
    ),
    ObjectClass(
        label="van",
        category=_CAR,  # nuScenes counts vans and people carriers as cars
        behaviour="drives",
        half_extent_m=(2.6, 1.0, 1.15),
        fill=0.9,
        base_types=("van",),
        blueprints=(
            "vehicle.ford.ambulance",
            "vehicle.mercedes.sprinter",
            "vehicle.volkswagen.t2",
            "vehicle.volkswagen.t2_2021",
        ),
        uav3d_names={"vehicle.volkswagen.t2_2021": "vehicle.volkswagen.t2"},
    ),
    ObjectClass(
        label="truck",
        category=_TRUCK,
        behaviour="drives",
        half_extent_m=(3.5, 1.25, 1.5),
        fill=0.9,
        base_types=("truck",),
        tag=15,
        blueprints=(
            "vehicle.carlamotors.carlacola",
            "vehicle.carlamotors.european_hgv",
            "vehicle.carlamotors.firetruck",
        ),
    ),
    ObjectClass(
        label="bus",
        category=_BUS,
        behaviour="drives",
        half_extent_m=(5.1, 1.5, 2.1),
        fill=0.95,
        base_types=("bus",),
        tag=16,
        blueprints=("vehicle.mitsubishi.fusorosa",),
    ),
    ObjectClass(
        label="motorcycle",
        category=_MOTORCYCLE,
        behaviour="is_ridden",
        half_extent_m=(1.1, 0.4, 0.8),
        fill=0.6,
        base_types=("motorcycle", "motorbike"),
        tag=18,
        blueprints=(
            "vehicle.harley-davidson.low_rider",
            "vehicle.kawasaki.ninja",
            "vehicle.vespa.zx125",
            "vehicle.yamaha.yzf",
        ),
        sizes={
            "vehicle.harley-davidson.low_rider": (1.18, 0.38, 0.80),
            "vehicle.kawasaki.ninja": (1.02, 0.40, 0.77),
            "vehicle.vespa.zx125": (0.91, 0.43, 0.79),
            "vehicle.yamaha.yzf": (1.11, 0.43, 0.77),
        },
    ),
    ObjectClass(
        label="bicycle",
        category=_BICYCLE,
        behaviour="is_ridden",
        half_extent_m=(0.85, 0.3, 0.85),
        fill=0.5,
        base_types=("bicycle",),
        tag=19,
        blueprints=("vehicle.bh.crossbike", "vehicle.diamondback.century", "vehicle.gazelle.omafiets"),
        sizes={
            "vehicle.bh.crossbike": (0.75, 0.43, 0.81),
            "vehicle.diamondback.century": (0.82, 0.19, 0.81),
            "vehicle.gazelle.omafiets": (0.92, 0.25, 0.88),
        },
    ),
    ObjectClass(
        label="pedestrian",
        category=_ADULT,
        behaviour="walks",
        half_extent_m=(0.19, 0.19, 0.93),
        fill=0.6,
        tag=12,
    ),
    _prop_class("traffic_cone", _CONE, half_extent_m=(0.2, 0.2, 0.35)),
    _prop_class("barrier", _BARRIER, half_extent_m=(0.61, 0.18, 0.54)),
    _prop_class("pushable", _PUSHABLE, half_extent_m=(0.4, 0.35, 0.5)),
    _prop_class("debris", _DEBRIS, half_extent_m=(0.4, 0.4, 0.3)),
    ObjectClass(label="drone", category=_DRONE, behaviour="flies", half_extent_m=(0.6, 0.6, 0.25), fill=0.5),
)


def _categories(*behaviours: Behaviour) -> tuple[Category, ...]:
    return tuple(sorted({c.category for c in CLASSES if c.behaviour in behaviours}, key=lambda category: category.name))


CATEGORIES: Final = _categories("drives", "is_ridden", "walks")
"""Categories of traffic, sorted by name: rows of the table ``category``."""
PROP_CATEGORIES: Final = _categories("stands")
"""Categories of props: additional rows in datasets with corner cases."""
DRONE_CATEGORIES: Final = _categories("flies")
"""Category of the swarm's drones: an additional row if these have bodies. nuScenes has no drones; ``vehicle.ego`` is drawn."""

DETECTION_CLASSES: Final = (
    "car",
    "truck",
    "trailer",
    "bus",
    "construction_vehicle",
    "bicycle",
    "motorcycle",
    "pedestrian",
    "traffic_cone",
    "barrier",
)
"""nuScenes' ten detection classes, in the order of its benchmark."""

_DETECTION_OF_OTHERS: Final = {
    "human.pedestrian.child": "pedestrian",
    "human.pedestrian.construction_worker": "pedestrian",
    "human.pedestrian.police_officer": "pedestrian",
    "vehicle.bus.bendy": "bus",
    "vehicle.construction": "construction_vehicle",
    "vehicle.trailer": "trailer",
}
"""Detection classes of other categories of nuScenes."""

VEHICLE_OF_TAG: Final = {c.tag: c.label for c in CLASSES if c.tag is not None and c.base_types}
"""Semantic tag -> label of vehicles."""

UAV3D_CARS: Final = (
    "vehicle.audi.a2",
    "vehicle.audi.etron",
    "vehicle.audi.tt",
    "vehicle.bmw.grandtourer",
    "vehicle.chevrolet.impala",
    "vehicle.citroen.c3",
    "vehicle.dodge_charger.police",
    "vehicle.jeep.wrangler_rubicon",
    "vehicle.lincoln.mkz2017",
    "vehicle.mercedes-benz.coupe",
    "vehicle.mini.cooperst",
    "vehicle.mustang.mustang",
    "vehicle.nissan.micra",
    "vehicle.nissan.patrol",
    "vehicle.seat.leon",
    "vehicle.tesla.model3",
    "vehicle.toyota.prius",
)
"""UAV3D's 17 classes, which its paper does not list: the 27 of its tracking code without two-wheelers and without the vehicles
that CARLA's traffic script excludes as unsafe."""

_DETECTION: Final = {c.name: c.detection for c in (*CATEGORIES, *PROP_CATEGORIES) if c.detection} | _DETECTION_OF_OTHERS
_BY_LABEL: Final[dict[str, ObjectClass]] = {c.label: c for c in CLASSES}
_BY_TAG: Final = {c.tag: c for c in CLASSES if c.tag is not None}
_BY_BLUEPRINT: Final = {name: c for c in CLASSES if c.behaviour != "stands" for name in c.blueprints}
_PROP_BY_BLUEPRINT: Final = {name: c for c in CLASSES if c.behaviour == "stands" for name in c.blueprints}
_BY_BASE_TYPE: Final = {name: c for c in CLASSES for name in c.base_types}
_UAV3D_NAME: Final = {name: old for c in CLASSES for name, old in c.uav3d_names.items()}


def class_of(info: ActorInfo) -> ObjectClass | None:
    """Return the class of an actor, or None for an actor without labels."""
    kind = actor_kind(info.kind)
    if kind.is_lone:
        return None
    if kind.label is not None:
        blueprint_class = None if kind.is_drone else class_of_blueprint(info.blueprint)
        named = _PROP_BY_BLUEPRINT.get(info.blueprint) if kind.is_prop else blueprint_class
        return named or _BY_LABEL[kind.label]
    named = _BY_BLUEPRINT.get(info.blueprint) or _BY_BASE_TYPE.get(info.base_type.casefold())
    return named or _BY_TAG.get(info.semantic_tag) or class_of_blueprint(info.blueprint)


def class_of_blueprint(blueprint: str) -> ObjectClass | None:
    """Return the class of a blueprint by its name, or None."""
    usual = {"vehicle": _BY_LABEL["car"], "walker": _BY_LABEL["pedestrian"]}
    return _BY_BLUEPRINT.get(blueprint) or usual.get(blueprint.partition(".")[0])


def class_of_label(label: str) -> ObjectClass:
    """Return the class of a label."""
    return _BY_LABEL[label]


def uav3d_category(blueprint: str) -> str:
    """Return UAV3D's name of a blueprint; other names do not change."""
    return _UAV3D_NAME.get(blueprint, blueprint)


def detection_class(category: str) -> str | None:
    """Return nuScenes' detection class of a category; None for a category without one."""
    return _DETECTION.get(category)
