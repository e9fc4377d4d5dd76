"""The server through the unmodified client."""

import pytest
from headless_simulator.testing import running_simulator

from tests.carla.conftest import VERSION, run_client

needs_0_9 = pytest.mark.skipif(VERSION == "0.10.0", reason="names vehicles that CARLA 0.10.0 does not have")
needs_0_9_16 = pytest.mark.skipif(VERSION != "0.9.16", reason="calls or sensors that came with CARLA 0.9.16")


def test_the_world_opens(client):
    result = client("""
        world = client.get_world(); town = world.get_map(); library = world.get_blueprint_library()
        done(version=client.get_server_version(), town=town.name, spawns=len(town.get_spawn_points()),
             vehicles=len(library.filter('vehicle.*')), cars=len([b for b in library.filter('vehicle.*')
             if int(b.get_attribute('number_of_wheels')) == 4]),
             lights=len(world.get_actors().filter('traffic.traffic_light')),
             kind=world.get_spectator().attributes['simulator'],
             maps=[m.rsplit('/', 1)[-1] for m in client.get_available_maps()])
    """)

    assert result["version"] == VERSION
    assert result["town"] == "Carla/Maps/Town10HD"
    assert result["kind"] == "headless"
    assert result["spawns"] > 100
    assert result["lights"] > 10
    assert result["vehicles"] == (11 if VERSION == "0.10.0" else 41)
    assert VERSION == "0.10.0" or {"Town03", "Town06", "Town07", "Town10HD"} <= set(result["maps"])


def test_image_has_frame_and_pose_of_its_tick(client):
    result = client("""
        world = client.load_world('Town10HD'); synchronous(world)
        kinds = ['rgb', 'instance_segmentation', 'depth', 'semantic_segmentation'] * 2
        cameras = [camera(world, 'camera.' + k, carla.Transform(carla.Location(z=60))) for k in kinds]
        off = []; wrong = 0
        for n in range(8):
            poses = [carla.Transform(carla.Location(5 * n, 10 * (i // 4), 50 + n), carla.Rotation(-45 - n, 30 * n, 0))
                     for i in range(8)]
            client.apply_batch_sync([carla.command.ApplyTransform(c, p) for c, p in zip(cameras, poses)], False)
            frame = world.tick(); snapshot = world.get_snapshot()
            for c, p in zip(cameras, poses):
                image = get(c, frame)
                wrong += image.frame != frame or image.timestamp != snapshot.timestamp.elapsed_seconds
                wrong += (image.width, image.height, image.fov) != (160, 90, 90)
                off.append(image.transform.location.distance(p.location))
                off.append(abs(image.transform.rotation.yaw - p.rotation.yaw))
        done(worst=max(off), wrong=wrong)
    """)

    assert result["wrong"] == 0
    assert result["worst"] < 1e-4


def test_masks_depth_and_boxes_agree(client):
    result = client("""
        world = client.load_world('Town10HD'); synchronous(world)
        library = world.get_blueprint_library(); spawn_pose = world.get_map().get_spawn_points()[40]
        models = [b.id for b in library if b.id in ('vehicle.lincoln.mkz', 'vehicle.tesla.model3')]
        car = world.spawn_actor(library.find(models[0]), spawn_pose)
        for _ in range(30): world.tick()
        pose = car.get_transform()
        above = carla.Transform(pose.location + carla.Location(z=20), carla.Rotation(-90, pose.rotation.yaw, 0))
        a, b, c = (camera(world, 'camera.' + k, above, 400, 400, 60)
                   for k in ('instance_segmentation', 'semantic_segmentation', 'depth'))
        frame = world.tick()
        instance, semantic, depth = (bgra(get(x, frame)).astype(int) for x in (a, b, c))
        number = instance[..., 1] + 256 * instance[..., 0]
        is_car = (instance[..., 2] == 14) & (number == number[200, 200])
        far = (depth[..., 2] + 256 * depth[..., 1] + 65536 * depth[..., 0]) / (2**24 - 1) * 1000
        rows, columns = np.nonzero(is_car); box = car.bounding_box
        metres = (np.ptp(rows) + 1) * 20 / (400 / 2 / np.tan(np.radians(30)))
        done(pixels=int(is_car.sum()), is_actor_id=bool(number[200, 200] == car.id),
             same=bool((semantic[..., 2] == instance[..., 2]).all()),
             roof=float(far[is_car].min()), ground=float(np.median(far[~is_car])), length=float(metres),
             box=2 * box.extent.x, height=2 * box.extent.z)
    """)

    assert result["pixels"] > 500
    assert result["is_actor_id"] == (VERSION == "0.9.16")
    assert result["same"]
    assert result["roof"] == pytest.approx(20 - result["height"], abs=0.1)
    assert result["ground"] == pytest.approx(20, abs=0.3)
    assert result["length"] == pytest.approx(result["box"], rel=0.1)


