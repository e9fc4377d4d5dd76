"""Each served version of CARLA, through its real client."""

import pytest
from headless_simulator.carla import blueprints
from headless_simulator.carla.versions import VERSIONS
from headless_simulator.testing import running_simulator

from tests.carla.conftest import run_client

TOUR = """
    world = client.get_world(); synchronous(world); library = world.get_blueprint_library()
    spawn_poses = world.get_map().get_spawn_points(); kinds = sorted(b.id for b in library.filter('vehicle.*'))
    spawn, physics, future = carla.command.SpawnActor, carla.command.SetSimulatePhysics, carla.command.FutureActor
    batch = [spawn(library.find(kinds[k]), spawn_poses[3 * k]).then(physics(future, True)) for k in range(4)]
    replies = client.apply_batch_sync(batch, True)
    cars = [world.get_actor(r.actor_id) for r in replies]; car = cars[0]
    changed = car.get_physics_control(); changed.mass = 2222.0; car.apply_physics_control(changed)
    pose = car.get_transform(); above = carla.Transform(pose.location + carla.Location(z=12), carla.Rotation(pitch=-90))
    names = [b.id for b in library.filter('sensor.*') if not b.id.endswith(('rss', 'invasion', 'collision', 'obstacle'))]
    names = [n for n in names if 'v2x' not in n and 'dvs' not in n]
    eyes = {n: camera(world, n.removeprefix('sensor.'), above, 64, 48) for n in names}
    for _ in range(3): frame = world.tick()
    got = {n: get(eye, frame) for n, eye in eyes.items()}
    mask = bgra(got['sensor.camera.instance_segmentation']).astype(int); is_car = np.isin(mask[..., 2], (14, 15, 16))
    ids = set((mask[..., 1] + 256 * mask[..., 0])[is_car].tolist())
    manager = client.get_trafficmanager(int(sys.argv[2])); manager.set_synchronous_mode(True)
    for c in cars: c.set_autopilot(True, manager.get_port())
    before = [c.get_location() for c in cars]
    for _ in range(100): world.tick()
    moved = sum(c.get_location().distance(b) > 2 for c, b in zip(cars, before))
    world.set_weather(carla.WeatherParameters.HardRainNoon)
    done(versions=[client.get_client_version(), client.get_server_version()], errors=[r.error for r in replies],
         types=[str(car.attributes['role_name']), str(library.find(kinds[0]).get_attribute('role_name').type)],
         kinds=kinds, mass=car.get_physics_control().mass, frames=[d.frame - frame for d in got.values()], sensors=len(got),
         ids=sorted(ids), car=car.id, moved=moved, rain=world.get_weather().precipitation,
         kind=world.get_spectator().attributes['simulator'])
"""


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("version", "vehicles", "mask_is_actor", "rain"), [("0.9.15", 41, False, 100.0), ("0.10.0", 11, False, 0.0)]
)
def test_client_of_each_version(version: str, vehicles: int, mask_is_actor: bool, rain: float) -> None:
    with running_simulator("--no-airsim", "--carla-version", version) as running:
        result = run_client(running.carla_port, TOUR, 18460, version=version)

    assert result["versions"] == [version, version]
    assert result["errors"] == [""] * 4
    assert result["types"][1] == "String"
    assert len(result["kinds"]) == vehicles
    assert result["mass"] == 2222.0
    assert set(result["frames"]) == {0}
    assert result["sensors"] == 11
    assert len(result["ids"]) == 1
    assert (result["ids"] == [result["car"]]) == mask_is_actor
    assert result["moved"] >= 3
    assert result["rain"] == rain
    assert result["kind"] == "headless"


@pytest.mark.parametrize("version", VERSIONS.values(), ids=VERSIONS)
def test_blueprint_library_of_each_version(version) -> None:
    rows = {row[1]: row for row in blueprints.definitions(version)}

    assert not rows.keys() & version.absent_sensors
    assert not version.vehicles or {name for name in rows if name.startswith("vehicle.")} == version.vehicles.keys()
    kinds = {attribute[1] for row in rows.values() for attribute in row[3]}
    assert kinds == set(range(version.first_attribute_type, version.first_attribute_type + 5))
    for name in rows:
        blueprints.model(version, name)
