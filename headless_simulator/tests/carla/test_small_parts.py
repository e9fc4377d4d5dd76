"""Wire layouts, settings, flat pictures, the navigation mesh and the faults file, without sockets."""

from __future__ import annotations

import struct
from typing import Any

import carla
import numpy as np
import pytest
from headless_simulator.carla import blueprints, values, wire
from headless_simulator.carla.navmesh import build_mesh
from headless_simulator.carla.registry import METHODS
from headless_simulator.carla.sensors.inertial import geolocation
from headless_simulator.carla.sensors.moment import Stamp
from headless_simulator.carla.server import CarlaServer
from headless_simulator.carla.settings import Settings
from headless_simulator.faults import Fault, Faults, FaultsError, SpawnFault, read_faults
from headless_simulator.rendering import flat_other, flat_rgb
from hypothesis import given, settings
from hypothesis import strategies as st


def fault_of(**entry: Any) -> Fault:
    """A fault as people type it: ticks are numbers or ranges."""
    return Fault(**entry)


def test_structs_have_the_sizes_that_the_client_reads():
    sizes = [
        d.itemsize for d in (wire.ACTOR_STATE, wire.VEHICLE_DATA, wire.LIGHT_DATA, wire.WALKER_DATA, wire.SIGN_DATA)
    ]

    assert sizes == [119, 54, 54, 54, 54]
    assert wire.VEHICLE_DATA.fields is not None
    assert wire.VEHICLE_DATA.fields["limit"][1] == 19
    assert wire.VEHICLE_DATA.fields["tl_id"][1] == 25
    assert (wire.TOKEN.size, wire.SENSOR_HEADER.size, wire.IMAGE_HEADER.size, wire.EPISODE_HEADER.size) == (
        24,
        48,
        12,
        36,
    )


def test_every_blueprint_has_a_number_and_defaults_that_are_its_own():
    assert [d[0] for d in blueprints.DEFINITIONS] == list(range(1, len(blueprints.DEFINITIONS) + 1))
    assert blueprints.complete("sensor.camera.rgb", {"fov": "60"})["fov"] == "60"
    assert blueprints.complete("sensor.camera.rgb", {})["image_size_x"] == "800"


def test_the_methods_that_clients_reach_are_there():
    assert CarlaServer.__module__.endswith("carla.server")  # whose modules fill the table
    assert len(METHODS) > 110
    for name in ("tick_cue", "apply_batch", "freeze_all_traffic_lights", "get_all_level_BBs", "cast_ray"):
        assert name in METHODS


def test_settings_come_back_as_they_went():
    told = [True, True, [True, 0.025], True, 0.01, 16, 100.0, True, 3000.0, 2000.0, True]

    assert Settings().changed(told).wire() == told
    assert Settings().changed([False, False, [False]]).fixed_step_s is None


@pytest.mark.parametrize("step", [-0.1, 1e9, float("nan")])
def test_a_step_that_is_none_is_refused(step):
    with pytest.raises((values.CallFailed, values.BadArgument)):
        Settings().changed([True, False, [True, step]])