def test_walker_controller_starts_right_after_spawn_on_free_running_server(client):
    """The client recurses endlessly for a walker that is in no snapshot yet; a real server answers once per frame."""
    result = client("""
        world = client.load_world('Town10HD'); library = world.get_blueprint_library()
        for seed in range(4):
            world.set_pedestrians_seed(seed)
            spawn_pose = carla.Transform(); spawn_pose.location = world.get_random_location_from_navigation()
            walker = world.spawn_actor(library.filter('walker.pedestrian.*')[0], spawn_pose)
            controller = world.spawn_actor(library.find('controller.ai.walker'), carla.Transform(), walker)
            controller.start(); controller.go_to_location(world.get_random_location_from_navigation())
        done(sent=seed + 1)
    """)

    assert result["sent"] == 4


@needs_0_9_16
def test_cosmos_image_uses_cityscapes_palette(client):
    result = client("""
        world = client.load_world('Town10HD'); synchronous(world)
        start = world.get_map().get_spawn_points()[10]
        pose = carla.Transform(start.location + carla.Location(z=12), carla.Rotation(pitch=-30, yaw=start.rotation.yaw))
        a, b = (camera(world, 'camera.' + k, pose, 400, 300) for k in ('semantic_segmentation', 'cosmos_visualization'))
        frame = world.tick(); tags, colours = get(a, frame), get(b, frame)
        kinds = len(np.unique(bgra(tags)[..., 2])); tags.convert(carla.ColorConverter.CityScapesPalette)
        done(kinds=kinds, same=float((bgra(tags)[..., :3] == bgra(colours)[..., :3]).all(axis=-1).mean()))
    """)

    assert result["kinds"] > 4
    assert result["same"] == 1.0


def test_lidar_agrees_with_depth(client):
    result = client("""
        world = client.load_world('Town10HD'); synchronous(world)
        spawn_pose = world.get_map().get_spawn_points()[10]
        pose = carla.Transform(spawn_pose.location + carla.Location(z=2.5), spawn_pose.rotation)
        eye = camera(world, 'camera.depth', pose, 800, 800, 90)
        laser = camera(world, 'lidar.ray_cast_semantic', pose, range=80, channels=32, points_per_second=200000,
                       rotation_frequency=20, upper_fov=10, lower_fov=-30)
        world.tick(); frame = world.tick()
        depth = bgra(get(eye, frame)).astype(np.int64); points = get(laser, frame)
        far = (depth[..., 2] + 256 * depth[..., 1] + 65536 * depth[..., 0]) / (2**24 - 1) * 1000
        rows = np.frombuffer(points.raw_data, np.dtype([('p', '<f4', 3), ('c', '<f4'), ('i', '<u4'), ('t', '<u4')]))
        p = rows['p'][(rows['p'][:, 0] > 1) & (abs(rows['p'][:, 1]) < 0.95 * rows['p'][:, 0])]
        u = (400 + 400 * p[:, 1] / p[:, 0]).astype(int); v = (400 - 400 * p[:, 2] / p[:, 0]).astype(int)
        error = abs(far[v, u] - p[:, 0]) / p[:, 0]
        done(points=len(p), median=float(np.median(error)), good=float((error < 0.03).mean()),
             tags=sorted(set(rows['t'].tolist())))
    """)

    assert result["points"] > 300
    assert result["median"] < 0.005
    assert result["good"] > 0.9
    assert 1 in result["tags"]  # road


