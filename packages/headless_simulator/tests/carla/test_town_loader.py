"""Long requests of one real client do not delay another one."""

import concurrent.futures
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from headless_simulator.jit import cache_folder
from headless_simulator.testing import RunningSimulator, running_simulator

from tests.carla.conftest import run_client
from tests.towns.sample import document, road

BUSY = """
world = client.get_world(); folder = sys.argv[2]
open(folder + '/begun', 'w').close(); began = time.monotonic()
try: {request}; problem = ''
except RuntimeError as error: problem = str(error)
took = time.monotonic() - began; open(folder + '/ended', 'w').close()
done(took=took, problem=problem)
"""
# the calls of a second client meanwhile: version, maps, actors
WITNESS = """
folder = sys.argv[2]
until(lambda: os.path.exists(folder + '/begun'))
answered, longest = 0, 0.0
while not os.path.exists(folder + '/ended'):
    began = time.monotonic()
    client.get_server_version(); client.get_available_maps(); client.get_world().get_actors()
    longest = max(longest, time.monotonic() - began); answered += 1
done(answered=answered, longest=longest)
"""
MANY = "".join(
    road(
        number=str(n), plan=f'<geometry s="0" x="{n % 12 * 90}" y="{n // 12 * 70}" hdg="0" length="80"><line/></geometry>',
        length="80",
    )
    for n in range(60)
)  # fmt: skip
LONG = {
    "load_world": "client.set_timeout(140); client.load_world('Town07')",
    "generate_opendrive_world": "client.set_timeout(140); client.generate_opendrive_world(open(folder + '/many.xodr').read())",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSimulator]:
    """A simulator that opens one road, and has no other town in its cache; its kernels are the account's."""
    folder = tmp_path_factory.mktemp("cache")
    (folder / "one.xodr").write_bytes(document(road()))
    env = {"XDG_CACHE_HOME": str(folder), "NUMBA_CACHE_DIR": str(cache_folder())}
    with running_simulator("--xodr", str(folder / "one.xodr"), "--render", "flat", env=env) as running:
        yield running


def beside(server: RunningSimulator, request: str, folder: Path) -> tuple[Any, Any]:
    """Run a long request and a witness in separate clients."""
    port = server.carla.rpartition(":")[2]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        busy = pool.submit(run_client, port, BUSY.format(request=request), folder)
        witness = pool.submit(run_client, port, WITNESS, folder)
        return busy.result(), witness.result()


@pytest.mark.parametrize(
    "name", ["load_world", *(pytest.param(name, marks=pytest.mark.release) for name in LONG if name != "load_world")]
)
def test_long_request_does_not_delay_other_client(server: RunningSimulator, tmp_path: Path, name: str) -> None:
    (tmp_path / "many.xodr").write_bytes(document(MANY))
    busy, witness = beside(server, LONG[name], tmp_path)

    assert not busy["problem"]
    assert witness["answered"] > 10
    assert witness["longest"] < busy["took"] / 2, "some request waited for the other client's"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            document(
                road(length="99999", plan='<geometry s="0" x="0" y="0" hdg="0" length="99999"><line/></geometry>')
            ),
            "km",
        ),
        pytest.param(document(road(), "<x/>" * 600_000), "more than 500000 elements", marks=pytest.mark.release),
        (b'<!DOCTYPE a [<!ENTITY b "ha">]>' + document(road()).split(b"\n", 1)[1], "entities are not supported"),
    ],
)
def test_invalid_opendrive_is_refused(server: RunningSimulator, tmp_path: Path, text: bytes, message: str) -> None:
    (tmp_path / "bad.xodr").write_bytes(text)
    busy, witness = beside(server, "client.generate_opendrive_world(open(folder + '/bad.xodr').read())", tmp_path)

    assert message in busy["problem"]
    assert "\n" not in busy["problem"].strip()
    assert witness["longest"] < 60
    assert os.path.exists(f"/proc/{server.pid}")  # noqa: PTH110


WATCHED = """
watcher = carla.Client('127.0.0.1', int(sys.argv[1])); watcher.set_timeout(60)
def types_of(observer): return sorted((actor.id, actor.type_id) for actor in observer.get_world().get_actors())
def spawn(world, kind):
    return world.spawn_actor(world.get_blueprint_library().find(kind), carla.Transform(carla.Location(z=50)))
world = client.reload_world(); {watch}
first = spawn(world, 'vehicle.tesla.model3'); {watch}
again = spawn(client.reload_world(), 'static.prop.streetbarrier')
until(lambda: again.id in [actor.id for actor in client.get_world().get_actors()])
expected = types_of(client); {see}
done(first=first.id, again=again.id, expected=expected, observed=observed)
"""
WATCH = "until(lambda: types_of(watcher) == types_of(client))"
SEE = "until(lambda: types_of(watcher) == expected, 5); observed = types_of(watcher)"


def test_watching_client_sees_actors_of_reloaded_world(server: RunningSimulator) -> None:
    result = run_client(server.carla.rpartition(":")[2], WATCHED.format(watch=WATCH, see=SEE))

    assert result["observed"] == result["expected"]


def test_actor_ids_restart_for_single_client(server: RunningSimulator) -> None:
    result = run_client(server.carla.rpartition(":")[2], WATCHED.format(watch="pass", see="observed = None"))

    assert result["again"] == result["first"]


OUTSIDE = ("../x.log", "/etc/x.log", "a/../../x.log", "link/x.log", "linked.log", "hard.log", "pipe.log", "/dev/null")


def test_recording_outside_folder_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "recordings"
    folder.mkdir()
    (tmp_path / "letter.txt").write_text("Dear diary")
    (folder / "link").symlink_to(tmp_path)
    (folder / "linked.log").symlink_to(tmp_path / "letter.txt")
    (folder / "hard.log").hardlink_to(tmp_path / "letter.txt")
    os.mkfifo(folder / "pipe.log")
    program = """
def tried(call, *arguments):
    try: return call(*arguments)
    except RuntimeError as problem: return 'REFUSED ' + str(problem)
done(answers=[[tried(client.start_recorder, name), tried(client.show_recorder_file_info, name, True),
            tried(client.replay_file, name, 0, 0, 0)] for name in sys.argv[2:]])
"""
    env = {"HEADLESS_SIMULATOR_RECORDINGS": str(folder)}
    (tmp_path / "one.xodr").write_bytes(document(road()))
    with running_simulator("--xodr", str(tmp_path / "one.xodr"), "--render", "flat", env=env) as running:
        before = sorted(map(str, tmp_path.rglob("*")))
        answers = run_client(running.carla.rpartition(":")[2], program, *OUTSIDE)["answers"]

    for begun, *read in answers:
        assert begun.startswith("REFUSED")
        assert all(a.startswith("REFUSED") or "not found" in a or "not a CARLA recorder" in a for a in read)
    assert (tmp_path / "letter.txt").read_text() == "Dear diary"
    assert sorted(map(str, tmp_path.rglob("*"))) == before
