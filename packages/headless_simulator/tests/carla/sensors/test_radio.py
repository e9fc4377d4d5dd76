"""Radio between vehicles: path losses against hand-computed values, triggers of CAMs, and decoding by the real client."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from headless_simulator.carla.sensors import radio
from headless_simulator.carla.sensors.radio_wire import CAM, CUSTOM
from headless_simulator.errors import CallRefused
from headless_simulator.scene import Movers
from headless_simulator.world.table import VEHICLE

from tests.carla.conftest import run_client

SENDER, RECEIVER, BETWEEN, HOUSE = 1, 2, 3, 0


def sensor(blueprint: str = radio.AWARENESS, **attributes: str) -> Any:
    return SimpleNamespace(
        actor_id=9, parent_id=SENDER, blueprint=blueprint, extra={}, place_in_episode=0,
        order=SimpleNamespace(attributes=attributes),
    )  # fmt: skip


def loss_db(*on_the_line: int, fading_sigmas: float = 0.0, **attributes: str) -> float:
    """Return the loss over 100 m at 1.5 m above the ground; a vehicle between has its top in the middle, as high."""

    def cast(_origins: Any, _directions: Any, _reach_m: float, movers: Movers) -> Any:
        hit = [n for n in on_the_line if n == HOUSE or n in movers.actor_id]
        return np.array([50.0 if hit else np.inf]), np.array(hit[:1] or [HOUSE]), None, None

    ids = np.array([SENDER, RECEIVER, BETWEEN], np.uint32)
    movers = Movers(ids.astype(np.int32), np.zeros((3, 6)), ids, np.zeros((3, 3), np.uint8), ids)
    ends = np.array([[100.0, 0.0, 1.5], [0.0, 0.0, 1.5], [50.0, 0.0, 1.5]])
    heard = radio.Heard(
        SENDER, ends[0], RECEIVER, ends[1], 0.0, None, fading_sigmas, dict(zip(ids.tolist(), ends, strict=True))
    )
    moment: Any = SimpleNamespace(movers=movers, renderer=SimpleNamespace(cast=cast))
    return radio._loss_db(sensor(**attributes), heard, moment)


def test_path_losses_match_hand_computed_values():
    assert radio.free_space_db(100.0, 0.05) == pytest.approx(88.005, abs=1e-3)
    # 3-4-5: heights of 1.5 m, 4 m apart; the second ray is 1 m longer, its mirror gives -0.01352
    assert radio.two_rays_db(4.0, 1.5, 1.5, 1.0) == pytest.approx(34.0254 + 0.1182, abs=1e-3)  # in phase
    assert radio.two_rays_db(4.0, 1.5, 1.5, 2.0) == pytest.approx(28.0048 - 0.1166, abs=1e-3)  # half a wave off


@pytest.mark.parametrize(
    ("on_the_line", "attributes", "db"),
    [
        ((), {}, 32.4 + 40 + 15.4170),
        ((), {"scenario": "urban"}, 38.77 + 33.4 + 14.0295),
        ((HOUSE,), {}, 36.85 + 60 + 14.5691),
        ((BETWEEN,), {}, 87.8170 + 18.5542),
        ((BETWEEN, HOUSE), {}, 111.4191),
        ((BETWEEN,), {"path_loss_model": "geometric"}, 47.8648 + 40 + 18.5542),
        ((HOUSE,), {"path_loss_model": "geometric"}, 47.8648 + 54),
        ((HOUSE,), {"path_loss_model": "geometric", "d_ref": "10"}, 67.8648 + 27),
        ((SENDER, RECEIVER), {}, 87.8170),  # the two bodies themselves are not in the way
    ],
)
def test_obstruction_determines_path_loss(on_the_line: tuple[int, ...], attributes: dict[str, str], db: float):
    assert loss_db(*on_the_line, fading_sigmas=0.0, **attributes) == pytest.approx(db, abs=1e-3)


@pytest.mark.parametrize(
    ("on_the_line", "scenario", "sigma_db"),
    [((), "highway", 3.3), ((), "rural", 4.25), ((BETWEEN,), "urban", 5.3), ((HOUSE,), "urban", 6.8)],
)
def test_fading_sigma_of_standard_or_attribute(on_the_line: tuple[int, ...], scenario: str, sigma_db: float):
    plain_db = loss_db(*on_the_line, scenario=scenario)

    assert loss_db(*on_the_line, fading_sigmas=1.0, scenario=scenario) - plain_db == pytest.approx(sigma_db)
    custom_db = loss_db(
        *on_the_line, fading_sigmas=-1.0, scenario=scenario, use_etsi_fading="false", custom_fading_stddev="2"
    )
    assert custom_db - plain_db == pytest.approx(-2)


@pytest.mark.parametrize("text", ["0", "-1", "nan", "much"])
def test_frequency_and_reference_must_be_positive(text: str):
    blocked = loss_db(HOUSE, path_loss_model="geometric", d_ref=text, frequency_ghz=text)

    assert blocked == pytest.approx(101.8648, abs=1e-3)
    assert np.isfinite(loss_db(frequency_ghz="1e300", path_loss_model="geometric"))
    assert np.isfinite(loss_db(HOUSE, d_ref="1e-300", path_loss_model="geometric"))


def driven(**attributes: str) -> tuple[Any, Any, Any]:
    """Give a world with one vehicle at rest, its table's columns, and the radio on it."""
    columns = SimpleNamespace(
        pose=np.zeros((1, 6)), velocity=np.zeros((1, 3)), angular=np.zeros((1, 3)), acceleration=np.zeros((1, 3)),
        lights=np.zeros(1, np.int64),
    )  # fmt: skip
    order = SimpleNamespace(attributes={"base_type": "truck"})
    body = SimpleNamespace(actor_id=SENDER, kind=VEHICLE, row=0, half_m=np.array([2.4, 1.1, 0.8]), order=order)
    world = SimpleNamespace(
        actors={SENDER: body},
        table=SimpleNamespace(c=columns),
        town=SimpleNamespace(georeference=(49.0, 8.0)),
        elapsed_s=0.0,
    )
    return world, columns, sensor(**attributes)