@needs_0_9
def test_imu_and_gnss_agree_with_vehicle_motion(client):
    result = client("""
        world = client.load_world('Town10HD'); synchronous(world); library = world.get_blueprint_library()
        start = world.get_map().get_spawn_points()[0]; car = world.spawn_actor(library.find('vehicle.audi.tt'), start)
        for _ in range(20): world.tick()
        def attach(kind):
            a = world.spawn_actor(library.find(kind), carla.Transform(), attach_to=car)
            a.box = queue.Queue(); a.listen(a.box.put); return a
        imu, gnss = attach('sensor.other.imu'), attach('sensor.other.gnss')
        frame = world.tick()
        still, fix = get(imu, frame), get(gnss, frame); geo = world.get_map().transform_to_geolocation(car.get_location())
        car.apply_control(carla.VehicleControl(throttle=1.0))
        for _ in range(5): frame = world.tick()
        moving = get(imu, frame)
        yaw = np.radians(car.get_transform().rotation.yaw)
        done(still=[still.accelerometer.x, still.accelerometer.y, still.accelerometer.z], forward=moving.accelerometer.x,
             compass=still.compass, yaw=yaw, fix=[fix.latitude, fix.longitude], geo=[geo.latitude, geo.longitude])
    """)

    assert result["still"] == pytest.approx([0, 0, 9.81], abs=0.05)
    assert result["forward"] == pytest.approx(4.7, abs=0.6)
    assert (result["compass"] - result["yaw"]) % 6.283185 == pytest.approx(1.5707963, abs=1e-3)
    assert result["fix"] == pytest.approx(result["geo"], abs=1e-6)


@needs_0_9
def test_collision_sensor_reports_crash(client):
    result = client("""
        world = client.load_world('Town10HD'); synchronous(world); library = world.get_blueprint_library()
        start = world.get_map().get_spawn_points()[0]; car = world.spawn_actor(library.find('vehicle.audi.tt'), start)
        ahead = carla.Transform(start.transform(carla.Location(x=9)), start.rotation)
        other = world.spawn_actor(library.find('vehicle.nissan.patrol'), ahead)
        sensor = world.spawn_actor(library.find('sensor.other.collision'), carla.Transform(), attach_to=car)
        collisions = []; sensor.listen(lambda e: collisions.append((e.other_actor.id, e.normal_impulse.length())))
        for _ in range(60):
            car.apply_control(carla.VehicleControl(throttle=1.0)); world.tick()
        until(lambda: collisions)
        done(collisions=collisions[:3], other=other.id, gap=car.get_location().distance(other.get_location()))
    """)

    assert result["collisions"]
    assert result["collisions"][0][0] == result["other"]
    assert result["collisions"][0][1] > 100
    assert result["gap"] > 3.5


def test_sensor_tick_and_no_rendering_mode(client):
    result = client("""
        world = client.load_world('Town10HD'); synchronous(world, 0.1)
        a = camera(world, 'camera.rgb', carla.Transform(carla.Location(z=60)), sensor_tick=0.3)
        b = camera(world, 'camera.rgb', carla.Transform(carla.Location(z=60)))
        def tick(n):
            for _ in range(n): last = world.tick()
            return last
        def rendering(on):
            s = world.get_settings(); s.no_rendering_mode = not on; world.apply_settings(s)
        lit = tick(9); rendering(False); dark = tick(3); rendering(True); again = tick(3)
        slow, fast = frames_until(a, dark + 1), frames_until(b, again)
        done(slow=sum(f <= lit for f in slow), fast=sum(f <= lit for f in fast),
             dark=sum(lit < f <= dark for f in fast), ticks=dark - lit)
    """)

    assert (result["fast"], result["slow"]) == (9, 3)
    assert result["dark"] == result["ticks"] >= 3  # carla issue 9535


