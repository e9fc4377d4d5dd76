"""Ingredients of a scene: traffic, walkers, parked vehicles, corner cases, a town's maps, and those of plug-ins.

An ``Ingredient`` is described by data and dotted names; its parts are in a module of
``uavsim/ingredients``, or of an installed package with an entry point in ``uavsim.ingredients``. Other packages
ask the registry and branch on no name. This module imports none of the parts, so that reading a plan needs no
client of a simulator. docs/how-to-add-to-a-scene.md shows a complete example.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal, TypeAlias

from uavsim.errors import DatasetError
from uavsim.registry import Named, Registry

Part: TypeAlias = Named[Any]
"""A function, class or object of an ingredient, by its dotted name; signatures are in the fields' descriptions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActorKind:
    """Properties of an actor kind that other packages use.

    Attributes:
        name: value of ``ActorInfo.kind``.
        written_as: name in tables; default: ``name``.
        label: class of actors with a blueprint without a class; None: base type and semantic tag determine it.
        is_prop: a standing thing with a class of props; its sides may be thin.
        is_of_town: part of the town instead of an actor: without actor id, and labelled only on request.
        is_lone: a far object alone in the sky: it has no box, and a single pixel of the mask locates it.
        is_drone: body of a drone of the swarm; spawned in the order of the drones.
        is_parked: always ``vehicle.parked``.
        is_driven: driven by a traffic manager: it moves unless a light or another vehicle stops it.
        origin_at_middle: its origin is at the middle of its box, instead of the foot.
        may_hide: a replay may leave it out.
    """

    name: str
    written_as: str = ""
    label: str | None = None
    is_prop: bool = False
    is_of_town: bool = False
    is_lone: bool = False
    is_drone: bool = False
    is_parked: bool = False
    is_driven: bool = False
    origin_at_middle: bool = False
    may_hide: bool = True

    @property
    def has_own_tag(self) -> bool:
        """Whether masks count pixels with its semantic tag, besides those of traffic."""
        return self.is_prop or self.is_drone or self.is_lone


@dataclass(frozen=True, slots=True, kw_only=True)
class FileKind:
    """A kind of YAML file that an ingredient adds.

    Attributes:
        folder: below ``flight_plans``; the kind's own name is its key in ``Ingredient.files``.
        spoken: name of such a file in messages.
        model: the pydantic model.
        check: ``(Loaded) -> Loaded``: checks beyond the model.
    """

    folder: str
    spoken: str
    model: Part
    check: Part | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingredient:
    """A part of scenes: its configuration, plan, actors, labels and tables.

    Attributes:
        key: key of its block in a dataset's YAML; several ingredients may share one.
        block: type of the key's value, or a pydantic model (with defaults for ``always``); None without a key.
        about: description of the key, for editors.
        always: datasets without the key have it with the block's defaults, instead of not at all.
        records: dataclasses of its plan, for the codec.
        planner: ``(TownPlan) -> ScenePlanner | None`` of ``plan/ingredients.py``.
        files: its own kinds of YAML files.
        sites: ``(record) -> {name in SITES of records/road_map.py: what stands there}``: the flight has to come near to one.
        whole_scenes: it plans the whole scene's flight, even when fewer samples are flown.
        summary: ``(record) -> {column: value}``, columns of the table that ``uavsim plan`` prints.
        summary_json: the same for ``uavsim plan --json``.
        show: ``(dataset, plans, image) -> None``: prints more below that table; ``image`` is the plan's, if one is drawn.
        show_json: ``(dataset, plans) -> {key: value}`` beside the scenes of ``--json``.
        without: ``(record, actors, hidden, where) -> record``: its plan for a replay that hides some actors.
        kinds: kinds of its actors.
        role: first word of the ``role_name`` of its props, so that a later client can remove leftovers.
        spawn: ``(SpawnContext, record) -> Spawned`` of ``simulate/carla/spawning.py``.
        spawn_order: ingredients with smaller numbers spawn first.
        order: ingredients with smaller numbers get smaller instance ids and earlier tables; equal ones go by name.
        finish: ``(record, actor, info) -> info``: final changes to each of its actors, also in a replay.
        replays: ``(record) -> SceneMotion | None``: recorded motion of the drones; None if they follow the plan. Such an
            ingredient spawns instead of all others.
        labels: ``(Recording, record) -> object`` for ``SceneLabels.ingredients``.
        files_made: ``(Recording, record) -> {path in the recording's folder: path in the dataset}``: writes its own files.
        folders: the dataset's folders of these files.
        town_files: ``(TownSource, town, record) -> {path in the dataset: bytes}``: files made once per town.
        town_buildings: ``(record) -> bool``: whether these need the town's buildings.
        tables: tuple of the ``Table`` objects that a plug-in adds to a dataset; their ``references`` show validators what to
            check. Our own tables are in ``dataset/schema.py``.
        rows: ``(SceneLabels, record, tables) -> {table: rows}``: rows of these tables.
    """

    key: str
    block: Part | None = None
    about: str = ""
    always: bool = False
    records: tuple[Part, ...]
    planner: Part | None = None
    files: Mapping[str, FileKind] = dataclasses.field(default_factory=dict)
    sites: Part | None = None
    whole_scenes: bool = False
    summary: Part | None = None
    summary_json: Part | None = None
    show: Part | None = None
    show_json: Part | None = None
    without: Part | None = None
    kinds: tuple[ActorKind, ...] = ()
    role: str = ""
    spawn: Part | None = None
    spawn_order: int = 5
    order: int = 1000
    finish: Part | None = None
    replays: Part | None = None
    labels: Part | None = None
    files_made: Part | None = None
    folders: tuple[str, ...] = ()
    town_files: Part | None = None
    town_buildings: Part | None = None
    tables: Part | None = None
    rows: Part | None = None

    @property
    def adds_objects(self) -> bool:
        """Whether its actors have boxes of classes that UAV3D's profile does not have."""
        return any(kind.is_prop or kind.is_drone for kind in self.kinds)