@given(st.integers(0, 0xFFFF), st.integers(0, 0xFFFFFFFF), st.sampled_from([64, 200, 384, 800]))
def test_a_flat_picture_is_read_back(camera, frame, width):
    picture = flat_rgb(width, 64, camera_id=camera, frame=frame)
    across = width // 8
    bits = [int(picture[8 * (k // across) + 4, 8 * (k % across) + 4, 0] > 128) for k in range(48)]

    assert int("".join(map(str, bits[:16])), 2) == camera
    assert int("".join(map(str, bits[16:])), 2) == frame


def test_flat_masks_show_the_sky():
    mask = flat_other("sensor.camera.instance_segmentation", 8, 4)

    assert mask[..., 2].tolist() == [[11] * 8] * 4
    assert not mask[..., :2].any()


HEADER = (
    '<OpenDRIVE><header revMajor="1" revMinor="4"><geoReference><![CDATA[+proj=tmerc +lat_0={} +lon_0={} +k=1 +x_0=0 '
    "+y_0=0 +datum=WGS84 +units=m +no_defs]]></geoReference></header></OpenDRIVE>"
)


@settings(max_examples=25, deadline=None)
@given(st.floats(-5000, 5000), st.floats(-5000, 5000), st.floats(-60, 60), st.floats(-170, 170))
def test_places_on_earth_are_the_clients_own(x, y, latitude, longitude):
    latitude, longitude = round(latitude, 3), round(longitude, 3)
    theirs = carla.Map("m", HEADER.format(latitude, longitude)).transform_to_geolocation(carla.Location(x, y, 0))

    ours = geolocation(x, y, latitude_deg=latitude, longitude_deg=longitude)
    assert ours == pytest.approx((theirs.latitude, theirs.longitude), abs=2e-7)  # Location is in single precision


def square(x, y, size=4.0):
    return tuple((x + dx, y + dy, 0.0) for dx, dy in ((0, 0), (size, 0), (size, size), (0, size)))


def links_of(mesh):
    """Neighbour numbers of every polygon of the mesh's one tile."""
    head = struct.unpack_from("<9i", mesh, 48 + 24)
    count, vertices = head[0], head[1]
    start = 48 + 100 + 12 * vertices
    return [struct.unpack_from("<6H", mesh, start + 32 * n + 16) for n in range(count)]


def test_squares_that_share_a_side_are_joined_and_others_are_not():
    mesh = build_mesh([(square(0, 0), "sidewalk"), (square(4, 0), "crosswalk"), (square(20, 0), "sidewalk")])

    assert [sorted(n for n in row if n) for row in links_of(mesh)] == [[2], [1], []]


def test_a_small_square_on_a_long_side_is_joined_too():
    mesh = build_mesh([(square(0, 0, 8.0), "sidewalk"), (square(8, 2, 2.0), "crosswalk")])

    assert [sorted(n for n in row if n) for row in links_of(mesh)] == [[2], [1]]


def test_no_polygons_no_mesh():
    assert build_mesh([]) == b""


STAMP = Stamp(100, 5.0, (1.0, 2.0, 3.0, 0.0, 0.0, 0.0))
RGB = "sensor.camera.rgb"


def frames(faults, ticks, **more):
    out = []
    for n in range(ticks):
        faults.before_tick(synchronous=True)
        out.append(faults.frames(7, RGB, 0, Stamp(n, n * 0.1, (float(n),) * 6)))
    return out


def test_each_frame_fault_bends_its_frame_only():
    faults = Faults(
        (
            fault_of(fault="drop_frame", tick=2),
            fault_of(fault="delay_frame", tick=3, ticks=4),
            fault_of(fault="duplicate_frame", tick=4),
            fault_of(fault="wrong_frame_number", tick=5, offset=-2),
            fault_of(fault="stale_pose", tick=6),
            fault_of(fault="nan_pose", tick=7, blueprint="sensor.*"),
        )
    )
    shots = frames(faults, 8)

    assert [len(row) for row in shots] == [1, 0, 1, 2, 1, 1, 1, 1]
    assert shots[2][0].delay_ticks == 4
    assert shots[4][0].stamp.frame == 2
    assert shots[5][0].stamp.pose[0] == 4.0
    assert np.isnan(shots[6][0].stamp.pose[0])
    assert shots[7][0].stamp == Stamp(7, 7 * 0.1, (7.0,) * 6)


def test_chance_is_seeded_and_about_right():
    def dropped(seed):
        faults = Faults((fault_of(fault="drop_frame", probability=0.3),), seed=seed)
        return [not row for row in frames(faults, 400)]

    assert dropped(1) == dropped(1) != dropped(2)
    assert 80 < sum(dropped(1)) < 160


def test_count_and_nth_limit():
    faults = Faults((fault_of(fault="refuse_spawn", blueprint="vehicle.*", nth="2-3", count=1),))
    faults.before_spawn("walker.pedestrian.0001")
    faults.before_spawn("vehicle.a")
    with pytest.raises(SpawnFault):
        faults.before_spawn("vehicle.b")
    faults.before_spawn("vehicle.c")


def test_once_means_once_over_processes(tmp_path):
    entry = (fault_of(fault="refuse_spawn", once_file="fired"),)
    with pytest.raises(SpawnFault):
        Faults(entry, folder=tmp_path).before_spawn("vehicle.a")

    Faults(entry, folder=tmp_path).before_spawn("vehicle.a")


def test_a_cut_is_an_aborted_connection():
    faults = Faults((fault_of(fault="cut_rpc", call="tick_*"),))
    faults.before_call("version")
    with pytest.raises(ConnectionAbortedError):
        faults.before_call("tick_cue")


@pytest.mark.parametrize(
    ("text", "said"),
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
def test_a_wrong_file_is_refused_in_one_line(tmp_path, text, said):
    path = tmp_path / "faults.yaml"
    path.write_text(text)
    with pytest.raises(FaultsError, match=said) as told:
        read_faults(path)

    assert "\n" not in str(told.value)
