"""Requests for twins, occluders by labels, and the tables of links, without flights."""

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from tests.records.test_motion import motion
from tests.replays.test_requests import record
from uavsim.annotate.occluders import Occlusion
from uavsim.capture.recording_reader import read_recording
from uavsim.config.dataset import Twins
from uavsim.dataset.fragment import Fragment, FragmentHead, pack_fragment
from uavsim.dataset.tokens import token
from uavsim.errors import InputError
from uavsim.geometry.se3 import SE3
from uavsim.on_top import ON_TOP
from uavsim.records.labels import ViewLabels
from uavsim.records.recording import AgentState
from uavsim.records.sensors import Agent
from uavsim.replays import twins
from uavsim.replays.twins import Twin, requested_twins, requests_of
from uavsim.run import resolve as of_resolve
from uavsim.store.ledger import read_ledger
from uavsim.store.local import LocalOutput

resolve = partial(of_resolve.resolve, on_top=ON_TOP)


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    return record(tmp_path / "source", moves=motion(11, 3, drones=5))


def hidden(occluder: int = 9, *, visible: int = 40, covered: int = 70, cut: float = 0.0) -> Occlusion:
    return Occlusion(0, "CAMERA_FRONT_id_0", 5, occluder, covered, visible, 100, cut)


def test_twin_is_a_replay_with_one_change(recorded: Path) -> None:
    requested = requested_twins(recorded, weather=["night", "night"], without=["bus", "scene_0000:2"], occluders=False)
    assert [twin.name for twin in requested] == ["weather-night", "without-bus", "without-scene_0000_2"]
    requests = requests_of(recorded, recorded.parent / "twins", requested)
    plans = {name: resolve(request).plan_of("scene_0000") for name, request in requests.items()}
    assert plans["weather-night"].weather.name == "night"
    assert {
        name: plan.ingredients["replay"].hidden for name, plan in plans.items() if "replay" in plan.ingredients
    } == {
        "weather-night": (),
        "without-bus": (3,),
        "without-scene_0000_2": (2,),
    }


def test_twins_of_one_folder_are_refused(recorded: Path) -> None:
    for weather, without in ((["a/fog.yaml", "b/fog.yaml"], ()), ((), ["1:3", "1_3"])):
        with pytest.raises(InputError, match="have the same name"):
            requested_twins(recorded, weather=weather, without=without, occluders=False)


def test_actor_of_another_scene_is_not_hidden(recorded: Path) -> None:
    (request,) = requests_of(
        recorded, recorded.parent / "twins", [Twin("x", "without", ("scene_0100:77", "scene_0000:1"))]
    ).values()
    plan = resolve(request).plan_of("scene_0000")
    assert plan.ingredients["replay"].hidden == (1,)


def test_all_hides_the_whole_traffic(recorded: Path) -> None:
    requested = requested_twins(recorded, weather=(), without=["all"], occluders=False)
    (request,) = requests_of(recorded, recorded.parent / "twins", requested).values()
    assert resolve(request).plan_of("scene_0000").ingredients["replay"].hidden == (1, 2, 3)


def test_default_twins_are_those_of_the_datasets_yaml(recorded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="defines no twins"):
        requested_twins(recorded, weather=(), without=(), occluders=False)
    configuration = recorded / ".uavsim/configuration.json"
    reported = json.loads(configuration.read_text())
    name, text = reported["files"]["dataset:smoke"]
    reported["files"]["dataset:smoke"] = [name, text + "\ntwins: {weather: [night, clear_noon], without: [bus]}\n"]
    configuration.write_text(json.dumps(reported))
    requested = requested_twins(recorded, weather=(), without=(), occluders=False)
    assert [twin.name for twin in requested] == ["weather-night", "weather-clear_noon", "without-bus"]
    assert Twins().occluders is False


