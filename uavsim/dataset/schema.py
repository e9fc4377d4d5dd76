"""The tables of a dataset: columns, owners of the rows, and required tables.

Reader, writers, assembler, converter and exporters use these lists. Plug-ins add tables by their ingredients
(``Ingredient.tables``) and dialects (``Dialect.tables``). The validator has its own schema (``validate/schema.py``). The
columns are in ``rows``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, Generic, Literal, TypeAlias, TypeVar

from uavsim.dataset import rows
from uavsim.errors import DatasetError
from uavsim.records.ingredients import Ingredient, all_ingredients

Scope: TypeAlias = Literal["scene", "dataset", "shared"]
"""``scene``: each row belongs to one scene. ``dataset``: gathered from all scenes. ``shared``: the same in every dataset."""
Row = TypeVar("Row", bound=Mapping[str, object])
Tables: TypeAlias = dict[str, list[Any]]
"""Rows by table name; ``Table.of`` returns typed rows."""
SPLITS: Final = "splits.json"
DATASET_INFO: Final = "uav_dataset.json"


@dataclass(frozen=True, slots=True)
class Owner:
    """The rule that assigns a row to a scene: an earlier row of the scene has the value of ``column``.

    Attributes:
        column: column of the row.
        named_in: (table, column) of the earlier rows; ``("scene", "log_token")``.
    """

    column: str
    named_in: tuple[tuple[str, str], ...]

    @classmethod
    def by(cls, column: str, *sources: str) -> Owner:
        """Make an owner from ``table.column`` names."""
        return cls(column, tuple((table, name) for table, _, name in (source.partition(".") for source in sources)))


@dataclass(frozen=True, slots=True)
class Table(Generic[Row]):
    """One table.

    Attributes:
        name: file name without ``.json``.
        row: type of the rows.
        owner: None if the rows belong to no scene.
        scope: see ``Scope``.
        required: the devkit opens the table.
        where_empty: write the file even without rows.
        references: column -> referenced table; the validator checks these in tables of packages.
    """

    name: str
    row: type[Row]
    owner: Owner | None = None
    scope: Scope = "scene"
    required: bool = True
    where_empty: bool = True
    references: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def where_used(cls, name: str, row: type[Row], column: str, *, of: str = "", refers: bool = False) -> Table[Row]:
        """Make a table that is written only with rows; a row belongs to the scene of the row named in ``column``.

        Args:
            name: name of the table.
            row: type of the rows.
            column: column of a token, for example ``sample_token``.
            of: the referenced table; default: the column's name without ``_token``.
            refers: add the column to ``references``.
        """
        table = of or column.removesuffix("_token")
        references = {column: table} if refers else {}
        return cls(
            name, row, Owner.by(column, f"{table}.token"), required=False, where_empty=False, references=references
        )

    @property
    def file(self) -> str:
        """File name in the version folder."""
        return f"{self.name}.json"

    def of(self, tables: Mapping[str, list[Any]]) -> list[Row]:
        """Return this table's rows from those of all tables; [] for a missing table."""
        return tables.get(self.name, [])


