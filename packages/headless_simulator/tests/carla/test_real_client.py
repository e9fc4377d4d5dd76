"""The server through the unmodified client."""

import pytest
from headless_simulator.testing import running_simulator

from tests.carla.conftest import VERSION, run_client

needs_0_9 = pytest.mark.skipif(VERSION == "0.10.0", reason="names vehicles that CARLA 0.10.0 does not have")
needs_0_9_16 = pytest.mark.skipif(VERSION != "0.9.16", reason="calls or sensors that came with CARLA 0.9.16")


def test_the_world_opens(client):
    seen = client("""
        world = client.get_world(); town = world.get_map(); library = world.get_blueprint_library()
        done(version=client.get_server_version(), town=town.name, spawns=len(town.get_spawn_points()),
             vehicles=len(library.filter('vehicle.*')), cars=len([b for b in library.filter('vehicle.*')
             if int(b.get_attribute('number_of_wheels')) == 4]),
             lights=len(world.get_actors().filter('traffic.traffic_light')),
             kind=world.get_spectator().attributes['simulator'],
             maps=[m.rsplit('/', 1)[-1] for m in client.get_available_maps()])
    """)

    assert seen["version"] == VERSION
    assert seen["town"] == "Carla/Maps/Town10HD"
    assert seen["kind"] == "headless"
    assert seen["spawns"] > 100
    assert seen["lights"] > 10
    assert seen["vehicles"] == (11 if VERSION == "0.10.0" else 41)
    assert VERSION == "0.10.0" or {"Town03", "Town06", "Town07", "Town10HD"} <= set(seen["maps"])


