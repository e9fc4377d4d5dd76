"""Requests and refusals of replays, on a dataset of one recorded scene, without flights."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from tests.encounter_factory import encounter_plan
from tests.rare_dataset import CASES
from tests.records.test_motion import motion
from uavsim.capture.recording_writer import RecordingWriter
from uavsim.cli import build_app
from uavsim.errors import InputError
from uavsim.geometry.se3 import SE3
from uavsim.ingredients.corner_cases.case_plans import role_of_part
from uavsim.ingredients.intruders.intruder_plans import IntrudersPlan, intruders_of
from uavsim.on_top import ON_TOP
from uavsim.records.actors import ActorInfo, ActorStates
from uavsim.records.motion import SceneMotion
from uavsim.records.recording import RecordedFrame, SessionFacts
from uavsim.replays.requests import request_of_recordings
from uavsim.run import resolve as of_resolve
from uavsim.run.request import Request
from uavsim.store.identity import claim_output, keep_configuration
from uavsim.store.ledger import LedgerEntry, write_entry
from uavsim.store.local import LocalOutput

resolve = partial(of_resolve.resolve, on_top=ON_TOP)

ASKED = Request(dataset="smoke", out="anywhere", towns=("Town10HD",), scenes="0", samples=2)
FACTS = SessionFacts("mock", "0.9.16", "0.9.16", "carla", 60, 3, 0, 0, "actor_id")


def info(instance_id: int, blueprint: str, tag: int, kind: str = "vehicle", role: str = "autopilot") -> ActorInfo:
    attributes = {"number_of_wheels": "4", "role_name": role}
    return ActorInfo(instance_id, 7, kind, blueprint, "", (2, 1, 1), SE3.identity(), tag, attributes)


ACTORS = (info(1, "vehicle.audi.tt", 14), info(2, "vehicle.audi.tt", 14), info(3, "vehicle.mitsubishi.fusorosa", 16))


def states() -> ActorStates:
    none = np.zeros((3, 3))
    return ActorStates(np.array([1, 2, 3]), SE3.identity((3,)), none, none, none, none)


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    return record(tmp_path / "source", moves=motion(11, 3, drones=5))


def record(folder: Path, *, moves: SceneMotion | None, actors: tuple[ActorInfo, ...] = ACTORS, **changed: Any) -> Path:
    """Commit a scene of the smoke dataset, recording and all, without flying it."""
    job = resolve(ASKED)
    plan = replace(job.plan_of("scene_0000"), **changed)
    output = LocalOutput(folder)
    claim_output(output, identity=job.identity)
    keep_configuration(output, job.configuration)
    with RecordingWriter(folder / ".uavsim/recordings/scene_0000", plan) as writer:
        for step in plan.capture_steps:
            stamp_us = plan.start_timestamp_us + step * plan.step_us
            writer.add(RecordedFrame(step, stamp_us, 1, step // 10, (), (), states(), (0.0,) * 14))
        writer.finish(FACTS, actors, motion=moves)
    write_entry(output, LedgerEntry("scene_0000", "committed", index=0, town="Town10HD"))
    return folder


def ask(folder: Path, **more: Any) -> Request:
    changes = {key: more.pop(key, None) for key in ("formation", "rig", "weather", "topology")}
    return request_of_recordings(folder, str(folder.parent / "again"), changes=changes, **more)


def test_unchanged_replay_has_the_recorded_plan_and_fingerprint(recorded: Path) -> None:
    job, before = resolve(ask(recorded)), resolve(ASKED)
    plan = job.plan_of("scene_0000")
    assert plan.ingredients["replay"].drones
    assert plan.ingredients["replay"].hidden == ()
    assert [s.name for s in job.scenes] == ["scene_0000"]
    assert job.identity["fingerprint"] == before.identity["fingerprint"]
    assert job.configuration["files"] == before.configuration["files"]  # a replay can be replayed, too
    assert (plan.rig, plan.weather.name, plan.samples) == ((before.plan_of("scene_0000").rig), "clear_noon", 2)


def test_replay_changes_only_the_requested_option(recorded: Path) -> None:
    same = resolve(ask(recorded)).plan_of("scene_0000")
    wet = resolve(ask(recorded, weather="hard_rain"))
    plan = wet.plan_of("scene_0000")
    assert plan.weather.name == "hard_rain"
    assert plan.rig == same.rig
    assert "weather:hard_rain" in wet.configuration["files"]
    assert wet.identity["fingerprint"] != resolve(ASKED).identity["fingerprint"]
    more = resolve(ask(recorded, sensors="+lidar,+depth,+depth")).plan_of("scene_0000")
    assert more.rig[-1].modalities == ("lidar",)
    assert {spec.modalities for spec in more.cameras} == {("rgb", "instance", "depth")}
    other = resolve(ask(recorded, formation="line")).plan_of("scene_0000")
    assert not other.ingredients["replay"].drones
    assert other.formation_name == "line"
    flown = resolve(ask(recorded, topology="bridge")).plan_of("scene_0000")
    assert flown.ingredients["replay"].drones
    assert flown.topology == "bridge"


@pytest.mark.parametrize(
    ("words", "hidden"), [(("2",), (2,)), (("bus",), (3,)), (("vehicle.audi.tt",), (1, 2)), (("1", "bus"), (1, 3))]
)
def test_actors_are_hidden_by_number_class_or_blueprint(
    recorded: Path, words: tuple[str, ...], hidden: tuple[int, ...]
) -> None:
    plan = resolve(ask(recorded, hide=words)).plan_of("scene_0000")
    assert plan.ingredients["replay"].hidden == hidden


def test_hiding_a_number_in_a_scene_without_actors_is_refused(tmp_path: Path) -> None:
    empty = record(tmp_path / "empty", moves=motion(11, 0, drones=5), actors=())
    with pytest.raises(InputError, match="has no actor 3; it has none"):
        resolve(ask(empty, hide=("3",)))


def test_hidden_intruder_is_not_planned_and_others_stay(tmp_path: Path) -> None:
    (one,) = intruders_of(encounter_plan())
    flying = [info(k, f"static.prop.{name}", 21, "intruder") for k, name in ((2, "aeroplane"), (3, "bird"))]
    planned = (one, replace(one, name="Bird1", kind="bird"))
    source = record(
        tmp_path / "air",
        moves=motion(11, 3, drones=5),
        actors=(ACTORS[0], *flying),
        ingredients={"intruders": IntrudersPlan(planned)},
    )

    for words, left in (((), ["Airplane1", "Bird1"]), (("static.prop.aeroplane",), ["Bird1"]), (("2", "3"), [])):
        plan = resolve(ask(source, hide=words)).plan_of("scene_0000")
        assert [intruder.name for intruder in intruders_of(plan)] == left


def test_hiding_a_corner_case_is_refused(tmp_path: Path) -> None:
    roof = info(2, "vehicle.audi.etron", 14, role=role_of_part(0, 0))
    actors = (ACTORS[0], roof, ACTORS[2])
    source = record(
        tmp_path / "rare", moves=motion(11, 3, drones=5), actors=actors, ingredients={"corner_cases": CASES}
    )

    assert resolve(ask(source, hide=("bus",))).plan_of("scene_0000").ingredients["corner_cases"] == CASES
    with pytest.raises(
        InputError, match=r"actor 2 \(vehicle.audi.etron\) is a part of corner case 'roof_bicycle'"
    ) as caught:
        resolve(ask(source, hide=("vehicle.audi.etron",))).plan_of("scene_0000")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"scenes": "3"}, "has no scene 3; it has 0 to 0"),
        ({"sensors": "lidar"}, "write a plus"),
        ({"sensors": "+lidra"}, "did you mean 'lidar'"),
        ({"hide": ("9",)}, "has no actor 9; it has 1 to 3"),
        ({"hide": ("buss",)}, "did you mean 'bus'"),
        ({"weather": "hard_rian"}, "did you mean 'hard_rain'"),
        ({"topology": "merged", "sensors": "+optical_flow"}, "merged does not provide it"),
        (
            {"rig": "rolling"},
            "recorded for 0 steps after its last image, and a shutter of this rig takes 3: replay it with",
        ),
    ],
)
def test_unknown_options_are_refused_in_one_line(recorded: Path, words: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        resolve(ask(recorded, **words))
    assert "\n" not in str(caught.value)


def test_unusable_recordings_are_refused(tmp_path: Path) -> None:
    still = record(tmp_path / "still", moves=None)
    with pytest.raises(InputError, match="has no motion: an older version of uavsim made it"):
        resolve(ask(still))
    other = record(tmp_path / "other", moves=motion(11, 3, drones=5), seed=99)
    with pytest.raises(InputError, match="scene_0000 was recorded with seed 99, its configuration now gives"):
        resolve(ask(other))
    fewer = record(tmp_path / "fewer", moves=motion(11, 4, drones=5))
    with pytest.raises(InputError, match="moves actor 4 but does not describe it"):
        resolve(ask(fewer))
    log = tmp_path / "other/.uavsim/recordings/scene_0000/log.msgpack"
    log.write_bytes(b"\x81\xa6format\xa9uavsim-99")
    with pytest.raises(InputError, match="not a recording of this version"):
        resolve(ask(other))
    with pytest.raises(InputError, match="not a uavsim dataset"):
        ask(tmp_path)
    with pytest.raises(InputError, match="is the dataset itself"):
        request_of_recordings(still, str(still), changes={})


def test_dry_run_prints_the_scenes_and_unknown_actor_exits_with_2(recorded: Path) -> None:
    out = str(recorded.parent / "again")
    words = ["replay", str(recorded), "--out", out, "--weather", "hard_rain", "--dry-run", "--json"]
    reported = CliRunner().invoke(build_app("replay"), words)
    assert reported.exit_code == 0, reported.output
    intent = json.loads(reported.stdout)
    assert intent["scenes"] == {"Town10HD": ["scene_0000"]}
    assert not Path(out).exists()
    wrong = CliRunner().invoke(build_app("replay"), ["replay", str(recorded), "--out", out, "--hide", "buss"])
    assert isinstance(wrong.exception, InputError)
    assert wrong.exception.exit_code == 2
    assert not Path(out).exists()