CATEGORY: Final = Table("category", rows.CategoryRow, scope="shared")
ATTRIBUTE: Final = Table("attribute", rows.AttributeRow, scope="shared")
VISIBILITY: Final = Table("visibility", rows.VisibilityRow, scope="shared")
SEMANTIC_TAG: Final = Table("semantic_tag", rows.SemanticTagRow, scope="shared", required=False)
SENSOR: Final = Table("sensor", rows.SensorRow, scope="dataset")
MAP: Final = Table("map", rows.MapRow, scope="dataset")
SCENE: Final = Table("scene", rows.SceneRow, Owner.by("token"))
LOG: Final = Table("log", rows.LogRow, Owner.by("token", "scene.log_token"))
SAMPLE: Final = Table("sample", rows.SampleRow, Owner.by("scene_token", "scene.token"))
SAMPLE_DATA: Final = Table("sample_data", rows.SampleDataRow, Owner.by("sample_token", "sample.token"))
SAMPLE_ANNOTATION: Final = Table(
    "sample_annotation", rows.SampleAnnotationRow, Owner.by("sample_token", "sample.token")
)
INSTANCE: Final = Table("instance", rows.InstanceRow, Owner.by("token", "sample_annotation.instance_token"))
EGO_POSE: Final = Table("ego_pose", rows.EgoPoseRow, Owner.by("token", "sample_data.ego_pose_token"))
CALIBRATED_SENSOR: Final = Table(
    "calibrated_sensor", rows.CalibratedSensorRow, Owner.by("token", "sample_data.calibrated_sensor_token")
)
CAMERA_POSE: Final = Table("camera_pose", rows.CameraPoseRow, Owner.by("token", "sample_data.token"), required=False)
LAYER: Final = Table("layer", rows.LayerRow, Owner.by("sample_data_token", "sample_data.token"), required=False)
SHUTTER_TICK: Final = Table.where_used("shutter_tick", rows.ShutterTickRow, "sample_data_token")
VISIBILITY_DETAIL: Final = Table(
    "visibility_detail",
    rows.VisibilityDetailRow,
    Owner.by("sample_annotation_token", "sample_annotation.token"),
    required=False,
)
IGNORE_REGION: Final = Table.where_used("ignore_region", rows.IgnoreRegionRow, "sample_data_token")
SWEEP_ANNOTATION: Final = Table.where_used("sweep_annotation", rows.SweepAnnotationRow, "sample_token")
AGENT_VIEW: Final = Table(
    "agent_view", rows.AgentViewRow, Owner.by("sample_data_token", "sample_data.token"), required=False
)
# with this table, the devkit requires label files
LIDARSEG: Final = Table.where_used("lidarseg", rows.LidarsegRow, "sample_data_token")
AGENT: Final = Table.where_used("agent", rows.AgentRow, "scene_token")

TABLES: Final[tuple[Table[Any], ...]] = (
    CATEGORY,
    ATTRIBUTE,
    VISIBILITY,
    SEMANTIC_TAG,
    SENSOR,
    MAP,
    SCENE,
    LOG,
    SAMPLE,
    SAMPLE_DATA,
    SAMPLE_ANNOTATION,
    INSTANCE,
    EGO_POSE,
    CALIBRATED_SENSOR,
    CAMERA_POSE,
    LAYER,
    SHUTTER_TICK,
    VISIBILITY_DETAIL,
    AGENT_VIEW,
    IGNORE_REGION,
    SWEEP_ANNOTATION,
    LIDARSEG,
    AGENT,
)
"""The tables that a dialect may rewrite, in reading order: owners before their rows."""

CORNER_CASE: Final = Table.where_used("corner_case", rows.CornerCaseRow, "scene_token")
OBJECT_TAG: Final = Table.where_used("object_tag", rows.ObjectTagRow, "instance_token")
ENCOUNTER: Final = Table.where_used("encounter", rows.EncounterRow, "scene_token")
INTRUDER_VIEW: Final = Table.where_used("intruder_view", rows.IntruderViewRow, "sample_data_token")
STREAM: Final = Table.where_used("stream", rows.StreamRow, "scene_token", refers=True)
CLOCK: Final = Table.where_used("clock", rows.ClockRow, "scene_token", refers=True)
CLOCK_READING: Final = Table.where_used("clock_reading", rows.ClockReadingRow, "sample_data_token", refers=True)
MESSAGE: Final = Table.where_used("message", rows.MessageRow, "scene_token", refers=True)
SKIN: Final = Table.where_used("skin", rows.SkinRow, "scene_token", refers=True)

