import numpy as np
import pytest
from headless_simulator.scene import StaticObject
from headless_simulator.world.actors import NoSuchActor, SpawnOrder, SpawnRefused
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.world.paper_town import world

DT = 0.05
CAR = "vehicle.tesla.model3"


def spawn(w, blueprint=CAR, pose=(0, 0, 0, 0, 0, 0), **more):
    x, y, z, pitch, yaw, roll = map(float, pose)
    return w.spawn(SpawnOrder(blueprint, pose=(x, y, z, pitch, yaw, roll), **more))


def run(w, seconds):
    for _ in range(round(seconds / DT)):
        w.step(DT)


def test_full_throttle_reaches_5_mps_in_a_second():
    w = world()
    car = spawn(w)
    w.table.c.control[car.row] = 1.0, 0.0, 0.0
    run(w, 1.0)

    speed = w.table.c.velocity[car.row, 0]
    assert speed == pytest.approx(5.0 - 0.25, abs=0.15)  # 5 m/s2 less rolling and air
    assert w.table.c.pose[car.row, 0] == pytest.approx(0.5 * speed, rel=0.1)


@pytest.mark.parametrize("yaw", [180.0, -90.0, 0.0, 135.0])
def test_parked_car_keeps_its_yaw(yaw):
    w = world()
    car = spawn(w, pose=(0, 0, 0, 0, yaw, 0))
    run(w, 0.2)

    assert w.table.c.pose[car.row, 4] == yaw


def test_brakes_stop_and_do_not_reverse():
    w = world()
    car = spawn(w)
    w.table.c.target[car.row], w.table.c.target_set[car.row] = (10.0, 0.0, 0.0), 1
    w.step(DT)
    w.table.c.control[car.row] = 0.0, 0.0, 1.0
    run(w, 3.0)

    assert w.table.c.speed[car.row] == 0.0
    assert w.table.c.pose[car.row, 0] == pytest.approx(10**2 / (2 * 8.3), rel=0.15)


def test_reverse_drives_backwards():
    w = world()
    car = spawn(w)
    w.table.c.control[car.row], w.table.c.reverse[car.row] = (0.5, 0.0, 0.0), 1
    run(w, 1.0)

    assert w.table.c.velocity[car.row, 0] < -1.0
    assert w.table.c.gear[car.row] == -1


def test_right_turn_increases_the_yaw():
    w = world()
    car = spawn(w)
    w.table.c.control[car.row] = 0.3, 0.5, 0.0
    run(w, 1.0)

    assert w.table.c.pose[car.row, 4] > 1.0  # right is positive
    assert w.table.c.pose[car.row, 1] > 0.0


@settings(max_examples=30, deadline=None)
@given(st.floats(0, 1), st.floats(-1, 1), st.floats(-0.15, 0.15), st.floats(-180, 180))
def test_velocity_is_displacement_over_time(throttle, steer, slope, yaw):
    w = world(slope=slope)
    car = spawn(w, pose=(0, 0, 0, 0, yaw, 0))
    run(w, 0.5)
    w.table.c.control[car.row] = throttle, steer, 0.0
    for _ in range(30):
        before = w.table.c.pose[car.row, :3].copy()
        w.step(DT)
        moved = w.table.c.pose[car.row, :3] - before
        np.testing.assert_allclose(w.table.c.velocity[car.row], moved / DT, atol=1e-9)


def test_a_car_on_a_slope_lies_on_it():
    w = world(slope=0.1)
    up, across = spawn(w, pose=(0, 0, 0.2, 0, 0, 0)), spawn(w, pose=(40, 0, 4.2, 0, 90, 0))
    run(w, 1.0)

    c = w.table.c
    assert c.pose[up.row, 3] == pytest.approx(np.degrees(np.arctan(0.1)), abs=0.01)
    assert c.pose[up.row, 2] == pytest.approx(0.0, abs=0.01)
    # nose along +y: its right is -x, which is downhill; positive roll lowers the right side
    assert c.pose[across.row, 5] == pytest.approx(np.degrees(np.arctan(0.1)), abs=0.01)
    assert c.pose[across.row, 2] == pytest.approx(4.0, abs=0.01)


def test_dropped_actor_falls_and_lands():
    w = world()
    car = spawn(w, pose=(0, 0, 5, 0, 0, 0))
    run(w, 0.5)
    assert 5 - 0.5 * 9.81 * 0.55**2 - 0.2 < w.table.c.pose[car.row, 2] < 4.0
    run(w, 2.0)

    assert w.table.c.pose[car.row, 2] == pytest.approx(0.0, abs=1e-6)
    assert w.table.c.velocity[car.row, 2] == pytest.approx(0.0, abs=1e-6)


def test_teleport_does_not_change_the_velocity():
    w = world()
    car = spawn(w)
    run(w, 0.5)
    w.teleport(car, (200.0, 100.0, 0.0, 0.0, 45.0, 0.0))
    w.step(DT)

    np.testing.assert_allclose(w.table.c.velocity[car.row], 0.0, atol=1e-9)
    np.testing.assert_allclose(w.table.c.pose[car.row, :2], [200, 100], atol=1e-9)


