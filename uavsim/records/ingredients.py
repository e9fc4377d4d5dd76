"""Ingredients of a scene: traffic, walkers, parked vehicles, a town's maps; others, such as corner cases, are of packages.

An ``Ingredient`` says everything about one of them by data and by dotted names; its parts live in a module of
``uavsim/ingredients``, or of an installed package that names its object by an entry point of ``uavsim.ingredients``. The rooms
ask the registry and branch on no name. This module imports none of the parts, so that whoever reads a plan needs no
client of a simulator. docs/how-to-add-to-a-scene.md shows one made from the start.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeAlias

from uavsim.errors import DatasetError
from uavsim.registry import Named, Registry

Part: TypeAlias = Named[Any]
"""A function, class or module's object of an ingredient, by its dotted name; each field below says its signature."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActorKind:
    """Other rooms' knowledge of the actors of one kind.

    Attributes:
        name: in ``ActorInfo.kind``.
        written_as: the word for it in tables; "" is its name.
        has_box: its actors get boxes, by their class.
        label: class of an actor whose blueprint has none; None where base type and semantic tag report it.
        is_prop: a thing that stands: its class is one of the props', and its sides may be thin.
        has_own_tag: pixels with its semantic tag are counted in masks, beside those of what moves.
        is_of_town: no actor of the simulator but a part of the town: no actor id, and labelled only where a dataset asks.
        is_lone: nothing is near it in an image: a single pixel of the mask says where it is.
        is_drone: the body of a drone of the swarm; they are spawned in the order of the drones.
        is_parked: always ``vehicle.parked``.
        is_ridden: a two-wheeler of it has a rider unless its role is ``parked``.
        is_driven: a traffic manager drives it: it moves unless a light or another vehicle is in its way.
        origin_at_middle: of its box; else at the box's foot.
        may_hide: a replay may leave it out.
    """

    name: str
    written_as: str = ""
    has_box: bool = True
    label: str | None = None
    is_prop: bool = False
    has_own_tag: bool = False
    is_of_town: bool = False
    is_lone: bool = False
    is_drone: bool = False
    is_parked: bool = False
    is_ridden: bool = False
    is_driven: bool = False
    origin_at_middle: bool = False
    may_hide: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class FileKind:
    """A kind of YAML file that an ingredient brings.

    Attributes:
        folder: below ``flight_plans``; the kind's own name is its key in ``Ingredient.files``.
        spoken: the word for such a file in messages.
        model: the pydantic model.
        check: ``(Loaded) -> Loaded``; refuses what the model alone cannot know.
    """

    folder: str
    spoken: str
    model: Part
    check: Part | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingredient:
    """Something that a scene may hold.

    Attributes:
        key: of a dataset's YAML under which its block stands; several ingredients may share one.
        block: what stands there: a type, or a pydantic model with defaults for ``always``; None where no dataset asks for it.
        about: explains the key to editors.
        always: a dataset without the key has the block's defaults; else it has no such ingredient.
        records: dataclasses of its plan, which the codec writes and reads.
        planner: ``(TownPlan) -> ScenePlanner | None`` of ``plan/ingredients.py``.
        files: kinds of YAML files that it brings.
        sites: ``(record) -> {name in SITES of records/road_map.py: what stands there}``: the flight has to come near to one.
        whole_scenes: its plans need the whole scene's flight, also where fewer samples are flown.
        summary: ``(record) -> {column: value}``, columns of the table that ``uavsim plan`` prints.
        summary_json: the same for ``uavsim plan --json``.
        show: ``(dataset, plans, image) -> None``: prints more below that table; ``image`` is the plan's, if one is drawn.
        show_json: ``(dataset, plans) -> {key: value}`` beside the scenes of ``--json``.
        without: ``(record, actors, hidden, where) -> record``: its plan in a replay that hides some actors.
        kinds: of its actors.
        role: first word of the ``role_name`` of its actors that are props, by which a later client clears them away.
        spawn: ``(SpawnContext, record) -> Spawned`` of ``simulate/carla/spawning.py``.
        spawn_order: smaller ones spawn first.
        order: actors of smaller ones get smaller instance ids, and their tables stand first; equal ones go by name.
        stands_in: spawns in place of all others.
        finish: ``(record, actor, info) -> info``: the last touch of each of its actors, a replay's too.
        flight: ``(record) -> SceneMotion | None`` of drones that do not fly the plan.
        labels: ``(Recording, record) -> object`` that lands in ``SceneLabels.ingredients``.
        files_made: ``(Recording, record) -> {path in the recording's folder: path in the dataset}``: writes files of its own.
        folders: of the dataset, in which these lie.
        town_files: ``(TownSource, town, record) -> {path in the dataset: bytes}``: files of a town, made once.
        town_buildings: ``(record) -> bool``: whether these need the town's buildings.
        tables: tuple of the ``Table`` objects that a plug-in adds to a dataset; their ``references`` show validators what to
            check. Our own tables are in ``dataset/schema.py``.
        rows: ``(SceneLabels, record, tables) -> {table: rows}`` of them.
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
    stands_in: bool = False
    finish: Part | None = None
    flight: Part | None = None
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


def every() -> list[tuple[str, Ingredient]]:
    """Return every ingredient and its name, in the order in which actors are numbered and tables stand."""
    found = ((name, INGREDIENTS.pick(name)) for name in INGREDIENTS.names())
    return sorted(found, key=lambda one: (one[1].order, one[0]))


@dataclass(frozen=True, slots=True)
class Used:
    """One ingredient of a scene, and the record of its plan."""

    name: str
    ingredient: Ingredient
    record: Any


def ingredients_of(records: Mapping[str, Any]) -> list[Used]:
    """Return what a scene holds, in the registry's order.

    Args:
        records: of ``ScenePlan.ingredients``.

    Raises:
        UnknownNameError: one is of a package that is not installed.
    """
    found = [Used(name, INGREDIENTS.pick(name), record) for name, record in records.items()]
    return sorted(found, key=lambda used: (used.ingredient.order, used.name))


def has_props(records: Mapping[str, Any]) -> bool:
    """Return whether a scene may have boxes of props, whose classes ordinary traffic does not have."""
    return any(kind.is_prop for used in ingredients_of(records) for kind in used.ingredient.kinds)


def has_drones(records: Mapping[str, Any]) -> bool:
    """Return whether the swarm's drones have boxes in a scene."""
    return any(kind.is_drone for used in ingredients_of(records) for kind in used.ingredient.kinds)