def sent(world: Any, actor: Any, elapsed_s: float) -> Any:
    world.elapsed_s = elapsed_s
    radio.transmit(world, [actor])
    return actor.extra["sent"]


def test_cam_is_due_after_change_or_one_second():
    world, columns, actor = driven()
    assert [n for n in range(41) if len(sent(world, actor, n * 0.05))] == [0, 20, 40]
    columns.pose[0, 4] = 4.1
    assert not len(sent(world, actor, 2.05))  # not before 0.1 s
    assert len(sent(world, actor, 2.1))
    assert not len(sent(world, actor, 2.15))
    assert len(sent(world, actor, 2.2))  # at the interval of the last change, three times
    assert len(sent(world, actor, 2.3))
    assert len(sent(world, actor, 2.4))
    assert not len(sent(world, actor, 3.3))
    columns.pose[0, 0] = 4.1
    assert len(sent(world, actor, 3.35))
    columns.velocity[0, 0] = 0.6
    assert len(sent(world, actor, 3.45))

    world, _, actor = driven(fixed_rate="true", gen_cam_min="0.2")
    assert [n for n in range(9) if len(sent(world, actor, n * 0.05))] == [0, 4, 8]


def test_cam_contains_vehicle_motion():
    world, columns, actor = driven(fixed_rate="true")
    columns.pose[0] = [0.0, 0.0, 2.0, 0.0, 90.0, 0.0]
    columns.velocity[0], columns.acceleration[0] = [0.0, 7.5, 0.0], [0.0, 2.0, 0.0]
    columns.angular[0, 2], columns.lights[0] = 3.0, 2 | 32
    cam = sent(world, actor, 0.25)[0]
    basic, high, low = (cam["cam"][name] for name in ("basic", "high_frequency", "low_frequency"))

    assert cam["header"].tolist() == (2, 2, SENDER)
    assert cam["power_dbm"] == 21.5
    assert cam["cam"]["delta_ms"] == 250
    assert basic["station_type"] == 7
    assert (basic["position"]["latitude"], basic["position"]["longitude"]) == (490_000_000, 80_000_000)
    assert basic["position"]["altitude"]["value"] == 200
    vehicle = high["vehicle"]
    names = ("heading", "speed", "length", "longitudinal", "lateral", "vertical", "yaw_rate")
    assert [vehicle[name]["value"] for name in names] == [1800, 750, 48, 20, 0, 98, 300]
    assert (vehicle["width"], vehicle["direction"]) == (22, 0)
    assert (low["present"], low["lights"]) == (1, 128 | 32)
    columns.velocity[0] = [0.0, -1.0, 0.0]
    backwards = sent(world, actor, 0.35)[0]["cam"]
    vehicle = backwards["high_frequency"]["vehicle"]
    assert (vehicle["direction"], vehicle["speed"]["value"]) == (1, 0)
    assert backwards["low_frequency"]["present"] == 0  # each half second


