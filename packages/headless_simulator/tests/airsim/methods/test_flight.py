"""Flight through the real client, against values computed by hand from AirSim's published parameters."""

import math
import time

import airsim
import numpy as np
import pytest

# Paper: drag area along x = (0.11*0.04 + 4*pi*0.2286*0.01) * 1.3/4/2 = 0.0331268 * 0.1625 = 0.00538311;
# air density 1.225 -> force = 0.00659431 * v**2 newtons on 1 kg.
DRAG = 0.00659431
SIDE_DRAG = 0.00715168  # along y the body is longer: (0.18*0.04 + ...) = 0.0359268 * 0.1625 * 1.225
TILT_PER_MPS = 0.2 * math.pi / 5.5  # velocity error -> tilt: gain 0.2 times the largest tilt


def state(client, name: str = ""):
    return client.getMultirotorState(name).kinematics_estimated


def xyz(vector) -> np.ndarray:
    return np.array([vector.x_val, vector.y_val, vector.z_val])


def fly(client, task, seconds: float):
    """Run a command of a duration to its end: its last order comes in the first command period after its time."""
    client.simContinueForTime(seconds + 0.03)
    return task.get()


def test_hover_holds_the_position(flying) -> None:
    client, _ = flying
    before = xyz(state(client).position)

    client.simContinueForTime(10)

    assert np.linalg.norm(xyz(state(client).position) - before) < 0.02
    assert np.linalg.norm(xyz(state(client).linear_velocity)) < 0.005


def test_velocity_command_reaches_its_steady_speed(flying) -> None:
    client, _ = flying
    start = xyz(state(client).position)

    done = fly(client, client.moveByVelocityAsync(5, 0, 0, 5), 5.0)

    # P control only: in steady flight drag needs tilt, tilt needs a velocity error e: g*tan(k*e) = DRAG*v**2.
    end = state(client)
    error = math.atan(DRAG * 4.86**2 / 9.80665) / TILT_PER_MPS
    assert done is True
    assert error == pytest.approx(0.139, abs=1e-3)
    assert end.linear_velocity.x_val == pytest.approx(5 - error, abs=0.02)
    # First-order approach with rate g*k = 1.12 1/s and a tilt lag: about v/1.12 + lags behind 5*4.861 m.
    travelled = (xyz(end.position) - start)[0]
    assert 24.3 - 5.6 < travelled < 24.3 - 3.5
    assert abs((xyz(end.position) - start)[1]) < 1e-3


def test_tilt_gives_acceleration(flying) -> None:
    client, _ = flying
    task = client.moveByRollPitchYawZAsync(0, 0.2, 0, -50, 2)  # this client's pitch is nose-down positive

    client.simContinueForTime(0.6)
    first = state(client).linear_velocity.x_val
    client.simContinueForTime(0.4)
    second = state(client)

    # Level flight with tilt 0.2: a = g*tan(0.2) = 1.988 m/s2, less drag (under 1 %) and thrust not yet risen (some %).
    assert (second.linear_velocity.x_val - first) / 0.4 == pytest.approx(9.80665 * math.tan(0.2), rel=0.06)
    pitch, roll, _ = airsim.to_eularian_angles(second.orientation)
    assert pitch == pytest.approx(-0.2, abs=0.01)
    assert roll == pytest.approx(0, abs=1e-3)
    client.simContinueForTime(1.1)
    assert task.get() is True


def test_wind_pushes_a_hover_by_a_computed_offset(flying) -> None:
    client, _ = flying
    fly(client, client.hoverAsync(), 5)
    before = xyz(state(client).position)

    client.simSetWind(airsim.Vector3r(0, 5, 0))
    client.simContinueForTime(20)

    # Drag of 5 m/s needs tilt atan(DRAG*25/g); that tilt needs a velocity error, that a position error: 0.25*6 per metre.
    offset = math.atan(SIDE_DRAG * 25 / 9.80665) / TILT_PER_MPS / (0.25 * 6)
    assert offset == pytest.approx(0.1064, abs=1e-3)
    assert xyz(state(client).position) - before == pytest.approx([0, offset, 0], abs=0.005)


