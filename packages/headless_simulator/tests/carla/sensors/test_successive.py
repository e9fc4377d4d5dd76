"""Optical flow and DVS cameras, read by the real client."""

import numpy as np
import pytest
from headless_simulator.testing import running_simulator

from tests.carla.conftest import run_client

# A car that is moved by hand, viewed from its left side: it drives to the left in the image.
STAGE = """
    import hashlib
    world = client.load_world('Town10HD'); synchronous(world); library = world.get_blueprint_library()
    start = world.get_map().get_spawn_points()[40]; ahead = start.get_forward_vector(); right = start.get_right_vector()
    car = world.spawn_actor(library.find('vehicle.tesla.model3'), start)
    for _ in range(20): world.tick()
    car.set_simulate_physics(False); pose = car.get_transform()
    beside = pose.location + carla.Location(-9 * right.x, -9 * right.y, 1)
    view = carla.Transform(beside, carla.Rotation(0, pose.rotation.yaw + 90, 0))
    def drive(metres):
        pose.location += carla.Location(metres * ahead.x, metres * ahead.y, 0); car.set_transform(pose)
        return world.tick()
    def flow_of(image): return np.frombuffer(image.raw_data, np.float32).reshape(image.height, image.width, 2).copy()
    EVENT = np.dtype([('x', '<u2'), ('y', '<u2'), ('t', '<i8'), ('pol', '?')])
    def events_of(data): return np.frombuffer(data.raw_data, EVENT).copy()
"""


def test_flow_of_moving_car(client):
    result = client(
        STAGE
        + """
    world.tick()
    eye = camera(world, 'camera.optical_flow', view, 400, 300)
    mask = camera(world, 'camera.instance_segmentation', view, 400, 300)
    depth = camera(world, 'camera.depth', view, 400, 300)
    def middle(frame):
        image = bgra(get(mask, frame)).astype(int)
        is_car = (image[..., 2] == 14) & (image[..., 1] + 256 * image[..., 0] == car.id % 65536)
        return is_car, np.argwhere(is_car)[:, ::-1].mean(axis=0)
    frame = world.tick(); first = flow_of(get(eye, frame))
    frame = world.tick(); still = flow_of(get(eye, frame)); _, was = middle(frame)
    frame = drive(0.25); image = get(eye, frame); flow = flow_of(image); is_car, now = middle(frame)
    far = bgra(get(depth, frame)).astype(int)
    far = (far[..., 2] + 256 * far[..., 1] + 65536 * far[..., 0]) / (2**24 - 1) * 1000
    moved = flow * [200, -150]  # half the size; up is positive
    coded = image.get_color_coded_flow(); colours = np.frombuffer(coded.raw_data, np.uint8).reshape(300, 400, 4)[..., :3]
    done(first=float(abs(first).max()), still=float(abs(still).max()), size=[image.width, image.height, image.fov],
         same=float(((flow != 0).any(axis=-1) == is_car).mean()), pixels=int(is_car.sum()),
         mean=moved[is_car].mean(axis=0).tolist(), step=(now - was).tolist(),
         paper=float(abs(moved[is_car][:, 0] * far[is_car] / (200 * 0.25) + 1).max()),
         lit=bool((colours[is_car] > 0).any()), dark=bool((colours[~is_car] == 0).all()), tick=image.frame == frame)
    """
    )

    assert result["first"] == 0
    assert result["still"] == 0
    assert result["size"] == [400, 300, 90]
    assert result["tick"]
    assert result["pixels"] > 2000
    assert result["same"] == 1.0
    assert result["step"][0] < -4
    assert result["mean"] == pytest.approx(result["step"], abs=0.3)
    assert result["paper"] < 2e-3  # depth * shift = focal length * metres
    assert result["lit"]
    assert result["dark"]


def test_flow_of_moving_camera(client):
    """From 20 m up with a focal length of 200 pixels: 0.5 m to the right are 5 pixels; 2 degrees of yaw turn the image."""
    result = client(
        STAGE
        + """
    high = pose.location + carla.Location(z=20)
    down = lambda x, yaw: carla.Transform(high + carla.Location(x * right.x, x * right.y, 0),
                                          carla.Rotation(-90, pose.rotation.yaw + yaw, 0))
    eye = camera(world, 'camera.optical_flow', down(0, 0), 400, 300)
    depth = camera(world, 'camera.depth', down(0, 0), 400, 300); world.tick()
    def after(pose):
        for a in (eye, depth): a.set_transform(pose)
        frame = world.tick(); far = bgra(get(depth, frame)).astype(int)
        far = (far[..., 2] + 256 * far[..., 1] + 65536 * far[..., 0]) / (2**24 - 1) * 1000
        return flow_of(get(eye, frame)) * [200, -150], far
    moved, far = after(down(0.5, 0)); turned, _ = after(down(0.5, 2))
    v, u = np.mgrid[:300, :400] + 0.5; a = np.radians(2)
    x, y = u - 200, v - 150  # a turn to the right by a turns the image to the left by a
    was = np.stack([x * np.cos(a) - y * np.sin(a), x * np.sin(a) + y * np.cos(a)], axis=-1)
    road = abs(far - 20) < 0.3
    done(road=float(road.mean()), ground=moved[road].mean(axis=0).tolist(),
         paper=float(abs(moved[..., 0] + 200 * 0.5 / far).max()), up=float(abs(moved[..., 1]).max()),
         turned=float(abs(turned - (np.stack([x, y], axis=-1) - was)).max()))
    """
    )

    assert result["road"] > 0.3
    assert result["ground"] == pytest.approx([-5, 0], abs=0.1)
    assert result["paper"] < 0.01
    assert result["up"] < 0.01
    assert result["turned"] < 0.01


