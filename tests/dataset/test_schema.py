"""Written tables and columns equal the schema, in this order."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from uavsim.dataset.dialects import DIALECTS
from uavsim.dataset.dialects.uav3d.format import Uav3dAnnotationRow, Uav3dInstanceRow, Uav3dSampleDataRow
from uavsim.dataset.schema import DATASET_INFO, REQUIRED, SPLITS, TABLES, Table
from uavsim.dataset.tables import read_rows
from uavsim.records.label_columns import COLUMNS

UAV3D_ROWS = {
    "sample_data": Uav3dSampleDataRow,
    "sample_annotation": Uav3dAnnotationRow,
    "instance": Uav3dInstanceRow,
}
LACKED = {
    # only of cameras with lenses and shutters
    "calibrated_sensor": {
        *("uav_lens", "uav_distortion", "uav_vignetting"),
        *("uav_exposure_us", "uav_readout_us", "uav_shutter_step_us"),
    },
    # only where traffic was long enough on its way, or numbers were drawn
    "log": {"uav_moved_in_warmup", "uav_moved_in_scene", "uav_drawn"},
    "sample_annotation": {"uav_visible_px"},  # only where there is a lidar
    "visibility_detail": {"agents"},  # only where there is a table of them
    # LIDAR_TOP flies no plan; drones need no word for themselves
    "ego_pose": {"uav_velocity", "uav_planned_translation", "uav_planned_rotation", "uav_agent"},
}


def columns_of(row: type[Any]) -> list[str]:
    return list(row.__annotations__)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_strict_rows_have_the_columns_in_their_order(table: Table[Any], strict: Path) -> None:
    path = strict / "v1.0-mini" / table.file
    assert path.is_file() == (table.where_empty or table.name == "sweep_annotation")  # the scene has sweeps
    check_columns(table.name, columns_of(table.row), read_rows(path) if path.is_file() else [])


@pytest.mark.parametrize("table", [*TABLES, *DIALECTS.pick("uav3d").tables], ids=lambda table: table.name)
def test_uav3d_rows_have_the_columns_in_their_order(table: Table[Any], uav3d: Path) -> None:
    path = uav3d / "v1.0-mini" / table.file
    rows = read_rows(path) if path.is_file() else []
    columns = columns_of(UAV3D_ROWS.get(table.name, table.row))
    if table.name == "ego_pose":
        columns = [name for name in columns if not name.startswith("uav_")]  # identity poses carry no information
    check_columns(table.name.removeprefix("strict_"), columns, rows)


def check_columns(name: str, columns: list[str], rows: Iterable[dict[str, Any]]) -> None:
    for row in rows:
        missing = set(columns) - set(row)
        assert list(row) == [column for column in columns if column in row]
        assert missing <= LACKED.get(name, set()), f"{name} lacks {missing}"


def test_the_columns_of_boxes_are_those_that_are_made() -> None:
    made = [name for table in TABLES if table.name == "sample_annotation" for name in columns_of(table.row)]
    assert [name for name in made if name.startswith("uav_")] == [*COLUMNS.builtin, "uav_visible_px"]


def test_the_folder_holds_the_tables_and_nothing_else(strict: Path, uav3d: Path) -> None:
    known = {table.file for table in TABLES if table.where_empty} | {SPLITS, DATASET_INFO, "sweep_annotation.json"}
    assert {path.name for path in (strict / "v1.0-mini").iterdir()} == known
    carried = {table.file for table in DIALECTS.pick("uav3d").tables if table.where_empty}
    assert {path.name for path in (uav3d / "v1.0-mini").iterdir()} == known | carried


def test_owner_tables_come_before_their_rows() -> None:
    for name in DIALECTS.names():
        tables = (*TABLES, *DIALECTS.pick(name).tables)
        for number, table in enumerate(tables):
            assert (table.owner is not None) == (table.scope == "scene"), table.name
            before = {earlier.name: columns_of(earlier.row) for earlier in tables[:number]}
            for owner, column in table.owner.named_in if table.owner else ():
                rows = {
                    **before,
                    **({key: columns_of(row) for key, row in UAV3D_ROWS.items()} if name == "uav3d" else {}),
                }
                assert owner in before, f"{table.name} is read before {owner}"
                assert column in rows[owner], f"{table.name}: {owner} has no column {column}"


def test_the_devkit_opens_thirteen_tables() -> None:
    assert len(REQUIRED) == 13
