"""Results do not depend on installed packages: unknown tables are refused, uavsim's are always known."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import uavsim
from tests.dataset_factory import files_of
from uavsim.dataset import Fragment, assemble, pack_fragment
from uavsim.dataset.convert import convert
from uavsim.dataset.schema import INGREDIENT_TABLES, all_tables, other_objects
from uavsim.dataset.tables import read_rows, write_rows
from uavsim.errors import DatasetError, InputError
from uavsim.records.ingredients import INGREDIENTS

ROW = {"token": "a" * 32}


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Remove all ingredients from the registry."""
    monkeypatch.setattr(INGREDIENTS, "_found", {})
    all_tables.cache_clear()
    other_objects.cache_clear()
    yield
    all_tables.cache_clear()
    other_objects.cache_clear()


def with_table(source: Path, folder: Path, name: str) -> Path:
    root = Path(shutil.copytree(source, folder))
    (scene, *_) = read_rows(root / "v1.0-mini/scene.json")
    write_rows(root / f"v1.0-mini/{name}.json", [ROW | {"scene_token": scene["token"]}])
    return root


def test_a_fragment_with_rows_of_an_unknown_table_is_not_assembled(fragment: Fragment, tmp_path: Path) -> None:
    packed = pack_fragment(replace(fragment, rows={**fragment.rows, "buoy": [ROW]}))
    with pytest.raises(DatasetError, match=r"^rows of scene scene_00: table 'buoy' is unknown .* install the plug-in"):
        assemble(tmp_path, [packed])
    assert not files_of(tmp_path)


@pytest.mark.usefixtures("bare")
def test_rows_of_every_table_of_ours_are_assembled_without_its_ingredient(fragment: Fragment, tmp_path: Path) -> None:
    ingredient_rows = {table.name: [ROW] for table in INGREDIENT_TABLES}
    (version,) = assemble(tmp_path, [pack_fragment(replace(fragment, rows={**fragment.rows, **ingredient_rows}))])
    for name in ingredient_rows:
        assert version.row_count[name] == 1
        assert read_rows(tmp_path / f"v1.0-mini/{name}.json") == [ROW]


@pytest.mark.parametrize("source", ["strict", "uav3d"])
def test_a_dataset_with_an_unknown_table_is_not_converted(
    source: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    root = with_table(request.getfixturevalue(source), tmp_path / "data", "buoy")
    target = {"strict": "uav3d", "uav3d": "strict"}[source]
    with pytest.raises(
        DatasetError, match=r"data/v1.0-mini: table 'buoy' is unknown .* or the version that made it$"
    ) as refused:
        convert(root, tmp_path / "out", dialect=target)
    assert refused.value.exit_code == 4
    assert not list(tmp_path.glob("out/v1.0-mini/*.json"))


def test_a_dataset_that_counts_an_unknown_table_is_not_read(strict: Path, tmp_path: Path) -> None:
    root = with_table(strict, tmp_path / "data", "buoy")
    assert list(uavsim.open(root).scenes())  # foreign files in the folder stay
    about = root / "v1.0-mini/uav_dataset.json"
    info = json.loads(about.read_text())
    about.write_text(json.dumps(info | {"rows": info["rows"] | {"buoy": 1}}))
    data = uavsim.open(root)
    with pytest.raises(DatasetError, match="table 'buoy' is unknown"):
        list(data.scenes())


@pytest.mark.usefixtures("bare")
def test_uav3d_refuses_corner_cases_without_their_ingredient(strict: Path, tmp_path: Path) -> None:
    root = with_table(strict, tmp_path / "data", "corner_case")
    with pytest.raises(InputError, match="corner cases"):
        convert(root, tmp_path / "out", dialect="uav3d")


@pytest.mark.usefixtures("bare")
def test_tables_of_ours_convert_both_ways_without_their_ingredient(strict: Path, tmp_path: Path) -> None:
    root = with_table(strict, tmp_path / "data", "skin")
    convert(root, tmp_path / "uav3d", dialect="uav3d")
    convert(tmp_path / "uav3d", tmp_path / "back", dialect="strict")
    assert files_of(tmp_path / "back") == files_of(root)
