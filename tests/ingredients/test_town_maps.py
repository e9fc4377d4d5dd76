"""Maps of a town are made once from the first scene's roads; foreign files stay untouched."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tools.common.plans import scene_plan
from uavsim.capture.recording_reader import BUILDINGS_NAME, ROADS_NAME
from uavsim.errors import ConfigError, DatasetError, StorageError
from uavsim.ingredients import town_maps
from uavsim.ingredients.town_maps import MapsPlan
from uavsim.plan import plan_scenes
from uavsim.records.recording import Recording
from uavsim.records.road_map import TownSource
from uavsim.run.town_files import keep_town_files
from uavsim.store.local import LocalOutput

DATASET = "towns: {Town10HD: {scenes: 1}}\nformation: cross\nrig: uav3d\nsamples: 2\n"


def plans(tmp_path: Path, words: str) -> list[MapsPlan | None]:
    path = tmp_path / "own.yaml"
    path.write_text(DATASET + words)
    return [plan.of(MapsPlan) for plan in plan_scenes(str(path))]


def test_a_plan_lists_its_maps(tmp_path: Path) -> None:
    assert plans(tmp_path, "maps: [expansion, graph, expansion]\n") == [MapsPlan(("expansion", "graph"))]
    assert plans(tmp_path, "maps: [buildings, expansion]\n") == [MapsPlan(("expansion",), buildings=True)]
    assert plans(tmp_path, "") == [None]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("maps: [expansio]\n", "expansion"),
        ("maps: []\n", "at least 1"),
        ("maps: [buildings]\n", r"buildings are a layer .* \[expansion, buildings\]"),
    ],
)
def test_unknown_map_formats_are_refused(tmp_path: Path, words: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        plans(tmp_path, words)


@pytest.fixture
def drawn_roads(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Return the recorded roads of all made maps."""
    found: list[bytes] = []

    def maker(source: TownSource, town: str, forms: tuple[str, ...]) -> dict[str, bytes]:
        found.append(source.opendrive)
        words = [*forms, *(f" {house.name} {house.top_map_m}" for house in source.buildings)]
        return {f"maps/expansion/{town}.json": source.opendrive + "".join(words).encode()}

    monkeypatch.setattr(town_maps, "files_of_town", maker)
    return found


def recording(folder: Path, roads: bytes) -> Recording:
    plan = replace(scene_plan(), ingredients={"town_maps": MapsPlan(("expansion",))})
    folder.mkdir()
    (folder / ROADS_NAME).write_bytes(roads)
    return cast(Recording, SimpleNamespace(folder=folder, plan=plan))


def test_a_town_is_drawn_once(tmp_path: Path, drawn_roads: list[bytes]) -> None:
    output: Any = LocalOutput(tmp_path / "out")
    for number in range(3):
        keep_town_files(output, recording(tmp_path / str(number), b"roads"))
    assert drawn_roads == [b"roads"]
    town = scene_plan().town.name
    assert output.read(f"maps/expansion/{town}.json") == b"roadsexpansion"


def test_buildings_are_those_of_the_first_scene(tmp_path: Path, drawn_roads: list[bytes]) -> None:
    output: Any = LocalOutput(tmp_path / "out")
    for number, top_m in enumerate((9.5, 7.0)):
        flown = recording(tmp_path / str(number), b"roads")
        row = {"name": "house", "bottom_map_m": 0.0, "top_map_m": top_m, "footprint_map_m": [[0, 0], [1, 0], [1, 1]]}
        (flown.folder / BUILDINGS_NAME).write_text(json.dumps([row]))
        keep_town_files(output, flown)
    assert output.read(f"maps/expansion/{scene_plan().town.name}.json") == b"roadsexpansion house 9.5"
    assert drawn_roads == [b"roads"]


def test_other_roads_under_the_same_name_are_refused(tmp_path: Path, drawn_roads: list[bytes]) -> None:
    output: Any = LocalOutput(tmp_path / "out")
    keep_town_files(output, recording(tmp_path / "0", b"roads"))
    with pytest.raises(DatasetError, match="differ from those of earlier scenes"):
        keep_town_files(output, recording(tmp_path / "1", b"other"))
    assert drawn_roads == [b"roads"]


def test_a_map_of_another_program_stays(tmp_path: Path, drawn_roads: list[bytes]) -> None:
    output: Any = LocalOutput(tmp_path / "out")
    key = f"maps/expansion/{scene_plan().town.name}.json"
    output.create(key, b"theirs")
    with pytest.raises(StorageError, match="exists with other content"):
        keep_town_files(output, recording(tmp_path / "0", b"roads"))
    assert (output.read(key), len(drawn_roads)) == (b"theirs", 1)