def test_every_image_is_of_its_tick_and_place(client):
    seen = client("""
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

    assert seen["wrong"] == 0
    assert seen["worst"] < 1e-4


def test_masks_depth_and_boxes_agree(client):
    seen = client("""
        world = client.load_world('Town10HD'); synchronous(world)
        library = world.get_blueprint_library(); place = world.get_map().get_spawn_points()[40]
        models = [b.id for b in library if b.id in ('vehicle.lincoln.mkz', 'vehicle.tesla.model3')]
        car = world.spawn_actor(library.find(models[0]), place)
        for _ in range(30): world.tick()
        where = car.get_transform()
        above = carla.Transform(where.location + carla.Location(z=20), carla.Rotation(-90, where.rotation.yaw, 0))
        a, b, c = (camera(world, 'camera.' + k, above, 400, 400, 60)
                   for k in ('instance_segmentation', 'semantic_segmentation', 'depth'))
        frame = world.tick()
        instance, semantic, depth = (bgra(get(x, frame)).astype(int) for x in (a, b, c))
        number = instance[..., 1] + 256 * instance[..., 0]
        mine = (instance[..., 2] == 14) & (number == number[200, 200])
        far = (depth[..., 2] + 256 * depth[..., 1] + 65536 * depth[..., 0]) / (2**24 - 1) * 1000
        rows, columns = np.nonzero(mine); box = car.bounding_box
        metres = (np.ptp(rows) + 1) * 20 / (400 / 2 / np.tan(np.radians(30)))
        done(pixels=int(mine.sum()), is_actor_id=bool(number[200, 200] == car.id),
             same=bool((semantic[..., 2] == instance[..., 2]).all()),
             roof=float(far[mine].min()), ground=float(np.median(far[~mine])), length=float(metres),
             box=2 * box.extent.x, height=2 * box.extent.z)
    """)

    assert seen["pixels"] > 500
    assert seen["is_actor_id"] == (VERSION == "0.9.16")
    assert seen["same"]
    assert seen["roof"] == pytest.approx(20 - seen["height"], abs=0.1)
    assert seen["ground"] == pytest.approx(20, abs=0.3)
    assert seen["length"] == pytest.approx(seen["box"], rel=0.1)


def test_a_walker_of_a_free_running_server_can_be_sent_off_at_once(client):
    """The client recurses without end for a walker that no snapshot has shown yet; a real server answers once a frame."""
    seen = client("""
        world = client.load_world('Town10HD'); library = world.get_blueprint_library()
        for seed in range(4):
            world.set_pedestrians_seed(seed)
            place = carla.Transform(); place.location = world.get_random_location_from_navigation()
            walker = world.spawn_actor(library.filter('walker.pedestrian.*')[0], place)
            mind = world.spawn_actor(library.find('controller.ai.walker'), carla.Transform(), walker)
            mind.start(); mind.go_to_location(world.get_random_location_from_navigation())
        done(sent=seed + 1)
    """)

    assert seen["sent"] == 4


@needs_0_9_16
def test_cosmos_shows_the_classes_in_the_clients_own_palette(client):
    seen = client("""
        world = client.load_world('Town10HD'); synchronous(world)
        place = world.get_map().get_spawn_points()[10]
        pose = carla.Transform(place.location + carla.Location(z=12), carla.Rotation(pitch=-30, yaw=place.rotation.yaw))
        a, b = (camera(world, 'camera.' + k, pose, 400, 300) for k in ('semantic_segmentation', 'cosmos_visualization'))
        frame = world.tick(); tags, colours = get(a, frame), get(b, frame)
        kinds = len(np.unique(bgra(tags)[..., 2])); tags.convert(carla.ColorConverter.CityScapesPalette)
        done(kinds=kinds, same=float((bgra(tags)[..., :3] == bgra(colours)[..., :3]).all(axis=-1).mean()))
    """)

    assert seen["kinds"] > 4
    assert seen["same"] == 1.0


def test_lidar_meets_what_depth_shows(client):
    seen = client("""
        world = client.load_world('Town10HD'); synchronous(world)
        place = world.get_map().get_spawn_points()[10]
        pose = carla.Transform(place.location + carla.Location(z=2.5), place.rotation)
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

    assert seen["points"] > 300
    assert seen["median"] < 0.005
    assert seen["good"] > 0.9
    assert 1 in seen["tags"]  # road


@needs_0_9
def test_sensors_speak_of_the_same_motion(client):
    seen = client("""
        world = client.load_world('Town10HD'); synchronous(world); library = world.get_blueprint_library()
        place = world.get_map().get_spawn_points()[0]; car = world.spawn_actor(library.find('vehicle.audi.tt'), place)
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

    assert seen["still"] == pytest.approx([0, 0, 9.81], abs=0.05)
    assert seen["forward"] == pytest.approx(4.7, abs=0.6)
    assert (seen["compass"] - seen["yaw"]) % 6.283185 == pytest.approx(1.5707963, abs=1e-3)
    assert seen["fix"] == pytest.approx(seen["geo"], abs=1e-6)


@needs_0_9
def test_a_crash_is_asked_to_the_collision_sensor(client):
    seen = client("""
        world = client.load_world('Town10HD'); synchronous(world); library = world.get_blueprint_library()
        place = world.get_map().get_spawn_points()[0]; car = world.spawn_actor(library.find('vehicle.audi.tt'), place)
        ahead = carla.Transform(place.transform(carla.Location(x=9)), place.rotation)
        other = world.spawn_actor(library.find('vehicle.nissan.patrol'), ahead)
        sensor = world.spawn_actor(library.find('sensor.other.collision'), carla.Transform(), attach_to=car)
        met = []; sensor.listen(lambda e: met.append((e.other_actor.id, e.normal_impulse.length())))
        for _ in range(60):
            car.apply_control(carla.VehicleControl(throttle=1.0)); world.tick()
        until(lambda: met)
        done(met=met[:3], other=other.id, gap=car.get_location().distance(other.get_location()))
    """)

    assert seen["met"]
    assert seen["met"][0][0] == seen["other"]
    assert seen["met"][0][1] > 100
    assert seen["gap"] > 3.5


def test_sensor_tick_is_honoured_and_cameras_draw_under_no_rendering_mode(client):
    seen = client("""
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

    assert (seen["fast"], seen["slow"]) == (9, 3)
    assert seen["dark"] == seen["ticks"] >= 3  # carla issue 9535


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
    seen = client("""
        world = client.load_world('Town10HD'); synchronous(world); world.set_pedestrians_seed(3)
        library = world.get_blueprint_library(); walkers = []
        for n in range(10):
            place = world.get_random_location_from_navigation()
            a = world.try_spawn_actor(library.filter('walker.*')[n], carla.Transform(place + carla.Location(z=1)))
            if a: walkers.append(a)
        world.tick()
        minds = [world.spawn_actor(library.find('controller.ai.walker'), carla.Transform(), attach_to=a) for a in walkers]
        world.tick()
        for m in minds: m.start(); m.go_to_location(world.get_random_location_from_navigation()); m.set_max_speed(1.4)
        before = [a.get_location() for a in walkers]
        for _ in range(200): world.tick()
        walked = [a.get_location().distance(b) for a, b in zip(walkers, before)]
        feet = [a.get_location().z - a.bounding_box.extent.z for a in walkers]
        done(count=len(walkers), walked=walked, feet=feet, speed=max(a.get_velocity().length() for a in walkers))
    """)

    assert seen["count"] >= 7
    assert sum(d > 3 for d in seen["walked"]) >= 0.6 * seen["count"]
    assert all(-0.3 < z < 1.0 for z in seen["feet"])
    assert 0.3 < seen["speed"] < 3.0


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
        seen = run_client(
            running.carla.rpartition(":")[2],
            """
            world = client.get_world(); synchronous(world); client.set_timeout(3)
            cars = world.get_blueprint_library().filter('vehicle.*'); places = world.get_map().get_spawn_points()
            spawned = [world.try_spawn_actor(cars[0], p) is not None for p in places[:2]]
            eyes = [camera(world, 'camera.rgb', carla.Transform(carla.Location(z=9)), 480, 90) for _ in range(2)]
            frames, got = [], [[], []]
            try:
                for _ in range(20):
                    frames.append(world.tick())
                    for eye, taken in zip(eyes, got):  # a server that dies takes what it had not yet sent with it
                        try: taken.append(eye.box.get(timeout=3))
                        except queue.Empty: pass
                died = False
            except RuntimeError: died = True
            bits = (bgra(got[1][0])[4, 4::8, 0][:48] > 128).astype(int)
            done(version=client.get_server_version() if False else '', spawned=spawned, died=died, ticks=len(frames),
                 missing=len(set(frames) - {i.frame for i in got[0]}), twice=len(got[1]) - len({i.frame for i in got[1]}),
                 camera=int(''.join(map(str, bits[:16])), 2) - eyes[1].id,
                 frame=int(''.join(map(str, bits[16:])), 2) - got[1][0].frame)
            """,
        )

    assert seen["spawned"] == [False, True]
    assert seen["died"]
    assert seen["missing"] == 2
    assert seen["twice"] == 2
    assert (seen["camera"], seen["frame"]) == (0, 0)  # a flat image reports its camera and frame


@needs_0_9_16
def test_refusals_reach_the_clients_exceptions_with_their_reasons(client):
    seen = client("""
        world = client.load_world('Town10HD'); synchronous(world); library = world.get_blueprint_library()
        eye = camera(world, 'camera.rgb', carla.Transform()); said = {}
        def attempt(name, act):
            try: act()
            except RuntimeError as refusal: said[name] = str(refusal)
        attempt('listen', lambda: eye.listen_to_gbuffer(carla.GBufferTextureID.Velocity, print))
        attempt('enable', lambda: camera(world, 'other.imu', carla.Transform()).enable_gbuffers(True))
        car = world.spawn_actor(library.find('vehicle.tesla.model3'), world.get_map().get_spawn_points()[0])
        attempt('component', lambda: car.get_component_world_transform('Nothing'))
        done(said=said)
    """)

    assert "no G-buffer Velocity; it has SceneColor, SceneDepth" in seen["said"]["listen"]
    assert "(sensor.other.imu) has no G-buffers" in seen["said"]["enable"]
    assert "Component Not Found. Component Name: Nothing" in seen["said"]["component"]


@needs_0_9_16
def test_g_buffers_are_those_of_the_cameras_image(client):
    seen = client("""
        world = client.load_world('Town10HD'); synchronous(world); T = carla.GBufferTextureID
        place = world.get_map().get_spawn_points()[40]
        red = world.get_blueprint_library().find('vehicle.tesla.model3'); red.set_attribute('color', '200,20,20')
        world.spawn_actor(red, place)
        for _ in range(30): world.tick()  # the car comes to rest
        at = carla.Transform(place.transform(carla.Location(-8, 0, 3)), carla.Rotation(-8, place.rotation.yaw, 0))
        eye, depth, tags, normals = (camera(world, 'camera.' + kind, at)
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
            seen = boxes[T.GBufferA].qsize(); later_frame = world.tick()
            later = {kind: boxes[kind].get(timeout=60) for kind in kinds if kind != T.GBufferA}
        same = [k for k, v in later.items() if (bgra(v) == pixels[k]).all()]
        done(early=early, heads=list(heads), frame=frame, worst=worst, paint=paint, same=same, stopped=stopped,
             black=int(pixels[T.GBufferC][sky][:, :3].max()), sky=float(sky.mean()),
             later=[v.frame - later_frame for v in later.values()], left=boxes[T.GBufferA].qsize() - seen)
    """)

    assert seen["early"] == [0, True], "CARLA sends them once they are enabled"
    assert seen["heads"] == [[seen["frame"], 160, 90, 90, True]]
    assert 0.05 < seen["sky"] < 0.9
    assert seen["worst"][0] == seen["worst"][3] == 0
    assert max(seen["worst"]) <= 1
    assert seen["paint"] > 0.5
    assert seen["same"] == [1, 5, 12], "all but the colour, whatever the weather"
    assert seen["black"] == 0
    assert (seen["stopped"], seen["left"], seen["later"]) == (True, 0, [0] * 4)


@needs_0_9_16
def test_components_and_bones_have_poses_of_their_own(client):
    seen = client("""
        world = client.load_world('Town10HD'); synchronous(world); library = world.get_blueprint_library()
        car = world.spawn_actor(library.find('vehicle.tesla.model3'), world.get_map().get_spawn_points()[0])
        for _ in range(20): world.tick()
        place = car.get_transform(); inverse = np.array(place.get_inverse_matrix())
        def own(at): return (inverse @ [at.location.x, at.location.y, at.location.z, 1])[:3].round(3).tolist()
        parts = {name: own(car.get_component_world_transform(name)) for name in car.get_component_names()}
        wheels = dict(zip(car.get_bone_names(), map(own, car.get_bone_world_transforms())))
        done(parts=parts, wheels=wheels, box=[car.bounding_box.location.x, car.bounding_box.location.z])
    """)

    assert seen["parts"]["VehicleMesh"] == pytest.approx([0, 0, 0], abs=1e-2)
    assert seen["parts"]["VehicleBounds"][::2] == pytest.approx(seen["box"], abs=1e-2)
    x, y, _ = seen["wheels"]["Wheel_Front_Left"]
    assert x > 1
    assert y < -0.5
    assert seen["wheels"]["Wheel_Rear_Right"][:2] == pytest.approx([-x, -y], abs=1e-2)