TRAFFIC = """
    import hashlib
    world = client.load_world('Town10HD'); manager = client.get_trafficmanager(int(sys.argv[2]))
    time.sleep(float(sys.argv[3]))  # the server runs freely for a different time in each run
    synchronous(world); manager.set_synchronous_mode(True); manager.set_random_device_seed(5)
    library = world.get_blueprint_library(); cars = sorted(library.filter('vehicle.*'), key=lambda b: b.id)
    cars = [b for b in cars if int(b.get_attribute('number_of_wheels')) == 4]
    spawn, auto, future = carla.command.SpawnActor, carla.command.SetAutopilot, carla.command.FutureActor
    batch = [spawn(cars[i % len(cars)], p).then(auto(future, True, manager.get_port()))
             for i, p in enumerate(world.get_map().get_spawn_points()[:30])]
    ids = [r.actor_id for r in client.apply_batch_sync(batch, False) if not r.error]
    eye = camera(world, 'camera.rgb', carla.Transform(carla.Location(z=80), carla.Rotation(pitch=-60)), 320, 180)
    digest = hashlib.sha256(); start = None
    for n in range(int(sys.argv[4])):
        frame = world.tick(); snapshot = world.get_snapshot()
        rows = [(t.location.x, t.location.y, t.rotation.yaw, v.x, v.y) for t, v in
                ((snapshot.find(i).get_transform(), snapshot.find(i).get_velocity()) for i in ids)]
        digest.update(repr(rows).encode()); rows = np.array(rows); start = rows if start is None else start
        if n % 20 == 19: digest.update(bgra(get(eye, frame)).tobytes())
    moved = np.hypot(*(rows - start)[:, :2].T)
    done(digest=digest.hexdigest(), cars=len(ids), moving=float((moved > 3).mean()), ids=ids)
"""


def test_traffic_and_images_are_the_same_in_two_runs(client):
    first = client(TRAFFIC, 18431, 0.1, 200)
    again = client(TRAFFIC, 18432, 0.7, 200)

    assert first["cars"] >= 25
    assert first["moving"] > 0.7
    assert again == first


def test_walkers_walk_on_their_mesh(client):
    result = client("""
        world = client.load_world('Town10HD'); synchronous(world); world.set_pedestrians_seed(3)
        library = world.get_blueprint_library(); walkers = []
        for n in range(10):
            location = world.get_random_location_from_navigation()
            a = world.try_spawn_actor(library.filter('walker.*')[n], carla.Transform(location + carla.Location(z=1)))
            if a: walkers.append(a)
        world.tick()
        kind = library.find('controller.ai.walker')
        controllers = [world.spawn_actor(kind, carla.Transform(), attach_to=a) for a in walkers]
        world.tick()
        for m in controllers: m.start(); m.go_to_location(world.get_random_location_from_navigation()); m.set_max_speed(1.4)
        before = [a.get_location() for a in walkers]
        for _ in range(200): world.tick()
        walked = [a.get_location().distance(b) for a, b in zip(walkers, before)]
        feet = [a.get_location().z - a.bounding_box.extent.z for a in walkers]
        done(count=len(walkers), walked=walked, feet=feet, speed=max(a.get_velocity().length() for a in walkers))
    """)

    assert result["count"] >= 7
    assert sum(d > 3 for d in result["walked"]) >= 0.6 * result["count"]
    assert all(-0.3 < z < 1.0 for z in result["feet"])
    assert 0.3 < result["speed"] < 3.0


