"""Calls of third-party programs, through the unmodified client."""

import pytest
from headless_simulator.carla.recorder import files
from headless_simulator.errors import CallRefused


def test_ackermann_control_reaches_and_keeps_speed(client) -> None:
    result = client("""
        world = client.load_world('Town10HD'); synchronous(world)
        spawn_pose = world.get_map().get_spawn_points()[0]
        car = world.spawn_actor(world.get_blueprint_library().find('vehicle.tesla.model3'), spawn_pose)
        for _ in range(10): world.tick()
        plain = car.get_ackermann_controller_settings()
        car.apply_ackermann_controller_settings(carla.AckermannControllerSettings(0.5, 0.0, 0.1, 0.05, 0.0, 0.0))
        car.apply_ackermann_control(carla.VehicleAckermannControl(steer=0.0, speed=8.0))
        speeds = []
        for _ in range(160):
            world.tick(); v = car.get_velocity(); speeds.append((v.x**2 + v.y**2)**0.5)
        changed = car.get_ackermann_controller_settings()
        car.apply_control(carla.VehicleControl(brake=1.0))
        for _ in range(80): world.tick()
        done(speeds=speeds, stopped=car.get_velocity().length(), plain=[round(plain.speed_kp, 4), round(plain.accel_kd, 4)],
             changed=[changed.speed_kp, round(changed.accel_kp, 4)])
    """)

    assert result["plain"] == [0.15, 0.01]
    assert result["changed"] == [0.5, 0.05]
    assert max(result["speeds"]) < 9.5
    assert result["speeds"][-1] == pytest.approx(8.0, abs=0.3)
    assert result["stopped"] == 0.0


def test_walker_follows_control_after_ai_stops(client) -> None:
    result = client("""
        world = client.load_world('Town10HD'); synchronous(world); world.set_pedestrians_seed(1)
        library = world.get_blueprint_library()
        spawn_pose = carla.Transform(world.get_random_location_from_navigation() + carla.Location(z=1))
        walker = world.spawn_actor(library.find('walker.pedestrian.0001'), spawn_pose)
        control = world.spawn_actor(library.find('controller.ai.walker'), carla.Transform(), attach_to=walker)
        world.tick(); control.start(); control.go_to_location(world.get_random_location_from_navigation())
        for _ in range(20): world.tick()
        control.stop(); world.tick(); world.tick()
        before = walker.get_location()
        walker.apply_control(carla.WalkerControl(carla.Vector3D(1, 0, 0), 2.0, True))
        heights = []
        for _ in range(20): world.tick(); heights.append(walker.get_location().z)
        done(moved=walker.get_location().x - before.x, jumped=max(heights) - before.z, reported=walker.get_control().jump)
    """)

    assert result["moved"] == pytest.approx(2.0, abs=0.15)
    assert result["jumped"] > 0.6
    assert result["reported"]


def test_rays_reach_the_ground_from_far_above(client) -> None:
    result = client("""
        world = client.load_world('Town10HD'); synchronous(world); world.tick()
        road = world.get_map().get_spawn_points()[0].location
        low, high = carla.Location(road.x, road.y, 50), carla.Location(road.x, road.y, 99_999)
        hits = [world.ground_projection(low, 100), world.ground_projection(high, 200_000), world.ground_projection(high)]
        missed = world.project_point(high, carla.Vector3D(0, 0, 1), 200_000)
        through = world.cast_ray(high, carla.Location(road.x, road.y, -50))
        done(z=[hit and hit.location.z for hit in hits], missed=missed is None, through=[p.location.z for p in through])
    """)

    near, far, short = result["z"]
    assert far == pytest.approx(near, abs=0.02)
    assert short is None, "its 10 km end far above"
    assert result["missed"]
    assert any(abs(z - near) < 0.02 for z in result["through"])


def test_surfaces_and_lamps_have_boxes(client) -> None:
    result = client("""
        world = client.load_world('Town03'); synchronous(world); world.tick(); Label = carla.CityObjectLabel
        counts = {name: len(world.get_level_bbs(getattr(Label, name))) for name in ('Roads', 'Sidewalks', 'RoadLines')}
        points = [p.location for p in world.get_map().get_spawn_points()]
        roads = world.get_level_bbs(Label.Roads)
        def holds(box, p):
            return all(abs(getattr(p, a) - getattr(box.location, a)) <= getattr(box.extent, a) + 0.6 for a in 'xyz')
        on_road = sum(any(holds(box, p) for box in roads) for p in points)
        light = world.get_actors().filter('traffic.traffic_light')[0]
        boxes = light.get_light_boxes()
        signs = [world.get_traffic_sign(mark) for mark in world.get_map().get_all_landmarks() if mark.type != '1000001']
        done(signs=[sign.type_id for sign in signs], sign_boxes=len(world.get_level_bbs(Label.TrafficSigns)),
             counts=counts, on_road=on_road, points=len(points), boxes=len(boxes),
             near=max(light.get_location().distance(box.location) for box in boxes), z=[box.location.z for box in boxes[:3]])
    """)

    assert min(result["counts"].values()) > 60
    assert result["on_road"] == result["points"]
    assert {"traffic.yield", "traffic.speed_limit.30", "traffic.speed_limit.60"} <= set(result["signs"])
    assert result["sign_boxes"] == len(result["signs"])
    assert result["boxes"] in {3, 6}
    assert result["near"] < 10
    assert result["z"] == sorted(result["z"], reverse=True), "red on top"


def test_sensor_data_is_equal_after_each_reload(client) -> None:
    result = client("""
        import hashlib
        watcher = carla.Client('127.0.0.1', int(sys.argv[1])); watcher.get_world()
        world, digests = client.load_world('Town10HD'), []
        for _ in range(3):
            client.reload_world(); synchronous(world); library = world.get_blueprint_library()
            car = world.spawn_actor(library.filter('tt')[0], world.get_map().get_spawn_points()[3])
            car.set_target_velocity(carla.Vector3D(-25, 0, 0))
            boxes, digest, sizes = [], hashlib.sha1(), []
            for kind in ('lidar.ray_cast', 'other.radar'):
                sensor = world.spawn_actor(library.find('sensor.' + kind), carla.Transform(carla.Location(z=2)), attach_to=car)
                sensor.box = queue.Queue(); sensor.listen(sensor.box.put); boxes.append(sensor)
            for _ in range(30):
                frame = world.tick()
                for sensor in boxes:
                    raw = bytes(get(sensor, frame).raw_data); digest.update(raw); sizes.append(len(raw))
            digests.append(digest.hexdigest())
            for actor in (*boxes, car): actor.destroy()
        done(digests=digests)
    """)

    assert len(set(result["digests"])) == 1


@pytest.mark.parametrize("name", ["{first}/a.log", "{second}/deep/b.log", "c.log"])
def test_recording_folders_of_operator(name: str, tmp_path, monkeypatch) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    monkeypatch.setenv("HEADLESS_SIMULATOR_RECORDINGS", f"{first}:{second}")
    recording_path = files.resolve(name.format(first=first, second=second))
    with files.create(recording_path):
        assert recording_path.path.exists()
    assert recording_path.folder == (second if "second" in name else first)


def test_refused_recording_path_names_the_setting(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("HEADLESS_SIMULATOR_RECORDINGS", str(tmp_path / "here"))
    with pytest.raises(CallRefused, match="HEADLESS_SIMULATOR_RECORDINGS set to the path's folder"):
        files.resolve(str(tmp_path / "elsewhere" / "a.log"))