def test_continued_time_is_in_whole_steps_and_keeps_the_remainder(flying) -> None:
    client, _ = flying
    before = client.getMultirotorState().timestamp

    went_ms = []
    for _ in range(4):
        client.simContinueForTime(0.05)
        went_ms.append((client.getMultirotorState().timestamp - before) / 1e6)

    assert went_ms == [48, 99, 150, 198]  # steps of 3 ms; what is left of a call is kept for the next
    assert client.simIsPause()


def test_flight_does_not_depend_on_the_length_of_continue_calls(serve, connect) -> None:
    def flight(pieces: list[float]) -> list[object]:
        client = connect(serve())
        client.simPause(True)
        client.reset()
        client.enableApiControl(True)
        client.takeoffAsync()
        for piece in pieces:
            client.simContinueForTime(piece)
        return [*vars(state(client).position).values(), *vars(state(client).orientation).values()]

    assert flight([6.0]) == flight([0.05] * 120) == flight([0.001] * 300 + [5.7])


def test_frames_are_twenty_milliseconds(flying) -> None:
    client, _ = flying
    before = client.getMultirotorState().timestamp
    client.simContinueForFrames(7)
    assert client.getMultirotorState().timestamp - before == 138_000_000  # the last whole step of 3 ms


def test_same_calls_give_identical_flights(serve, connect) -> None:
    def flight(wait_s: float) -> list[object]:
        client = connect(serve({"Vehicles": {"A": {}, "B": {"X": 4}}}))
        client.reset()
        time.sleep(wait_s)  # time passes before the pause, more in one run than in the other
        client.simPause(True)
        trace: list[object] = []
        for name in ("A", "B"):
            client.enableApiControl(True, name)
        start = client.getMultirotorState("A").timestamp
        tasks = [client.takeoffAsync(20, "A"), client.takeoffAsync(20, "B")]
        client.simContinueForTime(4)
        tasks += [client.moveToPositionAsync(3, -2, -5, 2, vehicle_name=n) for n in ("A", "B")]
        for _ in range(40):
            client.simContinueForTime(0.05)
            for name in ("A", "B"):
                whole = client.getMultirotorState(name)
                trace.append([whole.timestamp - start, *vars(whole.kinematics_estimated.orientation).values()])
                trace.append([*vars(whole.kinematics_estimated.position).values()])
        return trace

    assert flight(1.0) == flight(1.123)  # an idle rotor needs 0.2 s to come to rest


def test_takes_off_and_lands(serve, connect) -> None:
    client = connect(serve({"ClockSpeed": 20}))
    client.enableApiControl(True)
    assert client.armDisarm(True) is True
    assert client.getMultirotorState().landed_state == airsim.LandedState.Landed

    assert client.takeoffAsync().get() is False  # it comes to rest before the end of its path: AirSim's own answer
    assert client.getMultirotorState().landed_state == airsim.LandedState.Flying
    assert -2.3 < state(client).position.z_val < -1.2
    assert client.landAsync(60).get() is True

    assert client.getMultirotorState().landed_state == airsim.LandedState.Flying, "its rotors turn until it is disarmed"
    assert state(client).position.z_val == pytest.approx(-0.1465, abs=0.01)
    assert client.armDisarm(False) is True
    deadline = time.monotonic() + 20
    while client.getMultirotorState().landed_state != airsim.LandedState.Landed:
        assert time.monotonic() < deadline


def test_flies_a_path_forward_only(serve, connect) -> None:
    client = connect(serve({"ClockSpeed": 50}))
    client.enableApiControl(True)
    client.takeoffAsync().get()
    corners = [airsim.Vector3r(0, -20, -5), airsim.Vector3r(-20, -20, -5)]

    done = client.moveOnPathAsync(
        corners, 4, 60, airsim.DrivetrainType.ForwardOnly, airsim.YawMode(is_rate=False, yaw_or_rate=0), 4, 1
    ).get()

    assert done is True
    end = state(client)
    assert np.linalg.norm(xyz(end.position)[:2] - [-20, -20]) < 2.5
    assert abs(math.degrees(airsim.to_eularian_angles(end.orientation)[2])) > 130  # nose coming round to the south