def test_excessive_noise_is_clipped():
    huge = {
        f"noise_{name}": "1e308" for name in ("lat_bias", "head_bias", "yawrate_bias", "alt_stddev", "accel_stddev_z")
    }
    world, _, actor = driven(transmit_power="1e300", **huge)
    cam = sent(world, actor, 0.0)[0]

    assert np.isfinite(cam["power_dbm"])
    assert cam["cam"]["high_frequency"]["vehicle"]["yaw_rate"]["value"] == 32767
    assert cam["cam"]["high_frequency"]["vehicle"]["vertical"]["value"] == 161


def test_custom_message_is_sent_once_and_truncated():
    world, _, actor = driven()
    with pytest.raises(CallRefused, match="sends no custom messages"):
        radio.send(actor, "hello")
    actor = sensor(radio.CUSTOM_RADIO)
    radio.send(actor, "hello")
    radio.send(actor, "x" * 200)

    assert sent(world, actor, 0.0)["text"].tolist() == [b"hello", b"x" * 99]
    assert not len(sent(world, actor, 0.05))
    for _ in range(1000):
        radio.send(actor, "more")
    with pytest.raises(CallRefused, match="1000 messages"):
        radio.send(actor, "more")


def test_structures_have_the_clients_sizes():
    assert (CUSTOM.itemsize, CAM.fields["cam"][1]) == (136, 32)


def test_the_real_client_decodes_cams_and_custom_messages(simulator):
    result = run_client(
        simulator.carla_port,
        """
    world = client.reload_world(); synchronous(world); library = world.get_blueprint_library()
    spawn_poses = world.get_map().get_spawn_points()
    near = sorted(spawn_poses, key=lambda p: p.location.distance(spawn_poses[0].location))
    cars = [c for c in (world.try_spawn_actor(library.find('vehicle.tesla.model3'), p) for p in near[:9]) if c][:2]
    got = {}
    def mount(name, kind, parent, **more):
        b = library.find('sensor.other.' + kind)
        for k, v in {'use_etsi_fading': 'false', **more}.items(): b.set_attribute(k, v)
        r = world.spawn_actor(b, carla.Transform(carla.Location(z=2)), attach_to=parent)
        got[name] = []
        r.listen(lambda event: got[name].extend((event.frame, m.power, m.get()) for m in event))
        return r
    cam_radios = [mount('cam%d' % n, 'v2x', cars[n], fixed_rate='true') for n in (0, 1)]
    speaker, _ = (mount('text%d' % n, 'v2x_custom', cars[n]) for n in (0, 1))
    other = mount('other channel', 'v2x_custom', cars[1], channel_id='Other')
    for n in range(30):
        if n == 20: speaker.send('hello there')
        last = world.tick()
    until(lambda: got['text1'] and len(got['cam0']) > 14 and len(got['cam1']) > 14, 5)
    ends = [c.get_location() + carla.Location(z=2 * c.bounding_box.extent.z + 0.02) for c in cars]
    done(cams=got['cam1'], received_by_sender=len(got['cam0']), texts=got['text1'], echo=len(got['text0']),
         elsewhere=len(got['other channel']), ids=[c.id for c in cars], last=last,
         far=ends[0].distance(ends[1]), yaw=cars[0].get_transform().rotation.yaw)
    """,
    )

    assert len(result["cams"]) == result["received_by_sender"] == 15  # each 0.1 s
    frame, power_dbm, cam = result["cams"][-1]
    assert result["last"] - 2 < frame <= result["last"]
    assert cam["Message"]["Header"] == {"Protocol Version": 2, "Message ID": "CAM", "Station ID": result["ids"][0]}
    parameters = cam["Message"]["Message"]["CAM Parameters"]
    assert parameters["Basic Container"]["Station Type"] == "Passenger Car"
    vehicle = parameters["High Frequency Container"]["Basic Vehicle Container High Frequency"]
    assert vehicle["Vertical Acceleration"]["Value"] == 98  # 0.1 m/s2, at rest
    assert vehicle["Vehicle Length"]["Value"] == 48
    assert vehicle["Heading"]["Value"] / 10 == pytest.approx((result["yaw"] + 90) % 360, abs=0.1)
    free_db = 32.4 + 20 * np.log10(result["far"]) + 20 * np.log10(5.9)
    assert power_dbm == pytest.approx(21.5 + 10 - free_db, abs=0.05)
    ((_, text_dbm, text),) = result["texts"]
    assert text["Message"]["Message"] == "hello there"
    assert text["Message"]["Header"]["Station ID"] == result["ids"][0]
    assert text_dbm == pytest.approx(power_dbm, abs=0.05)
    assert (result["echo"], result["elsewhere"]) == (0, 0)
