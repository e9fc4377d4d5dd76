"""Scenes in sequence through real client processes, ledger and tables, without Prefect."""

import json
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tools.common.leftovers import contents
from uavsim.config.run import SimulatorConfig
from uavsim.errors import InputError, MapMissing, SimulatorError, StorageError, SystemFailure
from uavsim.records.codec import unpack_plan
from uavsim.run.context import opened, prepared
from uavsim.run.failures import failed_scenes
from uavsim.run.finish import assemble_tables, committed_scenes
from uavsim.run.outcome import SceneOutcome
from uavsim.run.request import Request
from uavsim.run.stages import SceneQuarantined, fly_scene
from uavsim.store.commit import sweep_orphans
from uavsim.store.ledger import read_ledger
from uavsim.store.local import LocalOutput
from uavsim.supervise.simulator_slot import SimulatorSlot
from uavsim.terminal import Screen

Paper = Callable[..., Request]
QUIET = Screen(quiet=True)
UNDISTURBED: dict[str, str] = {}  # three scenes without a fault, flown once


def run_all(request: Request) -> list[SceneOutcome]:
    """Fly all scenes with the flow's retries."""
    outcomes = []
    with opened(prepared(request), console=QUIET) as context:
        for scene in context.job.scenes:
            while True:
                try:
                    outcomes.append(fly_scene(context, scene.name))
                except SceneQuarantined as error:
                    outcomes.append(SceneOutcome(scene.name, "quarantined", reason=str(error)))
                except (StorageError, InputError, MapMissing):
                    raise
                except SystemFailure:
                    continue
                break
        assemble_tables(context.output)
    return outcomes


def test_a_run_leaves_a_dataset_and_no_process(paper: Paper, tmp_path: Path) -> None:
    before = psutil.Process().children(recursive=True)
    outcomes = run_all(paper())
    assert [o.state for o in outcomes] == ["committed"] * 3
    assert psutil.Process().children(recursive=True) == before
    scenes = json.loads((tmp_path / "out/v1.0-mini/scene.json").read_text())
    assert [s["name"] for s in scenes] == ["scene_00", "scene_01", "scene_02"]
    assert list((tmp_path / "out/.uavsim/staging").iterdir()) == []
    events = [
        json.loads(line)["event"] for line in (tmp_path / "out/.uavsim/logs/scene_00.jsonl").read_text().splitlines()
    ]
    assert events == ["start", "flying", "sample", "done", "committed"]
    assert sweep_orphans(LocalOutput(tmp_path / "out")) == []


def test_a_run_removes_what_another_that_died_meanwhile_had_staged(paper: Paper, tmp_path: Path) -> None:
    output = LocalOutput(tmp_path / "out")
    staged = {}
    with opened(prepared(paper()), console=QUIET):
        for scene in ("scene_00", "scene_01"):  # another worker's; the first is dead, the second at work
            staged[scene] = output.stage(scene).name
        held = output.lock("scene_01")
        assert held.__enter__()
    try:
        assert [folder.name for folder in (output.root / ".uavsim/staging").iterdir()] == [staged["scene_01"]]
    finally:
        held.__exit__(None, None, None)


@pytest.mark.parametrize("fault", [None, "die"])
def test_a_worker_that_froze_and_lost_its_lock_leaves_what_another_committed(
    paper: Paper, tmp_path: Path, fault: str | None
) -> None:
    request = paper(scenes="1")

    @contextmanager
    def frozen(slot: SimulatorSlot) -> Iterator[None]:
        (tmp_path / "out/.uavsim/locks").unlink()  # as after a timeout of a file server
        run_all(paper(scenes="1"))
        paper(faults={"scene_00": [fault]} if fault else None)
        yield

    with opened(prepared(request), console=QUIET) as context:
        context.gate = frozen
        outcome = fly_scene(context, "scene_00")
    run_all(paper(scenes="1", out=tmp_path / "undisturbed"))
    assert outcome.state == "committed"
    assert {e.state for e in read_ledger(LocalOutput(tmp_path / "out")).values()} == {"committed"}
    assert contents(tmp_path / "out") == contents(tmp_path / "undisturbed")


