"""Damaged vector maps and maps in another frame are found; a valid one gives no finding."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from uavsim.typing import JsonDict
from uavsim.validate import validate_dataset

PLANTED = {"a token of nothing": "maps.expansion", "a shift of the frame": "maps.frame"}
LAYERS = (
    "drivable_area", "road_segment", "road_block", "lane", "lane_connector", "ped_crossing", "walkway", "stop_line",
    "carpark_area", "road_divider", "lane_divider", "traffic_light",
)  # fmt: skip


def drawn(shift_m: float = 0.0) -> JsonDict:
    """Return a map of a square of one kilometre with a remote hole and one lane."""
    corners = {"a": (-500, -500), "b": (500, -500), "c": (500, 500), "d": (-500, 500)}
    hole = {"e": (400, 400), "f": (410, 400), "g": (410, 410)}
    nodes = [{"token": n, "x": x + shift_m, "y": y} for n, (x, y) in (corners | hole).items()]
    square = {"token": "p", "exterior_node_tokens": list(corners), "holes": [{"node_tokens": list(hole)}]}
    return {
        "version": "1.3",
        "canvas_edge": [500.0, 500.0],
        "node": nodes,
        "line": [],
        "polygon": [square],
        **{layer: [] for layer in LAYERS},
        "drivable_area": [{"token": "area", "polygon_tokens": ["p"]}],
        "lane": [{"token": "lane", "polygon_token": "p"}],
        "arcline_path_3": {"lane": []},
        "connectivity": {"lane": {"incoming": [], "outgoing": []}},
    }


def found(clean: Path, folder: Path, tables: Any) -> list[tuple[str, str]]:
    root = Path(shutil.copytree(clean, folder / "data"))
    (town,) = {row["location"] for row in json.loads((root / "v1.0-mini/log.json").read_text("utf-8"))}
    (root / "maps/expansion").mkdir()
    (root / f"maps/expansion/{town}.json").write_text(json.dumps(tables), "utf-8")
    (report,) = validate_dataset(root, workers=1, pixels=False)
    return [(one.code, one.message) for one in report.findings if one.code.startswith("maps.")]


def test_valid_map_has_no_finding(clean: Path, tmp_path: Path) -> None:
    assert found(clean, tmp_path, drawn()) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda t: t["polygon"][0]["exterior_node_tokens"].append("z"), "names 1 unknown nodes, first z"),
        (
            lambda t: t["lane"].append({"token": "x", "polygon_token": "y"}),
            "names 1 unknown polygons, first y",
        ),
        (lambda t: t["arcline_path_3"].clear(), "has 1 lanes without a centre line, first lane"),
        (lambda t: t["connectivity"]["lane"]["outgoing"].append("q"), "names 1 unknown lanes, first q"),
        (
            lambda t: t.update(building=[{"token": "b", "polygon_token": "y", "uav_height_m": [0, 9]}]),
            "names 1 unknown polygons, first y",
        ),
        (
            lambda t: t.update(building=[{"token": "b", "polygon_token": "p", "uav_height_m": [9, 0]}]),
            "has 1 buildings whose roof lies below their ground",
        ),
        (lambda t: t.pop("walkway"), "is not nuScenes' map expansion: KeyError: 'walkway'"),
        (lambda t: t.update(version="1.2"), "has version '1.2', not 1.3"),
    ],
)
def test_damaged_map_is_found(clean: Path, tmp_path: Path, change: Callable[[JsonDict], Any], said: str) -> None:
    tables = drawn()
    change(tables)
    ((code, message), *_) = found(clean, tmp_path, tables)
    assert (code, said in message) == ("maps.expansion", True), message


def test_invalid_map_is_found(clean: Path, tmp_path: Path) -> None:
    ((code, message),) = found(clean, tmp_path, [1])
    assert (code, message.endswith("is not a JSON object")) == ("maps.expansion", True)


@pytest.mark.parametrize("rest", [[], ["a", "b"]])
def test_a_map_of_another_frame_is_found(clean: Path, tmp_path: Path, rest: list[str]) -> None:
    tables = drawn(shift_m=5000.0)
    tables["polygon"].append({"token": "q", "exterior_node_tokens": rest, "holes": []})  # without an area
    tables["drivable_area"][0]["polygon_tokens"].append("q")
    ((code, message), *_) = found(clean, tmp_path, tables)  # one a log
    assert (code, message.startswith("0.0 % of the boxes of driving vehicles")) == ("maps.frame", True)
