from typing import Any

import numpy as np
import pytest
from headless_simulator.carla.sensors.cameras import neon
from headless_simulator.carla.sensors.moment import Measured, Stamp
from headless_simulator.carla.wire import IMAGE_HEADER
from headless_simulator.faults import Fault as Parsed
from headless_simulator.faults import Faults, FaultsError, SpawnFault, read_faults


def Fault(**keys: object) -> Parsed:
    """Return a parsed entry of a faults file."""
    return Parsed.model_validate(keys)


RGB = "sensor.camera.rgb"


def frames(faults, ticks, **more):
    out = []
    for n in range(ticks):
        faults.before_tick(synchronous=True)
        out.append(faults.frames(7, RGB, 0, Stamp(n, n * 0.1, (float(n),) * 6)))
    return out


def test_frame_faults_change_their_frame_only():
    faults = Faults(
        (
            Fault(fault="drop_frame", tick=2),
            Fault(fault="delay_frame", tick=3, ticks=4),
            Fault(fault="duplicate_frame", tick=4),
            Fault(fault="wrong_frame_number", tick=5, offset=-2),
            Fault(fault="stale_pose", tick=6),
            Fault(fault="nan_pose", tick=7, blueprint="sensor.*"),
        )
    )
    deliveries = frames(faults, 8)

    assert [len(row) for row in deliveries] == [1, 0, 1, 2, 1, 1, 1, 1]
    assert deliveries[2][0].delay_ticks == 4
    assert deliveries[4][0].stamp.frame == 2
    assert deliveries[5][0].stamp.pose[0] == 4.0
    assert np.isnan(deliveries[6][0].stamp.pose[0])
    assert deliveries[7][0].stamp == Stamp(7, 7 * 0.1, (7.0,) * 6)


def test_neon_image_keeps_its_header():
    faults = Faults((Fault(fault="neon_image", tick=2),))
    assert [[one.is_neon for one in row] for row in frames(faults, 3)] == [[False], [True], [False]]

    head, grey = IMAGE_HEADER.pack(64, 96, 90.0), np.full(64 * 96 * 4, 120, np.uint8)
    reading: Any = None
    spoiled = neon(Measured(reading, (head, grey.data)))
    assert spoiled.body[0] == head
    bgr = np.frombuffer(spoiled.body[1], np.uint8).reshape(96, 64, 4)[..., :3]
    assert set(np.unique(bgr)) == {0, 120, 255}
    assert len(np.unique(bgr.reshape(-1, 3), axis=0)) > 3
    assert (grey == 120).all()  # other readers' pixels


def test_fault_probability_is_seeded():
    def dropped(seed):
        faults = Faults((Fault(fault="drop_frame", probability=0.3),), seed=seed)
        return [not row for row in frames(faults, 400)]

    assert dropped(1) == dropped(1) != dropped(2)
    assert 80 < sum(dropped(1)) < 160


def test_count_and_nth_limit():
    faults = Faults((Fault(fault="refuse_spawn", blueprint="vehicle.*", nth="2-3", count=1),))
    faults.before_spawn("walker.pedestrian.0001")
    faults.before_spawn("vehicle.a")
    with pytest.raises(SpawnFault):
        faults.before_spawn("vehicle.b")
    faults.before_spawn("vehicle.c")


def test_once_file_limits_a_fault_across_processes(tmp_path):
    entry = (Fault(fault="refuse_spawn", once_file="fired"),)
    with pytest.raises(SpawnFault):
        Faults(entry, folder=tmp_path).before_spawn("vehicle.a")

    Faults(entry, folder=tmp_path).before_spawn("vehicle.a")


def test_cut_rpc_raises_connection_aborted():
    faults = Faults((Fault(fault="cut_rpc", call="tick_*"),))
    faults.before_call("version")
    with pytest.raises(ConnectionAbortedError):
        faults.before_call("tick_cue")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("faults: [{fault: drop_fram}]", "faults.0.fault"),
        ("faults: [{fault: drop_frame, camra: 1}]", "camra"),
        ("faults: [{fault: stall}]", "seconds"),
        ("faults: [{fault: die}]", "tick"),
        ("faults: [{fault: drop_frame, probability: 2}]", "probability"),
        ("faults: [{fault: die, tick: 1, server: airsim}]", "AirSim"),
        ("faults: {", "faults.yaml"),
        ("- 1", "faults.yaml"),
    ],
)
def test_invalid_faults_file_is_refused_in_one_line(tmp_path, text, message):
    path = tmp_path / "faults.yaml"
    path.write_text(text)
    with pytest.raises(FaultsError, match=message) as reported:
        read_faults(path)

    assert "\n" not in str(reported.value)


def test_lose_actor_can_require_sensors():
    faults = Faults((Fault(fault="lose_actor", blueprint="vehicle.*", carries=True, nth=2),))
    calls = [(4, "vehicle.a", False), (5, "vehicle.b", True), (6, "walker.c", True), (7, "vehicle.d", True)]
    assert [faults.loses(actor, name, carries=carries) for actor, name, carries in calls] == [False, False, False, True]


def test_stalled_vehicles_stay_stalled_and_are_counted():
    faults = Faults((Fault(fault="stall_traffic", blueprint="vehicle.*", tick="2-9", count=2),))
    stalled = []
    for _ in range(4):
        faults.before_tick(synchronous=True)
        names = ((4, "vehicle.a"), (5, "walker.b"), (6, "vehicle.c"), (7, "vehicle.d"))
        stalled.append([number for number, name in names if faults.stalls(number, name, episode=1)])
    assert stalled == [[], [4, 6], [4, 6], [4, 6]]
    assert not faults.stalls(4, "vehicle.a", episode=2)  # another town's, with the same number


def test_stalled_vehicles_of_a_server_share_a_once_file(tmp_path):
    entry = (Fault(fault="stall_traffic", once_file="stood"),)
    first, second = Faults(entry, folder=tmp_path), Faults(entry, folder=tmp_path)
    assert [first.stalls(number, "vehicle.a", episode=1) for number in (4, 5)] == [True, True]
    assert not second.stalls(4, "vehicle.a", episode=1)