def test_rotate_to_yaw_keeps_the_position(flying) -> None:
    client, _ = flying
    before = xyz(state(client).position)
    task = client.rotateToYawAsync(90, 30, 2)
    client.simContinueForTime(20)
    assert task.get() is True
    assert math.degrees(airsim.to_eularian_angles(state(client).orientation)[2]) == pytest.approx(90, abs=3)
    assert np.linalg.norm(xyz(state(client).position) - before) < 0.05


def test_body_frame_velocity_follows_the_heading(flying) -> None:
    client, _ = flying
    task = client.rotateToYawAsync(90, 30, 1)
    client.simContinueForTime(20)
    assert task.get() is True
    before = xyz(state(client).position)
    fly(client, client.moveByVelocityBodyFrameAsync(2, 0, 0, 4, yaw_mode=airsim.YawMode(False, 90)), 4)
    gone = xyz(state(client).position) - before
    assert gone[1] > 5
    assert abs(gone[0]) < 0.4


def test_cancel_answers_false(flying) -> None:
    client, _ = flying
    task = client.moveToPositionAsync(100, 0, -50, 1)
    client.simContinueForTime(1)
    client.cancelLastTask()
    assert task.get() is False


def test_no_api_control_is_an_error(serve, connect) -> None:
    client = connect(serve())
    with pytest.raises(Exception, match="ApiControl is not enabled"):
        client.takeoffAsync().get()
    assert client.armDisarm(True) is False


def test_takeoff_while_moving_is_an_error(flying) -> None:
    client, _ = flying
    fly(client, client.moveByVelocityAsync(3, 0, 0, 2), 2)
    with pytest.raises(Exception, match="already moving"):
        client.takeoffAsync().get()


def test_collision_with_a_building_is_reported(flying) -> None:
    client, _ = flying
    client.simSetVehiclePose(airsim.Pose(airsim.Vector3r(15, 0, -10)), True)
    client.simGetCollisionInfo()
    fly(client, client.moveByVelocityAsync(5, 0, 0, 4), 4)

    hit = client.simGetCollisionInfo()
    assert hit.has_collided
    assert hit.object_name == "Building_North_7"
    assert xyz(hit.normal) == pytest.approx([-1, 0, 0], abs=1e-6)
    assert hit.impact_point.x_val == pytest.approx(25, abs=0.05)  # the wall is at 30 - 5
    assert state(client).position.x_val < 25
    assert hit.object_id == (5 + sum(map(ord, "buildingnorth"))) % 256


def test_collision_flag_is_reset_by_reading(serve, connect) -> None:
    client = connect(serve({"ClockSpeed": 10}))
    client.simPause(True)
    client.simSetVehiclePose(airsim.Pose(airsim.Vector3r(0, 0, -3)), True)
    client.simContinueForTime(3)
    assert client.simGetCollisionInfo().has_collided
    assert not client.simGetCollisionInfo().has_collided
    assert client.simGetCollisionInfo().object_name == "Ground"


@pytest.mark.parametrize(("controller", "covered_m"), [("AirLib", (10, 18)), ("Ideal", (28, 36))])
def test_ideal_controller_flies_move_by_velocity_z_at_full_speed(serve, connect, controller, covered_m) -> None:
    client = connect(serve({"FlightController": controller}))
    client.simPause(True)
    client.enableApiControl(True)
    client.takeoffAsync()
    client.simContinueForTime(3)
    client.simSetVehiclePose(airsim.Pose(airsim.Vector3r(0, 0, -60)), True)
    fly(client, client.moveByVelocityAsync(0, 0, 0, 3), 3)
    before = state(client).position.x_val

    fly(client, client.moveByVelocityZAsync(5, 0, -60, 8), 8)

    low, high = covered_m
    assert low < state(client).position.x_val - before < high


def test_ideal_controller_holds_position_at_yaw_90(serve, connect) -> None:
    ends = {}
    for controller in ("AirLib", "Ideal"):
        client = connect(serve({"FlightController": controller, "Vehicles": {"A": {"Yaw": 90}}, "Wind": {"X": 4}}))
        client.simPause(True)
        client.enableApiControl(True)
        client.takeoffAsync()
        client.simContinueForTime(5)
        client.simContinueForTime(20)
        ends[controller] = abs(state(client).position.x_val)
    assert ends["Ideal"] < 0.3
    assert ends["AirLib"] > 1.0  # neither component of its goal is left after the turn
