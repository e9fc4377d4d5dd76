"""No behaviour of a client process hangs or deceives its supervisor."""

import sys
import time
from pathlib import Path

import psutil
import pytest

from uavsim.capture.client_events import ClientEvent
from uavsim.config.deadlines import Deadlines
from uavsim.errors import InputError, MissedTick, SceneVoid, SimulatorError, SimulatorLost, StorageError
from uavsim.supervise.client_process import ClientProcess

FAKE = Path(__file__).with_name("fake_client_worker.py")
PATIENT = Deadlines(connect_s=60, load_s=30, spawn_s=30, call_s=30, scene_s=60)


def start(tmp_path: Path, behaviour: str, deadlines: Deadlines = PATIENT) -> ClientProcess:
    return ClientProcess(
        [sys.executable, str(FAKE), behaviour], log=tmp_path / "log", deadlines=deadlines, home=tmp_path / "home"
    )


def fly(client: ClientProcess, tmp_path: Path) -> list[ClientEvent]:
    plan = tmp_path / "plan.msgpack"
    plan.write_bytes(b"plan")
    events: list[ClientEvent] = []
    client.wait_ready()
    flown = client.fly(plan, out=tmp_path / "scene", on_event=events.append)
    assert (flown.vehicles, flown.vehicles_asked, flown.images) == (90, 200, 25)
    assert flown.recording == str(tmp_path / "scene")
    return events


def test_a_good_client_flies_several_scenes(tmp_path: Path) -> None:
    with start(tmp_path, "good") as client:
        events = fly(client, tmp_path)
        assert [e.event for e in events] == ["heartbeat", "heartbeat", "of_a_later_version", "sample", "done"]
        assert client.probe().server == "0.9.16"
        client.fly(tmp_path / "plan.msgpack", out=tmp_path / "scene2", on_event=events.append)
        assert client.scenes_flown == 2
        assert client.rss_bytes > 1_000_000
    assert not client.alive


@pytest.mark.parametrize(
    ("behaviour", "error", "words"),
    [
        ("hang", SimulatorLost, "silent for 1.5 s in phase fly"),
        ("segfault", SimulatorLost, "killed by SIGSEGV in phase fly"),
        ("die", SimulatorLost, "ended with code 134 in phase fly: libcarla: terminate called"),
        ("nonsense", SimulatorLost, "silent for 1.5 s in phase fly"),
        ("endless-line", SimulatorLost, "sent a line over"),
        ("slow", SimulatorLost, "not finished in time"),
        ("closed", SimulatorLost, "killed in phase fly"),
        ("error", MissedTick, "asked to: error"),
        ("void", SceneVoid, "asked to: void"),
        ("storage", StorageError, "asked to: storage"),
        ("short-done", SimulatorError, "bad 'done' event: done.images: Field required"),
        ("connect@old", InputError, "speaks protocol 0, this one 1; install the same version"),
        ("odd-error", SimulatorError, "__import__: line one line two"),
        ("connect@hang", SimulatorLost, "in phase connect"),
        ("connect@version", SimulatorError, "asked to: version"),
        ("connect@die", SimulatorLost, "code 134"),
    ],
)
def test_every_misbehaviour_ends_in_our_error_with_the_client_dead(
    tmp_path: Path, behaviour: str, error: type[Exception], words: str
) -> None:
    waits_for = {
        "hang",
        "nonsense",
        "closed",
        "slow",
        "connect@hang",
    }  # the other faults must be noticed by their effect
    connect_s = 5.0 if behaviour == "connect@hang" else 60.0
    quick = dict.fromkeys(("call_s", "images_s", "airsim_s"), 0.5)  # 1.5 s of silence
    short = Deadlines(connect_s=connect_s, load_s=5.0, scene_s=5.0, **quick)
    began = time.monotonic()
    with start(tmp_path, behaviour, short if behaviour in waits_for else PATIENT) as client:
        child = psutil.Process(client._process.pid)
        with pytest.raises(error, match=words) as caught:
            fly(client, tmp_path)
    assert type(caught.value) is error
    assert "\n" not in str(caught.value)
    assert time.monotonic() - began < 60
    psutil.wait_procs([child], timeout=5)
    assert not child.is_running()


def test_a_client_that_cannot_start(tmp_path: Path) -> None:
    with (
        ClientProcess(["/no/such/python"], log=tmp_path / "log", deadlines=PATIENT, home=tmp_path / "home") as client,
        pytest.raises(SimulatorLost, match="cannot run /no/such/python"),
    ):
        client.wait_ready()


def test_a_client_has_a_home_of_the_run_and_the_users_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    say = "import json, os; print(json.dumps({'event': 'ready', 'protocol': 1, 'client': os.environ['HOME'], "
    say += "'server': os.environ['XDG_CACHE_HOME']}), flush=True); input()"
    with ClientProcess(
        [sys.executable, "-c", say], log=tmp_path / "log", deadlines=PATIENT, home=tmp_path / "home"
    ) as client:
        ready = client.wait_ready()
    assert ready.client == str(tmp_path / "home")  # libcarla keeps maps there by their names
    assert ready.server == str(tmp_path / "cache")  # numba caches machine code there