AgentKindName: TypeAlias = Literal["drone", "vehicle", "roadside"]


@dataclass(frozen=True, slots=True)
class AgentKind:
    """Properties of an agent kind that the pipeline branches on.

    Attributes:
        plural: name of several agents.
        letter: first letter of agent ids, ``v1``; ids of drones are numbers.
        first_id: first of the numbers that identify agents of all kinds in one column.
        id_step: step of these numbers, 1 or -1.
        seed_offset: added to an agent's number in the seed of its degradations.
        flies: is in the air for ``links``; prefix of its cameras is ``CAMERA`` as in UAV3D, else ``CAM`` as in nuScenes.
    """

    name: AgentKindName
    plural: str
    letter: str
    first_id: int
    id_step: int
    seed_offset: int
    flies: bool = False


AGENT_KINDS: Final[Mapping[str, AgentKind]] = {
    kind.name: kind
    for kind in (
        AgentKind("drone", "drones", "", first_id=0, id_step=1, seed_offset=0, flies=True),
        AgentKind("vehicle", "vehicles", "v", first_id=1000, id_step=1, seed_offset=1000),
        AgentKind("roadside", "roadside", "r", first_id=-1, id_step=-1, seed_offset=2000),
    )
}
"""Kinds of agents; a new one is appended, because seeds depend on the order, and has an ingredient with its agents."""

_BUILTIN: Final = {
    "traffic": "traffic:TRAFFIC",
    "walkers": "traffic:WALKERS",
    "parked": "traffic:PARKED",
    **{
        name: f"{name}:INGREDIENT"
        for name in (
            "town_maps",
            "clocks",
            "corner_cases",
            "drone_bodies",
            "flight_sensors",
            "intruders",
            "replay",
            "roadside",
            "skins",
            "vehicles",
        )
    },
}
INGREDIENTS: Final[Registry[Ingredient]] = Registry(
    "ingredients",
    {name: Named(f"uavsim.ingredients.{module}") for name, module in _BUILTIN.items()},
    expects=Ingredient,
)


def all_ingredients() -> list[tuple[str, Ingredient]]:
    """Return all ingredients with names, in the order of instance ids and tables."""
    found = ((name, INGREDIENTS.pick(name)) for name in INGREDIENTS.names())
    return sorted(found, key=lambda one: (one[1].order, one[0]))


@dataclass(frozen=True, slots=True)
class Used:
    """One ingredient of a scene, and the record of its plan."""

    name: str
    ingredient: Ingredient
    record: Any


def ingredients_of(records: Mapping[str, Any]) -> list[Used]:
    """Return the ingredients of a scene, in the registry's order.

    Args:
        records: of ``ScenePlan.ingredients``.

    Raises:
        UnknownNameError: the package of an ingredient is not installed.
    """
    found = [Used(name, INGREDIENTS.pick(name), record) for name, record in records.items()]
    return sorted(found, key=lambda used: (used.ingredient.order, used.name))


def has_props(records: Mapping[str, Any]) -> bool:
    """Return whether a scene may have boxes of props."""
    return any(kind.is_prop for used in ingredients_of(records) for kind in used.ingredient.kinds)


def has_drones(records: Mapping[str, Any]) -> bool:
    """Return whether the swarm's drones have boxes in a scene."""
    return any(kind.is_drone for used in ingredients_of(records) for kind in used.ingredient.kinds)


@cache
def owner_of_kind(kind: str) -> tuple[str, ActorKind]:
    """Return the name of the ingredient with an actor kind, and the kind.

    Raises:
        DatasetError: no ingredient has the kind.
    """
    for name, ingredient in all_ingredients():
        for candidate in ingredient.kinds:
            if candidate.name == kind:
                return name, candidate
    raise DatasetError(f"no ingredient has actors of kind {kind!r}; install the package that the scene was made with")


def actor_kind(kind: str) -> ActorKind:
    """Return an actor kind by name; for errors see ``owner_of_kind``."""
    return owner_of_kind(str(kind))[1]  # a foreign recording may hold any value


def is_of_role(role_name: str) -> bool:
    """Return whether a prop's ``role_name`` belongs to an ingredient, not to another client."""
    return role_name.partition(" ")[0] in {ingredient.role for _, ingredient in all_ingredients() if ingredient.role}


def folders_made() -> tuple[str, ...]:
    """Return the dataset folders of all ingredients."""
    return tuple(dict.fromkeys(folder for _, ingredient in all_ingredients() for folder in ingredient.folders))


def file_kinds() -> dict[str, FileKind]:
    """Return the file kinds of all ingredients by name."""
    return {kind: file for _, ingredient in all_ingredients() for kind, file in ingredient.files.items()}


# ---------------------------------------------------------------------- the codec's view of plans
@cache
def _records_of(name: str) -> dict[str, type]:
    records: list[type] = [record.load() for record in INGREDIENTS.pick(name).records]
    return {record.__name__: record for record in records}


def record_name(record: type) -> str | None:
    """Return the serialised name of a plan's record, ``corner_cases.CasePart``; None without an ingredient."""
    for name in INGREDIENTS.names():
        if _records_of(name).get(record.__name__) is record:
            return f"{name}.{record.__name__}"
    return None


def record_named(name: str) -> type | None:
    """Return the record type of a name of ``record_name``; None if no installed ingredient has it."""
    owner, _, record = name.partition(".")
    return _records_of(owner).get(record) if owner in INGREDIENTS.names() else None