def test_faults_reach_the_client(tmp_path):
    plan = tmp_path / "faults.yaml"
    plan.write_text("""
        faults:
          - {fault: drop_frame, camera: 0, tick: "8-9"}
          - {fault: wrong_frame_number, camera: 1, offset: -2, tick: "8-9"}
          - {fault: refuse_spawn, blueprint: vehicle.*, nth: 1}
          - {fault: wrong_version, version: 0.9.99}
          - {fault: die, tick: 14}
    """)
    with running_simulator("--render", "flat", "--faults", str(plan)) as running:
        result = run_client(
            running.carla.rpartition(":")[2],
            """
            world = client.get_world(); synchronous(world); client.set_timeout(3)
            cars = world.get_blueprint_library().filter('vehicle.*'); spawn_poses = world.get_map().get_spawn_points()
            spawned = [world.try_spawn_actor(cars[0], p) is not None for p in spawn_poses[:2]]
            eyes = [camera(world, 'camera.rgb', carla.Transform(carla.Location(z=9)), 480, 90) for _ in range(2)]
            frames, images = [], [[], []]
            try:
                for _ in range(20):
                    frames.append(world.tick())
                    for eye, taken in zip(eyes, images):  # a server that dies loses unsent images
                        try: taken.append(eye.box.get(timeout=3))
                        except queue.Empty: pass
                died = False
            except RuntimeError: died = True
            bits = (bgra(images[1][0])[4, 4::8, 0][:48] > 128).astype(int)
            done(spawned=spawned, died=died, missing=len(set(frames) - {i.frame for i in images[0]}),
                 twice=len(images[1]) - len({i.frame for i in images[1]}),
                 camera=int(''.join(map(str, bits[:16])), 2) - eyes[1].id,
                 frame=int(''.join(map(str, bits[16:])), 2) - images[1][0].frame)
            """,
        )

    assert result["spawned"] == [False, True]
    assert result["died"]
    assert result["missing"] == 2
    assert result["twice"] == 2
    assert (result["camera"], result["frame"]) == (0, 0)  # a flat image reports its camera and frame


@needs_0_9_16
def test_refusals_raise_client_exceptions_with_reason(client):
    result = client("""
        world = client.load_world('Town10HD'); synchronous(world); library = world.get_blueprint_library()
        eye = camera(world, 'camera.rgb', carla.Transform()); refusals = {}
        def attempt(name, act):
            try: act()
            except RuntimeError as refusal: refusals[name] = str(refusal)
        attempt('listen', lambda: eye.listen_to_gbuffer(carla.GBufferTextureID.Velocity, print))
        attempt('enable', lambda: camera(world, 'other.imu', carla.Transform()).enable_gbuffers(True))
        car = world.spawn_actor(library.find('vehicle.tesla.model3'), world.get_map().get_spawn_points()[0])
        attempt('component', lambda: car.get_component_world_transform('Nothing'))
        done(refusals=refusals)
    """)

    assert "no G-buffer Velocity; it has SceneColor, SceneDepth" in result["refusals"]["listen"]
    assert "(sensor.other.imu) has no G-buffers" in result["refusals"]["enable"]
    assert "Component Not Found. Component Name: Nothing" in result["refusals"]["component"]


