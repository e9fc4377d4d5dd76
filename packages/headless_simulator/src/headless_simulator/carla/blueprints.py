"""The blueprint library of ``get_actor_definitions``, and validation of the blueprints that clients spawn.

Source: CARLA 0.9.16's ``ActorBlueprintFunctionLibrary`` and factories; the catalogues of its documentation.
"""

from typing import Any, Final

from headless_simulator.carla.attributes import (
    BOOL,
    COLOUR,
    FLOAT,
    INT,
    STRING,
    Attribute,
    fixed,
    role_names,
    variation,
)  # fmt: skip
from headless_simulator.carla.sensor_blueprints import sensor_blueprints
from headless_simulator.carla.versions import CarlaVersion
from headless_simulator.errors import CallRefused
from headless_simulator.models.catalogue import PROPS, VEHICLES, WALKERS, Vector
from headless_simulator.models.flyers import FLYERS

_WITHOUT_COLOUR: Final = frozenset({"vehicle.tesla.cybertruck"})
_WITH_DRIVERS: Final = frozenset({"vehicle.lincoln.mkz_2020"})  # and everything on two wheels
_DRIVERS: Final = ("0", "1", "2", "3", "4", "5")
_AGES: Final = {"senior": "elderly"}
_SIZES_M: Final = ((0.3, "tiny"), (0.8, "small"), (2.0, "medium"), (4.5, "big"))  # longest side; above: huge

Definition = list[Any]  # [uid, id, tags, [attribute]]


def _vehicle(name: str) -> list[Attribute]:
    spec = VEHICLES[name]
    rows = role_names(name, "autopilot", "scenario", "ego_vehicle")
    if name not in _WITHOUT_COLOUR:
        rows.append(variation("color", COLOUR, *(",".join(map(str, colour)) for colour in spec.colours)))
    if spec.wheels == 2 or name in _WITH_DRIVERS:
        rows.append(variation("driver_id", INT, *_DRIVERS, restricted=True))
    return [
        *rows,
        variation("sticky_control", BOOL, "true"),
        variation("terramechanics", BOOL, "false"),
        fixed("object_type", STRING, ""),
        fixed("base_type", STRING, spec.base_type),
        fixed("special_type", STRING, spec.special_type),
        fixed("number_of_wheels", INT, spec.wheels),
        fixed("generation", INT, spec.generation),
        fixed("has_dynamic_doors", BOOL, spec.has_doors),
        fixed("has_lights", BOOL, spec.has_lights),
    ]


def _walker(name: str) -> list[Attribute]:
    spec = WALKERS[name]
    return [
        *role_names(name, "pedestrian"),
        variation("speed", FLOAT, *(("0.0", "1.4", "2.6") if spec.age != "senior" else ("0.0", "0.9", "1.5"))),
        variation("is_invincible", BOOL, "true"),
        variation("use_wheelchair", BOOL, "false", restricted=True),
        fixed("gender", STRING, spec.gender),
        fixed("generation", INT, spec.generation),
        fixed("age", STRING, _AGES.get(spec.age, spec.age)),
        fixed("can_use_wheelchair", BOOL, False),
    ]


def _size(half_extent_m: Vector) -> str:
    longest_m = 2 * max(half_extent_m)
    return next((name for limit_m, name in _SIZES_M if longest_m < limit_m), "huge")


def _others() -> dict[str, list[Attribute]]:
    mesh = [variation("mesh_path", STRING, ""), variation("mass", FLOAT, ""), variation("scale", FLOAT, "1.0f")]
    box = [variation(f"extent_{axis}", FLOAT, "1.0f") for axis in "xyz"]
    rows = {
        "static.prop.mesh": mesh,
        "static.trigger.friction": [variation("friction", FLOAT, "3.5f"), *box],
        "controller.ai.walker": [],
        "util.actor.empty": [],
    }
    return {name: role_names(name, "default") + attributes for name, attributes in rows.items()}


def _library() -> list[Definition]:
    rows = {name: _vehicle(name) for name in VEHICLES} | {name: _walker(name) for name in WALKERS}
    rows |= {
        name: [*role_names(name, "prop"), fixed("size", STRING, _size(spec.half_extent_m))]
        for name, spec in PROPS.items()
    }
    rows |= sensor_blueprints() | _others()
    rows |= {
        name: [*role_names(name, "prop"), fixed("size", STRING, _size(spec.half_extent_m))]
        for name, spec in FLYERS.items()
    }
    return [
        [uid, name, name.replace(".", ","), attributes] for uid, (name, attributes) in enumerate(rows.items(), start=1)
    ]


DEFINITIONS: Final[list[Definition]] = _library()
_BY_NAME: Final[dict[str, dict[str, Attribute]]] = {d[1]: {a[0]: a for a in d[3]} for d in DEFINITIONS}


def definitions(version: CarlaVersion) -> list[Definition]:
    """Return the library of one version of CARLA."""
    served_names = {name: served_name for served_name, name in version.vehicles.items()}
    shift = version.first_attribute_type - BOOL
    rows = []
    for uid, name, _, attributes in DEFINITIONS:
        if name in version.absent_sensors or (served_names and name in VEHICLES and name not in served_names):
            continue
        served_name = served_names.get(name) or name
        shifted = [[attribute, kind + shift, *rest] for attribute, kind, *rest in attributes]
        rows.append([uid, served_name, served_name.replace(".", ","), shifted])
    return rows


def model(version: CarlaVersion, blueprint: str) -> str:
    """Return this module's blueprint for a blueprint of a CARLA version.

    Raises:
        CallRefused: the version has no such blueprint.
    """
    name = version.vehicles.get(blueprint, blueprint)
    if version.vehicles and blueprint in VEHICLES and blueprint not in version.vehicles:
        raise CallRefused(f"actor definition {blueprint!r} not found: CARLA {version.number} has no such vehicle")
    if blueprint in version.absent_sensors:
        raise CallRefused(f"actor definition {blueprint!r} not found: CARLA {version.number} has no such sensor")
    require(name)
    return name


def require(blueprint: str) -> None:
    """Refuse an unknown blueprint.

    Raises:
        CallRefused: the library has no such blueprint.
    """
    if blueprint not in _BY_NAME:
        raise CallRefused(f"actor definition {blueprint!r} not found: it is not in this server's blueprint library")


def known(blueprint: str) -> bool:
    """Return whether the library has a blueprint."""
    return blueprint in _BY_NAME


def complete(blueprint: str, values: dict[str, str]) -> dict[str, str]:
    """Return every attribute of a blueprint: the client's value, else the default."""
    return {name: str(row[2]) for name, row in _BY_NAME[blueprint].items()} | values


def kind_of(blueprint: str, attribute: str) -> int:
    """Return the type of an attribute: ``BOOL`` to ``COLOUR``; ``STRING`` for an unknown one."""
    row = _BY_NAME.get(blueprint, {}).get(attribute)
    return STRING if row is None else int(row[1])