def test_small_teleports_without_physics_give_a_velocity():
    w = world()
    car = spawn(w)
    w.table.c.physics[car.row] = 0
    w.step(DT)
    for n in range(1, 5):
        w.teleport(car, (0.5 * n, 0.0, 0.0, 0.0, 0.0, 0.0))
        w.step(DT)
        np.testing.assert_allclose(w.table.c.velocity[car.row], [10.0, 0.0, 0.0], atol=1e-9)
    w.step(DT)
    np.testing.assert_allclose(w.table.c.velocity[car.row], 0.0)
    w.teleport(car, (400.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    w.step(DT)
    np.testing.assert_allclose(w.table.c.velocity[car.row], 0.0)


def test_spawn_collision_is_refused_and_uses_no_id():
    w = world()
    first = spawn(w)
    with pytest.raises(SpawnRefused, match="collision"):
        spawn(w, pose=(4.0, 0.0, 0.3, 0, 0, 0))
    beside = spawn(w, pose=(0.0, 2.5, 0.3, 0, 0, 0))

    assert beside.actor_id == first.actor_id + 1


def test_car_stops_at_another_car_and_reports_the_contact():
    w = world()
    rear, front = spawn(w), spawn(w, pose=(10, 0, 0, 0, 0, 0))
    w.table.c.control[rear.row] = 1.0, 0.0, 0.0
    touched = []
    for _ in range(80):
        w.step(DT)
        touched += [(t.actor_id, t.other_id) for t in w.touches]

    gap = w.table.c.pose[front.row, 0] - w.table.c.pose[rear.row, 0]
    assert (rear.actor_id, front.actor_id) in touched
    assert gap >= 2 * rear.half_m[0] - 0.3
    assert w.table.c.pose[front.row, 0] == pytest.approx(10.0)


def test_wall_stops_a_car_and_is_named():
    wall = StaticObject(1, "Wall_1", 4, (15.0, 0, 0, 0, 0, 0), (15.0, 0.0, 1.0), (0.5, 10.0, 1.0))
    w = world(objects=(wall,))
    car = spawn(w)
    w.table.c.control[car.row] = 1.0, 0.0, 0.0
    names = set()
    for _ in range(100):
        w.step(DT)
        names |= {t.other_name for t in w.touches}

    assert names == {"Wall_1"}
    assert w.table.c.pose[car.row, 0] < 14.5


def test_walker_follows_the_ground():
    w = world(slope=0.05)
    walker = spawn(w, "walker.pedestrian.0001", (0, 0, 1.5, 0, 0, 0))
    run(w, 1.0)
    w.table.c.stride[walker.row] = 0.0, 1.4, 0.0
    run(w, 2.0)

    c = w.table.c
    np.testing.assert_allclose(c.pose[walker.row, :2], [0.0, 2.8], atol=1e-6)
    assert c.pose[walker.row, 2] == pytest.approx(walker.half_m[2])
    assert c.pose[walker.row, 4] == pytest.approx(90.0)
    np.testing.assert_allclose(c.velocity[walker.row], [0, 1.4, 0], atol=1e-6)


def test_attached_camera_follows_the_reported_pose_and_outlives_its_car():
    w = world()
    car = spawn(w, pose=(0, 0, 0, 0, 90, 0), description=["its client's words"])
    camera = spawn(w, "sensor.camera.rgb", (1, 0, 2, 0, 0, 0), parent_id=car.actor_id)
    w.table.c.control[car.row] = 1.0, 0.0, 0.0
    run(w, 1.0)
    c = w.table.c
    reported_m = c.pose[car.row, :3].astype(np.float32)
    assert np.abs(reported_m - c.pose[car.row, :3]).max() > 1e-8, "nothing is rounded here: the test shows nothing"
    np.testing.assert_allclose(c.pose[camera.row, :3] - reported_m, [0, 1, 2], rtol=0, atol=1e-9)
    np.testing.assert_allclose(c.velocity[camera.row], c.velocity[car.row])

    w.destroy(car.actor_id)
    w.step(DT)
    assert w.actor(camera.actor_id).parent_id == 0
    assert w.actor_or_destroyed(car.actor_id) is car
    assert car.order.description is None, "4,096 of them are kept: 11 MB"
    with pytest.raises(NoSuchActor):
        w.actor(car.actor_id)


def test_the_speed_limit_is_that_of_the_nearest_sample():
    w = world()
    slow, fast = spawn(w), spawn(w, pose=(90, 0, 0, 0, 0, 0))

    assert (w.table.c.limit[slow.row], w.table.c.limit[fast.row]) == (30.0, 90.0)


def test_reloaded_world_repeats_actor_ids():
    w = world()
    first = [spawn(w, pose=(0, 10 * n, 0, 0, 0, 0)).actor_id for n in range(3)]
    run(w, 1.0)
    w.open(w.town)

    assert [spawn(w, pose=(0, 10 * n, 0, 0, 0, 0)).actor_id for n in range(3)] == first
    assert w.elapsed_s == 0.0
    assert w.frame > 1  # frames never go back


def test_movers_are_sorted_by_id_without_sensors():
    w = world()
    ids = [spawn(w, pose=(0, 10 * n, 0, 0, 0, 0), attributes={"color": "1,2,3"}).actor_id for n in range(300)]
    spawn(w, "sensor.other.imu")
    w.destroy(ids[7])
    movers = w.movers()

    assert movers.actor_id.tolist() == ids[:7] + ids[8:]
    assert movers.colour_rgb[0].tolist() == [1, 2, 3]
    assert len(w.actor_types()) == len(ids) + 1  # with the spectator, without the destroyed one, with the IMU


def test_non_sticky_control_lasts_one_tick():
    w = world()
    sticky, loose = spawn(w), spawn(w, pose=(0, 20, 0, 0, 0, 0), attributes={"sticky_control": "False"})
    c = w.table.c
    for car in (sticky, loose):
        c.control[car.row], c.control_set[car.row] = (1.0, 0.0, 0.0), 1
    w.step(DT)
    first = float(c.speed[loose.row])
    assert first == c.speed[sticky.row] > 0.1
    assert c.control[loose.row, 0] == 1.0  # what was applied is still what is shown
    w.step(DT)

    assert c.control[loose.row, 0] == 0.0
    assert c.speed[loose.row] < first < c.speed[sticky.row]