@needs_0_9_16
def test_g_buffers_match_camera_images(client):
    result = client("""
        world = client.load_world('Town10HD'); synchronous(world); T = carla.GBufferTextureID
        spawn_pose = world.get_map().get_spawn_points()[40]
        red = world.get_blueprint_library().find('vehicle.tesla.model3'); red.set_attribute('color', '200,20,20')
        world.spawn_actor(red, spawn_pose)
        for _ in range(30): world.tick()  # the car comes to rest
        view = carla.Transform(spawn_pose.transform(carla.Location(-8, 0, 3)), carla.Rotation(-8, spawn_pose.rotation.yaw, 0))
        eye, depth, tags, normals = (camera(world, 'camera.' + kind, view)
                                     for kind in ('rgb', 'depth', 'semantic_segmentation', 'normals'))
        kinds = (T.SceneColor, T.SceneDepth, T.GBufferA, T.GBufferC, T.CustomStencil)
        boxes = {kind: queue.Queue() for kind in kinds}
        for kind in kinds: eye.listen_to_gbuffer(kind, boxes[kind].put)
        get(eye, world.tick())
        early = [sum(box.qsize() for box in boxes.values()), eye.is_listening_gbuffer(T.GBufferA)]
        eye.enable_gbuffers(True); frame = world.tick()
        image, far, tag, normal = (bgra(get(sensor, frame)).astype(int) for sensor in (eye, depth, tags, normals))
        got = {kind: boxes[kind].get(timeout=60) for kind in kinds}
        pixels = {kind: bgra(data).astype(int) for kind, data in got.items()}
        heads = {(v.frame, v.width, v.height, v.fov, v.transform == eye.get_transform()) for v in got.values()}
        cm = np.minimum((far[..., 2] + 256 * far[..., 1] + 65536 * far[..., 0]) / 167.77215, 65504)
        sky = tag[..., 2] == 11
        off = lambda kind, expected: int(abs(pixels[kind][..., :3] - expected).max())
        worst = [off(T.SceneColor, image[..., :3]), off(T.SceneDepth, cm[..., None] / cm.max() * 255),
                 off(T.GBufferA, np.where(sky[..., None], 0, normal[..., :3])), off(T.CustomStencil, tag[..., 2:3])]
        paint = (pixels[T.GBufferC][tag[..., 2] == 14][:, 2::-1] == (200, 20, 20)).all(axis=1).mean()
        eye.stop_gbuffer(T.GBufferA); stopped = not eye.is_listening_gbuffer(T.GBufferA)
        world.set_weather(carla.WeatherParameters.HardRainNight)
        for _ in range(2):  # the client may leave a tick late
            queued = boxes[T.GBufferA].qsize(); later_frame = world.tick()
            later = {kind: boxes[kind].get(timeout=60) for kind in kinds if kind != T.GBufferA}
        same = [k for k, v in later.items() if (bgra(v) == pixels[k]).all()]
        done(early=early, heads=list(heads), frame=frame, worst=worst, paint=paint, same=same, stopped=stopped,
             black=int(pixels[T.GBufferC][sky][:, :3].max()), sky=float(sky.mean()),
             later=[v.frame - later_frame for v in later.values()], left=boxes[T.GBufferA].qsize() - queued)
    """)

    assert result["early"] == [0, True], "CARLA sends them once they are enabled"
    assert result["heads"] == [[result["frame"], 160, 90, 90, True]]
    assert 0.05 < result["sky"] < 0.9
    assert result["worst"][0] == result["worst"][3] == 0
    assert max(result["worst"]) <= 1
    assert result["paint"] > 0.5
    assert result["same"] == [1, 5, 12], "all but the colour, whatever the weather"
    assert result["black"] == 0
    assert (result["stopped"], result["left"], result["later"]) == (True, 0, [0] * 4)


@needs_0_9_16
def test_poses_of_components_and_bones(client):
    result = client("""
        world = client.load_world('Town10HD'); synchronous(world); library = world.get_blueprint_library()
        car = world.spawn_actor(library.find('vehicle.tesla.model3'), world.get_map().get_spawn_points()[0])
        for _ in range(20): world.tick()
        pose = car.get_transform(); inverse = np.array(pose.get_inverse_matrix())
        def local(pose): return (inverse @ [pose.location.x, pose.location.y, pose.location.z, 1])[:3].round(3).tolist()
        parts = {name: local(car.get_component_world_transform(name)) for name in car.get_component_names()}
        wheels = dict(zip(car.get_bone_names(), map(local, car.get_bone_world_transforms())))
        done(parts=parts, wheels=wheels, box=[car.bounding_box.location.x, car.bounding_box.location.z])
    """)

    assert result["parts"]["VehicleMesh"] == pytest.approx([0, 0, 0], abs=1e-2)
    assert result["parts"]["VehicleBounds"][::2] == pytest.approx(result["box"], abs=1e-2)
    x, y, _ = result["wheels"]["Wheel_Front_Left"]
    assert x > 1
    assert y < -0.5
    assert result["wheels"]["Wheel_Rear_Right"][:2] == pytest.approx([-x, -y], abs=1e-2)