DRIVE_PAST = (
    STAGE
    + """
    eye = camera(world, 'camera.dvs', view, 400, 300, sigma_positive_threshold=float(sys.argv[2]))
    flow = camera(world, 'camera.optical_flow', view, 400, 300)
    for _ in range(3): frame = world.tick(); get(flow, frame)
    quiet = eye.box.empty(); digest = hashlib.sha256(); rows = []
    for _ in range(4):
        before = world.get_snapshot().timestamp.elapsed_seconds
        frame = drive(0.3); data = get(eye, frame); events = events_of(data)
        since = events.copy(); since['t'] -= round(before * 1e9)  # the server ran freely for a while
        digest.update(since.tobytes()); digest.update(flow_of(get(flow, frame)).tobytes())
        inside = (events['x'] < 400).all() and (events['y'] < 300).all() and data.frame == frame
        rows.append([bool(inside and (np.diff(events['t']) >= 0).all()), int(events['pol'].sum()), int((~events['pol']).sum()),
                     int(since['t'][0]), int(since['t'][-1])])
    box = car.bounding_box; corners = np.array([[v.x, v.y, v.z, 1] for v in box.get_world_vertices(car.get_transform())])
    local = corners @ np.array(view.get_inverse_matrix()).T
    x = 200 + 200 * local[:, 1] / local[:, 0]; y = 150 - 200 * local[:, 2] / local[:, 0]
    near = (events['x'] > x.min() - 15) & (events['x'] < x.max() + 15)
    near &= (events['y'] > y.min() - 15) & (events['y'] < y.max() + 15)
    image = data.to_image(); lit = sum(c.r + c.b > 0 for c in image)
    pixels = len(set(zip(events['x'].tolist(), events['y'].tolist())))
    done(quiet=quiet, rows=rows, near=float(near.mean()), lit=lit, pixels=pixels, size=[data.width, data.height, data.fov],
         first=[data[0].x, data[0].y, data[0].t, data[0].pol] == list(events[0].item()), digest=digest.hexdigest())
"""
)


def test_events_are_at_edges_of_moving_car(client):
    result = client(DRIVE_PAST, 0.0)
    rows = np.array(result["rows"], float)

    assert result["quiet"]  # nothing is sent while nothing moves
    assert rows[:, 0].all()
    assert (rows[:, 1:3] > 50).all()  # brighter and darker
    assert (rows[:, 3] >= 0).all()  # ns since the image before
    assert (rows[:, 4] <= 50_000_000).all()
    assert result["near"] > 0.8  # its shadow moves too
    assert result["size"] == [400, 300, 90]
    assert result["lit"] == result["pixels"]
    assert result["first"]


@pytest.mark.parametrize("sigma", [0.0, 0.1])
def test_flow_and_events_are_the_same_in_two_runs(client, sigma):
    first, again = client(DRIVE_PAST, sigma), client(DRIVE_PAST, sigma)

    assert again == first


def test_image_is_compared_with_last_drawn_image(client):
    """The view state of flow and ADVSCamera's image persist without a listener."""
    result = client(
        STAGE
        + """
    eyes = [camera(world, 'camera.' + kind, view, 100, 80) for kind in ('optical_flow', 'dvs')]
    frame = world.tick(); get(eyes[0], frame)
    for a in eyes: a.stop()
    until(lambda: not any(a.is_listening() for a in eyes)); time.sleep(0.3)
    for _ in range(3): drive(0.3)
    for a in eyes: a.box = queue.Queue(); a.listen(a.box.put)
    frame = world.tick(); resumed = flow_of(get(eyes[0], frame)); many = len(get(eyes[1], frame))
    frame = drive(0.3); flow = flow_of(get(eyes[0], frame))
    done(resumed=float(abs(resumed).max()), many=many, flow=float(abs(flow).max()), events=len(get(eyes[1], frame)))
    """
    )

    assert result["resumed"] > 2 * result["flow"] > 0  # three moves at once
    assert result["many"] > 0
    assert result["flow"] > 0
    assert result["events"] > 0


def test_flat_images_have_no_flow_and_flicker_with_the_frame_number():
    """Blocks that turn from 0 to 1 become brighter, the others darker; the frame number's last bit is block 47."""
    with running_simulator("--town", "Town10HD", "--render", "flat") as flat:
        result = run_client(
            flat.carla.rpartition(":")[2],
            """
    world = client.get_world(); synchronous(world)
    eyes = [camera(world, 'camera.' + kind, carla.Transform(), 384, 80) for kind in ('optical_flow', 'dvs')]
    frame = world.tick(); frame = world.tick()
    image, data = get(eyes[0], frame), get(eyes[1], frame); flow = np.frombuffer(image.raw_data, np.float32)
    xs = {x // 8 for x in data.to_array_x()}; bits = [47 - b for b in range(32) if (frame ^ frame - 1) >> b & 1]
    done(flow=[len(flow), float(abs(flow).max())], changed=sorted(xs), bits=bits, below=max(data.to_array_y()))
    """,
        )

    assert result["flow"] == [384 * 80 * 2, 0]
    assert result["changed"] == sorted(result["bits"])
    assert result["below"] == 7
