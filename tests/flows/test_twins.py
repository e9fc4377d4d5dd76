"""Which twins are asked for, what hides whom by its label, and the tables that link them; nothing flies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.flows.test_replay import record
from tests.records.test_motion import motion
from uavsim.annotate.occluders import Occlusion
from uavsim.config.dataset import Twins
from uavsim.errors import InputError
from uavsim.flows import twins
from uavsim.flows.resolve import resolve
from uavsim.flows.twins import Twin, asked_twins, requests_of
from uavsim.terminal import Screen


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    return record(tmp_path / "source", moves=motion(11, 3, drones=5))


def hidden(occluder: int = 9, *, visible: int = 40, covered: int = 60, cut: float = 0.0) -> Occlusion:
    return Occlusion(0, "CAMERA_FRONT_id_0", 5, occluder, covered, visible, 100, cut)


def test_a_twin_is_a_replay_with_one_change(recorded: Path) -> None:
    asked = asked_twins(recorded, weather=["night", "night"], without=["bus", "scene_0000:2"], occluders=False)
    assert [twin.name for twin in asked] == ["weather-night", "without-bus", "without-scene_0000_2"]
    requests = requests_of(recorded, recorded.parent / "twins", asked)
    plans = {name: resolve(request).plan_of("scene_0000") for name, request in requests.items()}
    assert plans["weather-night"].weather.name == "night"
    assert {name: plan.replay.hidden for name, plan in plans.items() if plan.replay is not None} == {
        "weather-night": (),
        "without-bus": (3,),
        "without-scene_0000_2": (2,),
    }


def test_words_of_another_scene_hide_nothing_here(recorded: Path) -> None:
    (request,) = requests_of(
        recorded, recorded.parent / "twins", [Twin("x", "without", ("scene_0100:77", "scene_0000:1"))]
    ).values()
    plan = resolve(request).plan_of("scene_0000")
    assert plan.replay is not None
    assert plan.replay.hidden == (1,)


def test_without_words_it_is_the_data_sets_yaml_that_says(recorded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="names no twins"):
        asked_twins(recorded, weather=(), without=(), occluders=False)
    kept = recorded / ".uavsim/configuration.json"
    told = json.loads(kept.read_text())
    name, text = told["files"]["dataset:smoke"]
    told["files"]["dataset:smoke"] = [name, text + "\ntwins: {weather: [night, clear_noon], without: [bus]}\n"]
    kept.write_text(json.dumps(told))
    asked = asked_twins(recorded, weather=(), without=(), occluders=False)
    assert [twin.name for twin in asked] == ["weather-night", "weather-clear_noon", "without-bus"]
    assert Twins().occluders is False


def test_only_what_one_actor_hides_is_named(recorded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    labels = [
        ("scene_0000", hidden()),
        ("scene_0000", hidden(8, visible=90, covered=10)),  # hardly hidden
        ("scene_0000", hidden(7, covered=30)),  # by others too
        ("scene_0000", hidden(6, cut=0.2)),  # half outside of the image
        ("scene_0000", hidden(0)),  # by the town
    ]
    monkeypatch.setattr(twins, "_labels", lambda _folder, _scenes: iter(labels))
    (twin,) = asked_twins(recorded, weather=(), without=(), occluders=True)
    assert (twin.name, twin.words) == ("without-occluders", ("scene_0000:9",))
    monkeypatch.setattr(twins, "_labels", lambda _folder, _scenes: iter(labels[1:]))
    with pytest.raises(InputError, match="nothing to take away"):
        asked_twins(recorded, weather=(), without=(), occluders=True)


def test_a_cause_is_proven_where_the_object_is_seen_as_its_label_says(
    recorded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = record(recorded.parent / "twins" / "x", moves=motion(11, 3, drones=5))
    seen: dict[Path, list[Occlusion]] = {recorded: [hidden()], again: []}
    monkeypatch.setattr(twins, "occlusions", lambda recording: iter(seen[recording.folder]))
    for visible, proven in ((95, True), (85, True), (70, False), (40, False)):
        seen[again] = [hidden(0, visible=visible, covered=0)]
        (row,) = twins.proven_causes(recorded, recorded.parent / "twins", Twin("x", "without", ("9",)))
        assert (row["twin_visible_px"], row["proven"]) == (visible, proven)
    seen[recorded] = [hidden(2)]  # an actor that is still there
    assert not list(twins.proven_causes(recorded, recorded.parent / "twins", Twin("x", "without", ("9",))))


def test_every_image_is_linked_to_the_one_that_it_is_the_twin_of(
    recorded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = recorded.parent / "twins"
    image = {"token": "a", "sample_token": "s", "height": 9, "filename": "samples/C/a.png"}
    rows: dict[str, Any] = {
        "sample_data": [image, {"token": "b", "height": 0}, {**image, "token": "new"}],
        "layer": [{"sample_data_token": "a", "kind": "instance", "filename": "masks/C/a.png"}],
    }
    for folder, data in ((recorded, {"sample_data": rows["sample_data"][:2]}), (out / "weather-night", rows)):
        (folder / "v1.0-mini").mkdir(parents=True)
        for table, values in data.items():
            (folder / "v1.0-mini" / f"{table}.json").write_text(json.dumps(values))
    result = twins.make_twins(
        recorded, out, [Twin("weather-night", "weather", ("night",))], {}, console=Screen(quiet=True)
    )
    assert (result.images, result.causes) == ({"weather-night": 1}, 0)
    (row,) = json.loads((out / "twin.json").read_text())
    assert (row["sample_data_token"], row["twin"], row["change"]) == ("a", "weather-night", ["night"])
    assert row["filename"] == "weather-night/samples/C/a.png"
    assert row["layers"] == {"instance": "weather-night/masks/C/a.png"}
