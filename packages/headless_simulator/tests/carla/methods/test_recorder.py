"""CARLA's recorder through the real client: file, queries and replay."""

import json
import math
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from headless_simulator.carla.recorder import layout
from headless_simulator.carla.recorder.packet_lines import ONLY_IN_FULL
from headless_simulator.testing import RunningSimulator, running_simulator

from tests.carla.conftest import Client

TOOLS = """
import math
world = client.load_world('Town10HD'); synchronous(world)
def stopped():
    client.stop_recorder(); client.get_server_version()  # the client does not wait for the first one's answer
def cars(world, count, step=7):
    library = world.get_blueprint_library().filter('vehicle.*'); spawn_poses = world.get_map().get_spawn_points()
    return [world.spawn_actor(library[n], spawn_poses[step * n]) for n in range(count)]
def poses(world, ids):
    snapshot = world.get_snapshot(); out = {}
    for i in ids:
        t = snapshot.find(i).get_transform()
        out[i] = [t.location.x, t.location.y, t.location.z, t.rotation.pitch, t.rotation.yaw, t.rotation.roll]
    return out
def apart(a, b):
    far = max(math.dist(a[i][:3], b[i][:3]) for i in a)
    return far, max(abs((x - y + 180) % 360 - 180) for i in a for x, y in zip(a[i][3:], b[i][3:]))
def drive(world, ids, ticks):
    track = []
    for k in range(ticks):
        for n, i in enumerate(ids):
            world.get_actor(i).apply_control(carla.VehicleControl(throttle=0.5, steer=0.3 * math.sin(0.1 * k + n)))
        world.tick(); track.append(poses(world, ids))
    return track
"""
RECALL = """
recorded = json.load(open(sys.argv[2])); ids = recorded['ids']
track = [{int(i): pose for i, pose in poses.items()} for poses in recorded['track']]
"""


def note(folder: Path, recorded: dict) -> Path:
    """Write one client's results to a file for the next client."""
    path = folder / "recorded.json"
    path.write_text(json.dumps(recorded))
    return path


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="module")
def server(recordings: Path) -> Iterator[RunningSimulator]:
    with running_simulator("--town", "Town10HD", env={"XDG_STATE_HOME": str(recordings)}) as running:
        yield running