def test_only_occlusions_by_one_actor_name_it(recorded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # By one actor; by others too; by a car or a tree as well, for an outline is more than its object; by the town.
    labels = [hidden(), hidden(7, covered=30), hidden(8, covered=60), hidden(0)]
    monkeypatch.setattr(twins, "occlusions", lambda _recording, only: iter(labels))
    (twin,) = requested_twins(recorded, weather=(), without=(), occluders=True)
    assert (twin.name, twin.words) == ("without-occluders", ("scene_0000:9",))
    assert twin.hides == {"scene_0000": [labels[0]]}
    del labels[0]
    with pytest.raises(InputError, match="--occluders finds no object"):
        requested_twins(recorded, weather=(), without=(), occluders=True)


def test_car_with_sensors_is_not_hidden(recorded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(twins, "occlusions", lambda _recording, only: iter([hidden()]))
    real = twins._recordings

    def with_agent(*arguments: Any) -> Iterator[Any]:
        for entry, recording in real(*arguments):
            first = recording.frames[0]
            state = AgentState(Agent(0, "vehicle"), SE3.identity(()), np.zeros(3), 9)
            yield entry, replace(recording, frames=(replace(first, others=(state,)), *recording.frames[1:]))

    monkeypatch.setattr(twins, "_recordings", with_agent)
    with pytest.raises(InputError, match="--occluders finds no object"):
        requested_twins(recorded, weather=(), without=(), occluders=True)


def test_only_large_objects_hidden_inside_the_image_name_an_occluder() -> None:
    visible, amodal, truncation = np.array([40, 90, 40, 10]), np.array([100, 100, 100, 39]), np.array([0, 0, 0.2, 0])
    views = SimpleNamespace(visible_px=visible, amodal_px=amodal, truncation=truncation)
    assert twins._may_be_named(cast(ViewLabels, views)).tolist() == [True, False, False, False]


def test_cause_is_proven_if_the_twin_shows_the_amodal_pixels(recorded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    again = record(recorded.parent / "twins" / "x", moves=motion(11, 3, drones=5))
    labels, visible_px = [hidden()], dict[tuple[str, str], int]()
    monkeypatch.setattr(
        twins, "occlusions", lambda recording, only: iter(labels if recording.folder == recorded else ())
    )
    monkeypatch.setattr(twins, "_visible_px", lambda folder, _entry: visible_px if folder == again else {})
    twin, out = Twin("x", "without", ("9",)), recorded.parent / "twins"
    assert not list(twins.proven_causes(recorded, out, twin))  # the twin has no such box
    plan = read_recording(recorded / ".uavsim/recordings/scene_0000").plan
    base = (plan.dataset, "scene_0000")
    box = token(*base, "annotation", 0, 5)
    image = token(*base, "sample_data", "CAMERA_FRONT_id_0", plan.start_timestamp_us)
    for visible, proven in ((95, True), (85, True), (70, False), (40, False)):
        visible_px[box, image] = visible
        (row,) = twins.proven_causes(recorded, out, twin)
        assert (row["sample_annotation_token"], row["sample_data_token"]) == (box, image)
        assert (row["twin_visible_px"], row["proven"]) == (visible, proven)
    labels[0] = hidden(2)  # an actor that is still there
    assert not list(twins.proven_causes(recorded, out, twin))


def test_visible_pixels_are_those_of_the_twins_labels(recorded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head = FragmentHead("scene_0000", 0, "smoke", "v1.0-mini", (), "Town10HD", (0.0, 0.0), "log", ())
    views = [{"sample_data_token": "a", "visible_px": 7}, {"sample_data_token": "b", "visible_px": 0}]
    rows: Any = {"visibility_detail": [{"sample_annotation_token": "box", "views": views}]}
    monkeypatch.setattr(twins, "read_fragment", lambda _output, _entry: pack_fragment(Fragment(head, rows)))
    (entry,) = read_ledger(LocalOutput(recorded)).values()
    assert twins._visible_px(recorded, entry) == {("box", "a"): 7, ("box", "b"): 0}


def test_known_occlusions_are_not_computed_again(recorded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record(recorded.parent / "twins" / "x", moves=motion(11, 3, drones=5))
    monkeypatch.setattr(twins, "occlusions", lambda _recording, only: pytest.fail("masks are read again"))
    monkeypatch.setattr(twins, "_visible_px", lambda _folder, _entry: {})
    known = Twin("x", "without", ("9",), {"scene_0000": [hidden()]})
    assert not list(twins.proven_causes(recorded, recorded.parent / "twins", known))


def test_every_image_is_linked_to_the_recorded_image(recorded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
        recorded,
        out,
        [Twin("weather-night", "weather", ("night",))],
        {},
        generate=lambda request: pytest.fail(f"{request.out} is there already"),
    )
    assert (result.images, result.causes) == ({"weather-night": 1}, 0)
    (row,) = json.loads((out / "twin.json").read_text())
    assert (row["sample_data_token"], row["twin"], row["change"]) == ("a", "weather-night", ["night"])
    assert row["filename"] == "weather-night/samples/C/a.png"
    assert row["layers"] == {"instance": "weather-night/masks/C/a.png"}