INGREDIENT_TABLES: Final[tuple[Table[Any], ...]] = (
    CORNER_CASE,
    OBJECT_TAG,
    ENCOUNTER,
    INTRUDER_VIEW,
    STREAM,
    CLOCK,
    CLOCK_READING,
    MESSAGE,
    SKIN,
)
"""The tables of ingredients, which every dialect keeps unchanged, in writing order."""

STRICT_SAMPLE_DATA: Final = Table(
    "strict_sample_data", rows.SampleDataRow, Owner.by("sample_token", "sample.token"), required=False
)
STRICT_EGO_POSE: Final = Table(
    "strict_ego_pose",
    rows.EgoPoseRow,
    Owner.by("token", "sample_data.uav_ego_pose_token", "strict_sample_data.ego_pose_token"),
    required=False,
)
STRICT_CALIBRATED_SENSOR: Final = Table(
    "strict_calibrated_sensor",
    rows.CalibratedSensorRow,
    Owner.by("token", "sample_data.uav_calibrated_sensor_token", "strict_sample_data.calibrated_sensor_token"),
    required=False,
)
STRICT_LAYER: Final = Table.where_used("strict_layer", rows.LayerRow, "sample_data_token", of="strict_sample_data")
STRICT_LIDARSEG: Final = Table.where_used(
    "strict_lidarseg", rows.LidarsegRow, "sample_data_token", of="strict_sample_data"
)
STRICT_CATEGORY: Final = Table("strict_category", rows.CategoryRow, scope="shared", required=False)
STRICT_SENSOR: Final = Table("strict_sensor", rows.SensorRow, scope="dataset", required=False)
UAV3D_TABLES: Final[tuple[Table[Any], ...]] = (
    STRICT_SAMPLE_DATA,
    STRICT_EGO_POSE,
    STRICT_CALIBRATED_SENSOR,
    STRICT_LAYER,
    STRICT_LIDARSEG,
    STRICT_CATEGORY,
    STRICT_SENSOR,
)
"""Rows of strict tables in the dialect uav3d, for a conversion back without loss."""

VECTOR_MAPS: Final = ("maps/expansion", "maps/basemap")
"""Folders of vector maps in the format of nuScenes' map expansion; no table names their files."""

REQUIRED: Final = tuple(table.name for table in TABLES if table.required)
"""The 13 tables that the devkit opens."""


@cache
def all_tables() -> tuple[Table[Any], ...]:
    """Return ``TABLES``, ``INGREDIENT_TABLES`` and the tables of installed plug-ins, in this order."""
    return (*TABLES, *INGREDIENT_TABLES, *_plugin_tables(one for _, one in all_ingredients()))


@cache
def other_objects() -> tuple[str, ...]:
    """Return the names of tables of objects that the dialect uav3d cannot represent."""
    ingredients = (one for _, one in all_ingredients() if one.adds_objects)
    return (CORNER_CASE.name, OBJECT_TAG.name, *(table.name for table in _plugin_tables(ingredients)))


def _plugin_tables(ingredients: Iterable[Ingredient]) -> list[Table[Any]]:
    return [table for one in ingredients if one.tables is not None for table in one.tables.load()]


def refuse_unknown(names: Iterable[str], *, where: object, known: Iterable[Table[Any]] = ()) -> None:
    """Refuse unknown tables: a dataset must not depend on the installed plug-ins.

    Args:
        names: names of the tables.
        where: source of the tables, for the message.
        known: tables beside ``all_tables``.

    Raises:
        DatasetError: a table is unknown.
    """
    for name in sorted(set(names).difference(table.name for table in (*all_tables(), *known))):
        raise DatasetError(
            f"{where}: table {name!a} is unknown to this version of uavsim and to the installed plug-ins; install the plug-in "
            "or the version that made it"
        )


def scene_tables(tables: Iterable[Table[Any]] | None = None) -> list[Table[Any]]:
    """Return the tables with rows of scenes; default: from ``all_tables``."""
    return [table for table in (all_tables() if tables is None else tables) if table.scope == "scene"]