@cache
def owner_of_kind(kind: str) -> tuple[str, ActorKind]:
    """Return the ingredient whose actors are of a kind, by name, and what it says of the kind.

    Raises:
        DatasetError: none has such actors.
    """
    for name, ingredient in every():
        for own in ingredient.kinds:
            if own.name == kind:
                return name, own
    raise DatasetError(f"no ingredient has actors of kind {kind!r}; install the package that the scene was made with")


def actor_kind(kind: str) -> ActorKind:
    """Return what is said of actors of a kind; ``owner_of_kind`` names the errors."""
    return owner_of_kind(str(kind))[1]  # a foreign recording may hold anything there


def is_of_role(role_name: str) -> bool:
    """Return whether a prop's ``role_name`` is that of an ingredient's actors, not of other people's props."""
    return any(ingredient.role and role_name.partition(" ")[0] == ingredient.role for _, ingredient in every())


def folders_made() -> tuple[str, ...]:
    """Return the dataset's folders that ingredients fill."""
    return tuple(dict.fromkeys(folder for _, ingredient in every() for folder in ingredient.folders))


def file_kinds() -> dict[str, FileKind]:
    """Return every kind of file that ingredients bring, by name."""
    return {kind: file for _, ingredient in every() for kind, file in ingredient.files.items()}


# ---------------------------------------------------------------------- the codec's view of plans
@cache
def _records_of(name: str) -> dict[str, type]:
    records: list[type] = [record.load() for record in INGREDIENTS.pick(name).records]
    return {record.__name__: record for record in records}


def record_name(record: type) -> str | None:
    """Return the name under which a plan's record is written, ``corner_cases.CasePart``; None where it is of no ingredient."""
    for name in INGREDIENTS.names():
        if _records_of(name).get(record.__name__) is record:
            return f"{name}.{record.__name__}"
    return None


def record_named(name: str) -> type | None:
    """Return the record of a name as ``record_name`` gives it; None where no installed ingredient has it."""
    owner, _, record = name.partition(".")
    return _records_of(owner).get(record) if owner in INGREDIENTS.names() else None