def packets(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the packets of a recording as documented by CARLA."""
    offset = 2
    for kind in ("text", "date", "text"):
        offset += 8 if kind == "date" else 2 + int.from_bytes(data[offset : offset + 2], "little")
    while offset < len(data):
        number, size = struct.unpack_from("<BI", data, offset)
        yield number, data[offset + 5 : offset + 5 + size]
        offset += 5 + size
    assert offset == len(data)


def rows(data: bytes, layout: str) -> list[tuple]:
    (count,) = struct.unpack_from("<H", data)
    size = struct.calcsize(layout)
    assert len(data) == 2 + count * size
    return [struct.unpack_from(layout, data, 2 + n * size) for n in range(count)]


def test_replay_has_recorded_poses(client: Client, recordings: Path, tmp_path: Path):
    recorded = client(
        TOOLS
        + """
path = client.start_recorder('ten.log', True)
ids = [car.id for car in cars(world, 10)]
track = drive(world, ids, 101)
lights = {a.id: str(a.state) for a in world.get_actors().filter('traffic.traffic_light')}
client.apply_batch_sync([carla.command.DestroyActor(i) for i in ids], True)
stopped()
brief, full = (client.show_recorder_file_info('ten.log', everything) for everything in (False, True))
done(path=path, ids=ids, brief=brief, lines=full.count(chr(10)), full=full[-9000:], track=track, lights=lights)
"""
    )
    result = recorded | client(
        TOOLS
        + RECALL
        + """
reported = client.replay_file('ten.log', 0, 0, ids[0])
worst = [apart(track[k], poses(world, ids)) for k in range(1, 101) if world.tick()]
same = recorded['lights'] == {str(a.id): str(a.state) for a in world.get_actors().filter('traffic.traffic_light')}
ego = track[100][ids[0]]; eye = world.get_spectator().get_transform()
world.tick()
left = len(world.get_actors().filter('vehicle.*'))
done(reported=reported, left=left, same=same, far=max(w[0] for w in worst), turned=max(w[1] for w in worst),
     behind=math.dist(ego[:2], (eye.location.x, eye.location.y)), above=eye.location.z - ego[2])
""",
        note(tmp_path, recorded),
    )
    path = recordings / "headless-simulator" / "recordings" / "ten.log"

    assert result["path"] == str(path)
    assert result["far"] < 0.01
    assert result["turned"] < 0.1
    assert result["same"]
    assert result["left"] == 0  # they were destroyed in the recording too
    assert result["behind"] == pytest.approx(10, abs=0.3)
    assert result["above"] == pytest.approx(5, abs=0.3)
    assert result["reported"].splitlines() == [
        f"Replaying File: {path}",
        "Total time recorded: 5.05",
        "Replaying from 0 s - 5.05 s (5.05 s) at 1.0x",
        "Ignoring Spectator camera",
    ]
    brief = result["brief"].splitlines()
    assert brief[:2] == ["Version: 2", "Map: Town10HD"]
    assert brief[4] == "Frame 1 at 0 seconds"
    assert brief[-2:] == ["Frames: 102", "Duration: 5.05 seconds"]
    assert all(f" Destroy {i}" in brief for i in result["ids"])
    assert all(any(line.startswith(f" Create {i}: vehicle.") for line in brief) for i in result["ids"])
    assert result["lines"] > 102 * 40
    assert " Positions: " in result["full"]
    check_the_file(path.read_bytes(), result["ids"], [poses[str(result["ids"][3])] for poses in result["track"]])


def check_the_file(data: bytes, ids: list[int], poses: list[list[float]]) -> None:
    assert data[:18] == b"\x02\x00\x0e\x00CARLA_RECORDER"
    frames, found, kinds, duration_s = [], [], set(), []
    for number, body in packets(data):
        kinds.add(number)
        if number == 0:
            frame, length_s, elapsed_s = struct.unpack("<Qdd", body)
            frames.append((frame, elapsed_s))
            duration_s.append(length_s)
        elif number == 6:
            found.append({row[0]: row[1:] for row in rows(body, "<I3f3f")})
        elif number == 7:
            assert all(row[3] in range(4) for row in rows(body, "<I?fB"))
        elif number == 8:
            assert len(rows(body, "<Ifff?i")) == len([i for i in found[-1] if i in ids])
        elif number == 12:
            speeds = {row[0]: row[1:4] for row in rows(body, "<I3f3f")}
            assert all(abs(v) < 60 for row in speeds.values() for v in row)
    assert frames == [(n, pytest.approx(0.05 * (n - 1))) for n in range(1, 103)]
    assert duration_s == [pytest.approx(0.05)] * 101 + [-1.0]
    assert {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14, 15, 16, 17, 20} == kinds
    for now, (x, y, z, pitch, yaw, roll) in zip(found, poses, strict=False):
        assert now[ids[3]] == pytest.approx((100 * x, 100 * y, 100 * z, roll, pitch, yaw), abs=0.05)


def test_half_speed_replay_interpolates_and_stops(client: Client, tmp_path: Path):
    recorded = client(
        TOOLS
        + """
client.start_recorder('half.log'); ids = [car.id for car in cars(world, 2)]
track = drive(world, ids, 61)
stopped()
done(ids=ids, track=track)
"""
    )
    result = client(
        TOOLS
        + RECALL
        + """
client.set_replayer_time_factor(0.5)
reported = client.replay_file('half.log', -1.0, 0.5, 0)
off, speed = [], []
for k in range(1, 21):
    world.tick(); a, b = track[40 + k // 2], track[40 + (k + 1) // 2]
    off.append(apart({i: [(x + y) / 2 for x, y in zip(a[i], b[i])] for i in ids}, poses(world, ids))[0])
    speed += [world.get_actor(i).get_velocity().length() for i in ids]
for _ in range(20): world.tick()
rest = [world.get_actor(i).get_velocity().length() for i in ids]
client.set_replayer_time_factor(1.0)
client.replay_file('half.log', 0, 0, 0); world.tick()
client.stop_replayer(False); world.tick()
left = len(world.get_actors().filter('vehicle.*'))
done(reported=reported, off=max(off), speed=speed, rest=rest, left=left)
""",
        note(tmp_path, recorded),
    )

    assert "Replaying from 2 s - 2.5 s (3 s) at 0.5x" in result["reported"]
    assert result["off"] < 0.01
    assert max(result["speed"]) > 0.5
    assert max(result["rest"]) < 0.01
    assert result["left"] == 2  # the first replay's own, which the second one took over


def test_queries_of_collisions_and_blocked_actors(client: Client):
    result = client(
        TOOLS
        + """
library = world.get_blueprint_library(); spawn_pose = world.get_map().get_spawn_points()[40]
blueprint = library.find('vehicle.tesla.model3'); blueprint.set_attribute('role_name', 'hero')
first = world.spawn_actor(blueprint, spawn_pose)
ahead = spawn_pose.get_forward_vector()
spawn_pose.location += carla.Location(9 * ahead.x, 9 * ahead.y, 0)
second = world.spawn_actor(library.find('vehicle.audi.tt'), spawn_pose)
sensor = world.spawn_actor(library.find('sensor.other.collision'), carla.Transform(), attach_to=first)
client.start_recorder('crash.log')
for _ in range(100):
    first.apply_control(carla.VehicleControl(throttle=1.0)); world.tick()
stopped()
found = {kinds: client.show_recorder_collisions('crash.log', *kinds) for kinds in ('vv', 'hv', 'aa', 'wa', 'vh')}
try: client.show_recorder_collisions('crash.log', 'x', 'a'); refused = None
except RuntimeError as problem: refused = str(problem)
done(found=found, ids=[first.id, second.id], refused=refused,
     blocked=client.show_recorder_actors_blocked('crash.log', 2, 10),
     none=client.show_recorder_actors_blocked('crash.log', 60, 10),
     info=client.show_recorder_file_info('crash.log', False))
"""
    )

    first, second = result["ids"]
    for kinds in ("vv", "hv", "aa"):
        lines = result["found"][kinds].splitlines()
        assert lines[4] == f"{'Time':>8} {'Types':>6} {'Id':>6} {'Actor 1':<35} {'Id':>6} {'Actor 2':<35}"
        assert lines[5].split()[1:] == ["v", "v", str(first), "vehicle.tesla.model3", str(second), "vehicle.audi.tt"]
        assert lines[-2:] == ["Frames: 100", "Duration: 5 seconds"]
    for kinds in ("wa", "vh"):
        assert len(result["found"][kinds].splitlines()) == 8
    assert "'x'" in result["refused"]
    assert [line.split()[1:] for line in result["blocked"].splitlines() if "audi" in line] == [
        [str(second), "vehicle.audi.tt", "5"]
    ]
    assert "vehicle" not in result["none"]
    assert f" Collision id 0 between {first} (hero)  with {second}" in result["info"]


def test_replay_in_free_running_world(client: Client, tmp_path: Path):
    recorded = client(
        TOOLS
        + """
client.start_recorder('free.log'); ids = [car.id for car in cars(world, 3)]
track = drive(world, ids, 61); stopped()
done(ids=ids, track=track)
"""
    )
    result = client(
        TOOLS
        + RECALL
        + """
free = world.get_settings(); free.synchronous_mode = False; world.apply_settings(free); end = track[-1]
client.replay_file('free.log', 0, 0, 0)
until(lambda: len(world.get_actors().filter('vehicle.*')) == 3, 10)
until(lambda: apart(end, poses(world, ids))[0] < 0.05, 20)
done(off=apart(end, poses(world, ids))[0])
""",
        note(tmp_path, recorded),
    )

    assert result["off"] < 0.05


def test_replay_of_hero_sensors_and_attached_actors(client: Client):
    client(
        TOOLS
        + """
library = world.get_blueprint_library(); spawn_pose = world.get_map().get_spawn_points()[40]
blueprint = library.find('vehicle.tesla.model3'); blueprint.set_attribute('role_name', 'hero')
client.start_recorder('hero.log')
hero = world.spawn_actor(blueprint, spawn_pose)
eye = world.spawn_actor(library.find('sensor.camera.rgb'), carla.Transform(carla.Location(x=1, z=2)), attach_to=hero)
walker = world.spawn_actor(library.filter('walker.*')[0], carla.Transform(spawn_pose.location + carla.Location(z=30)))
for _ in range(20): world.tick()
stopped()
done()
"""
    )

    def replayed(*, ignore_hero: bool, sensors: bool) -> dict:
        return client(
            TOOLS
            + """
ignore, sensors = (flag == 'True' for flag in sys.argv[2:])
client.set_replayer_ignore_hero(ignore)
client.replay_file('hero.log', 0, 0, 0, sensors)
for _ in range(10): world.tick()
client.set_replayer_ignore_hero(False)
out = {'counts': [len(world.get_actors().filter(f)) for f in ('vehicle.*', 'sensor.*', 'walker.*')]}
if sensors:
    camera, hero = world.get_actors().filter('sensor.*')[0], world.get_actors().filter('vehicle.*')[0]
    out |= {'hung': camera.parent.id == hero.id, 'far': camera.get_location().distance(hero.get_location()),
            'role': hero.attributes['role_name']}
done(**out)
""",
            ignore_hero,
            sensors,
        )

    assert replayed(ignore_hero=False, sensors=False)["counts"] == [1, 0, 1]
    assert replayed(ignore_hero=True, sensors=False)["counts"] == [0, 0, 1]
    result = replayed(ignore_hero=False, sensors=True)
    assert result["counts"] == [1, 1, 1]
    assert result["hung"]
    assert result["role"] == "hero"
    assert result["far"] == pytest.approx(5**0.5, abs=0.01)


def test_box_of_actor_without_bounds_is_listed():
    """CARLA's servers record such boxes for the spectator and sensors."""
    data = struct.pack("<HI6f", 1, 7, *[math.nan] * 3, *[-math.inf] * 3)
    assert (
        list(ONLY_IN_FULL[layout.BOUNDING_BOX](data))[1]
        == "  Id: 7 origin: (nan, nan, nan) extension: (-inf, -inf, -inf)"
    )


def test_foreign_and_damaged_files_are_reported(client: Client, recordings: Path):
    folder = recordings / "headless-simulator/recordings/of today"
    folder.mkdir(parents=True)
    foreign, complete, link = folder / "letter.txt", folder / "complete.log", folder / "link.log"
    foreign.write_text("Dear diary")
    link.symlink_to(foreign)
    result = client(
        TOOLS
        + """
folder = sys.argv[2]
def tried(call, *arguments):
    try: return call(*arguments)
    except RuntimeError as problem: return 'REFUSED ' + str(problem)
client.start_recorder(folder + '/complete.log'); ids = [car.id for car in cars(world, 2)]; drive(world, ids, 20)
during = client.show_recorder_file_info(folder + '/complete.log', False); stopped()
data = open(folder + '/complete.log', 'rb').read()
open(folder + '/cut.log', 'wb').write(data[:len(data) // 2])
open(folder + '/noise.log', 'wb').write(data[:40] + bytes(range(256)) * 20)
out = {}
for name in ('missing.log', 'letter.txt', 'cut.log', 'noise.log', 'complete.log'):
    path = folder + '/' + name
    out[name] = [client.show_recorder_file_info(path, True)[-300:], client.show_recorder_collisions(path, 'a', 'a'),
                 client.show_recorder_actors_blocked(path, 1, 1), client.replay_file(path, 0, 0, 0)]
    for _ in range(30): world.tick()
bad = ['', ' ', '..', folder, folder + '/letter.txt', folder + '/link.log', '/nowhere/a.log', '/dev/null', '/proc/x',
       'x' * 300, '../' * 9 + 'nowhere/a.log']
refused = [tried(client.start_recorder, name) for name in bad]
again = client.start_recorder(folder + '/complete.log'); world.tick(); world.tick(); stopped()
done(out=out, refused=refused, again=again, during=during)
""",
        folder,
    )

    assert "Frames: 19\n" in result["during"]  # the last frame is written with the next one
    assert all("not found on server" in text for text in result["out"]["missing.log"])
    assert all("File is not a CARLA recorder" in text for text in result["out"]["letter.txt"])
    assert all("File is damaged: " in text for text in result["out"]["cut.log"])
    assert all("File is damaged: " in text for text in result["out"]["noise.log"])
    assert not any("damaged" in text for text in result["out"]["complete.log"])
    assert all(text.startswith("REFUSED ") for text in result["refused"])
    assert foreign.read_text() == "Dear diary"
    assert link.is_symlink()
    assert result["again"] == str(complete)
    assert len([number for number, _ in packets(complete.read_bytes()) if number == 0]) == 2