def test_a_second_run_flies_nothing_and_changes_nothing(paper: Paper, tmp_path: Path) -> None:
    run_all(paper())
    before = contents(tmp_path / "out")
    log = (tmp_path / "out/.uavsim/logs/scene_00.jsonl").read_bytes()
    assert [o.state for o in run_all(paper())] == ["committed"] * 3
    assert contents(tmp_path / "out") == before
    assert (tmp_path / "out/.uavsim/logs/scene_00.jsonl").read_bytes() == log


def test_force_flies_again_to_the_same_bytes(paper: Paper, tmp_path: Path) -> None:
    run_all(paper())
    before = contents(tmp_path / "out")
    run_all(paper(force=True))
    assert contents(tmp_path / "out") == before
    events = (tmp_path / "out/.uavsim/logs/scene_00.jsonl").read_text()
    assert events.count('"committed"') == 2


def test_more_scenes_later_extend_the_dataset(paper: Paper, tmp_path: Path) -> None:
    run_all(paper(scenes="2", out=tmp_path / "grown"))
    run_all(paper(scenes="3", out=tmp_path / "grown"))
    run_all(paper(scenes="3", out=tmp_path / "whole"))
    assert contents(tmp_path / "grown") == contents(tmp_path / "whole")


def test_another_seed_never_touches_the_folder(paper: Paper, tmp_path: Path) -> None:
    run_all(paper())
    before = contents(tmp_path / "out")
    with pytest.raises(InputError, match="holds another dataset"), opened(prepared(paper(seed=5)), console=QUIET):
        pass
    assert contents(tmp_path / "out") == before


@pytest.mark.parametrize(
    "fault", ["hang", *(pytest.param(name, marks=pytest.mark.release) for name in ("die", "SceneVoid", "MissedTick"))]
)
def test_a_failure_is_retried_and_the_result_is_the_same(paper: Paper, tmp_path: Path, fault: str) -> None:
    outcomes = run_all(paper(faults={"scene_01": [fault]}, patience_s=10.0 if fault == "hang" else 60.0))
    assert [o.state for o in outcomes] == ["committed"] * 3
    entry = read_ledger(LocalOutput(tmp_path / "out"))["scene_01"]
    assert entry.attempts == 1
    assert len(entry.reasons) == 1
    assert entry.facts is not None
    assert entry.facts.machine == socket.gethostname()
    assert entry.facts.core_s > 0
    assert entry.lost_s > (5 if fault == "hang" else 0)
    if not UNDISTURBED:
        run_all(paper(out=tmp_path / "undisturbed"))
        UNDISTURBED.update(contents(tmp_path / "undisturbed"))
    assert contents(tmp_path / "out") == UNDISTURBED


def test_a_scene_that_always_fails_is_quarantined_and_the_rest_goes_on(paper: Paper, tmp_path: Path) -> None:
    outcomes = run_all(paper(faults={"scene_01": ["SceneVoid"] * 3}))
    assert [o.state for o in outcomes] == ["committed", "quarantined", "committed"]
    output = LocalOutput(tmp_path / "out")
    assert [e.scene for e in committed_scenes(output)] == ["scene_00", "scene_02"]
    evidence = tmp_path / "out/.uavsim/quarantine/scene_01"
    assert json.loads((evidence / "reasons.json").read_text())["reasons"] == ["SceneVoid: asked to"] * 3
    assert (evidence / "plan.msgpack").stat().st_size > 0
    (failed,) = failed_scenes(str(tmp_path / "out"))
    assert (failed.scene, failed.index) == ("scene_01", 1)
    assert [attempt.reason for attempt in failed.attempts] == ["SceneVoid: asked to"] * 3
    assert all(attempt.simulator and attempt.at.startswith("20") for attempt in failed.attempts)
    assert failed.last_image == ""  # it stopped before the first
    assert [o.state for o in run_all(paper())] == ["committed", "quarantined", "committed"]  # stays until forced
    assert [o.state for o in run_all(paper(force=True))] == ["committed"] * 3
    assert not evidence.exists()


def test_the_last_image_of_a_scene_that_is_given_up_is_kept(paper: Paper, tmp_path: Path) -> None:
    run_all(paper(faults={"scene_01": ["look:255"] * 3}))
    (failed,) = failed_scenes(str(tmp_path / "out"))
    assert "of one colour" in failed.attempts[-1].reason
    assert Path(failed.last_image).read_bytes().startswith(b"\x89PNG")
    run_all(paper(force=True))
    assert not Path(failed.last_image).parent.exists()


def test_only_stalled_traffic_changes_a_scenes_traffic(paper: Paper, tmp_path: Path) -> None:
    run_all(paper(faults={"scene_00": ["SceneVoid", "TrafficStalled"], "scene_01": ["MissedTick"]}))
    ledger = read_ledger(LocalOutput(tmp_path / "out"))
    retries = {name: entry.facts.traffic_retry for name, entry in ledger.items() if entry.facts is not None}
    assert retries == {"scene_00": 1, "scene_01": 0, "scene_02": 0}
    logs = json.loads((tmp_path / "out/v1.0-mini/log.json").read_text())
    assert {row["uav_scene_index"]: row["uav_traffic_retry"] for row in logs} == {0: 1, 1: 0, 2: 0}
    run_all(paper(out=tmp_path / "again", traffic_retries={"scene_00": 1}))  # as ``uavsim reproduce`` asks
    assert contents(tmp_path / "again") == contents(tmp_path / "out")


def test_traffic_that_never_moves_quarantines_a_scene_with_the_last_plan(paper: Paper, tmp_path: Path) -> None:
    outcomes = run_all(paper(scenes="1", faults={"scene_00": ["TrafficStalled"] * 3}))
    assert [(o.state, o.reason) for o in outcomes] == [("quarantined", "scene_00: TrafficStalled: asked to")]
    plan = unpack_plan((tmp_path / "out/.uavsim/quarantine/scene_00/plan.msgpack").read_bytes())
    assert plan.traffic_retry == 2


def test_a_bug_in_one_scene_is_in_its_log_and_on_the_screen(
    paper: Paper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def wrong(_: object) -> None:
        raise ValueError("labels went wrong")

    monkeypatch.setattr("uavsim.annotate.scene.annotate", wrong)
    with opened(prepared(paper()), console=Screen()) as context, pytest.raises(ValueError, match="went wrong"):
        fly_scene(context, "scene_00")
    last = json.loads((tmp_path / "out/.uavsim/logs/scene_00.jsonl").read_text().splitlines()[-1])
    assert (last["event"], last["kind"], last["reason"]) == ("mistake", "ValueError", "labels went wrong")
    assert "in wrong" in last["traceback"]
    output = " ".join("".join(capsys.readouterr()).split())
    assert "scene_00 a bug in uavsim, report it: ValueError: labels went wrong" in output


@pytest.mark.parametrize("error", [StorageError, MapMissing])
def test_what_no_other_try_repairs_ends_the_run_and_is_not_the_scenes_fault(
    paper: Paper, tmp_path: Path, error: type[SystemFailure]
) -> None:
    with pytest.raises(error, match="asked to"):
        run_all(paper(faults={"scene_01": [error.__name__]}))
    entry = read_ledger(LocalOutput(tmp_path / "out"))["scene_01"]
    assert (entry.state, entry.attempts) == ("flying", 0)
    assert [o.state for o in run_all(paper())] == ["committed"] * 3


def test_a_simulator_that_is_not_there_leaves_nothing_but_logs(paper: Paper, tmp_path: Path) -> None:
    request = paper()
    missing = request.run.simulators[0].model_copy(update={"ports": {"carla": 1}})
    request = request.model_copy(update={"run": request.run.model_copy(update={"simulators": (missing,)})})
    with (
        pytest.raises(SimulatorError, match=r"cannot reach CARLA at 127\.0\.0\.1:1: connection refused"),
        opened(prepared(request), console=QUIET),
    ):
        pass
    assert [p for p in (tmp_path / "out").rglob("*") if p.is_file()] == []


LISTEN = "import socket, sys, time; s = socket.create_server(('127.0.0.1', int(sys.argv[1]))); time.sleep(600)"


def on_its_own_simulator(request: Request) -> Request:
    simulator = SimulatorConfig(kind="command", command=(sys.executable, "-c", LISTEN, "{carla_port}"), name="own")
    run = request.run_config()
    return request.model_copy(update={"run": run.model_copy(update={"simulators": (simulator,)})})
