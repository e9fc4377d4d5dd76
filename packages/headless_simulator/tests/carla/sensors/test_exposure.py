"""Adaptive exposure over drawn frames, read by the real client, against hand-computed values.

A new camera has adapted to 2^0.75. Where exposure_min_bright is eight times that and exposure_max_bright hardly more, it has
three stops to go, whatever it sees. At 20 stops a second a tick of 0.05 s goes one stop, down to 1.5 stops from the end; then
(1 - 2^-1) of the way, times the slope (20/60) / ((1 - 2^(-20/60)) 1.5) = 1.0772, which leaves 0.4614 of it. The end is at
log2(11 / 13.454) = -0.2905 stops.
"""

from collections.abc import Iterator

import pytest
from headless_simulator.testing import RunningSimulator, running_simulator

from tests.carla.conftest import run_client

SCENE_SETUP = """
world = client.get_world(); synchronous(world)
pose = carla.Transform(carla.Location(-40, 20, 25), carla.Rotation(-40, 30, 0))
def stops(image, drawn):
    '''Return the exposure difference of two images, from pixels that neither clips.'''
    exposed, drawn = bgra(image)[..., :3].astype(float), bgra(drawn)[..., :3].astype(float)
    within = (drawn > 50) & (exposed < 250)
    return float(2.2 * np.log2(np.median(exposed[within] / drawn[within])))
"""


@pytest.fixture(scope="module")
def adapting() -> Iterator[RunningSimulator]:
    with running_simulator("--town", "Town10HD", "--behaviour", "exposure=adapts") as running:
        yield running


def test_new_camera_adapts_per_drawn_frame(adapting: RunningSimulator) -> None:
    result = run_client(
        adapting.carla.rpartition(":")[2],
        SCENE_SETUP
        + """
slow = dict(exposure_min_bright=13.4543, exposure_max_bright=13.4544, exposure_speed_up=20)
drawn = camera(world, 'camera.rgb', pose, exposure_mode='manual')
eye = camera(world, 'camera.rgb', pose, **slow)
measured = []
def look():
    frame = world.tick(); measured.append(stops(get(eye, frame), get(drawn, frame)))
look(); look()
eye.stop(); until(lambda: not eye.is_listening())
for _ in range(5): world.tick()
eye.listen(eye.box.put)
for _ in range(3): look()
eye.destroy()
eye = camera(world, 'camera.rgb', pose, **slow)
look()
done(stops=measured)
""",
    )
    left = [2, 1, 0.4614, 0.2129, 0.0982, 2]
    assert result["stops"] == pytest.approx([stops - 0.2905 for stops in left], abs=0.03)


def test_exposure_speed_down(adapting: RunningSimulator) -> None:
    """From 2^0.75 to 2^-0.25 is one stop: each tick leaves 1 - (1 - 2^-0.6) 0.2 / ((1 - 2^-0.2) 1.5) = 0.6495 of it."""
    result = run_client(
        adapting.carla.rpartition(":")[2],
        SCENE_SETUP
        + """
drawn = camera(world, 'camera.rgb', pose, exposure_mode='manual')
eye = camera(world, 'camera.rgb', pose, exposure_min_bright=0.8408, exposure_max_bright=0.8409, exposure_speed_down=12)
frames = [world.tick() for _ in range(3)]
done(stops=[stops(get(eye, frame), get(drawn, frame)) for frame in frames])
""",
    )
    assert result["stops"] == pytest.approx([3.4594 + 0.25 - left for left in (0.6495, 0.4219, 0.2740)], abs=0.03)


def test_manual_exposure_depends_on_shutter_iso_and_aperture(adapting: RunningSimulator) -> None:
    result = run_client(
        adapting.carla.rpartition(":")[2],
        SCENE_SETUP
        + """
options = [dict(), dict(shutter_speed=400), dict(iso=200), dict(fstop=2.8), dict(exposure_compensation=-1),
           dict(shutter_speed=400, iso=200, exposure_speed_up=99, calibration_constant=50)]
eyes = [camera(world, 'camera.rgb', pose, exposure_mode='manual', **option) for option in options]
frame = world.tick()
drawn, *others = [get(eye, frame) for eye in eyes]
done(stops=[stops(image, drawn) for image in others], same=bytes(drawn.raw_data) == bytes(others[-1].raw_data),
     opaque=all((bgra(image)[..., 3] == 255).all() for image in others))
""",
    )
    assert result["stops"] == pytest.approx([-1, 1, -2, -1, 0], abs=0.03)
    assert result["same"]
    assert result["opaque"]


def test_fixed_exposure_equals_manual_defaults(adapting: RunningSimulator, simulator: RunningSimulator) -> None:
    program = (
        "client.reload_world()"  # other tests' actors go
        + SCENE_SETUP
        + """
import hashlib
eyes = [camera(world, 'camera.rgb', pose, exposure_mode=mode, iso=iso)
        for mode, iso in (('manual', 100), (sys.argv[2], int(sys.argv[3])))]
for n in range(3): frame = world.tick()
done(digests=[hashlib.sha256(bytes(get(eye, frame).raw_data)).hexdigest() for eye in eyes])
"""
    )
    digests = run_client(simulator.carla_port, program, "histogram", 800)["digests"]
    assert digests[0] == digests[1]
    assert run_client(adapting.carla.rpartition(":")[2], program, "manual", 100)["digests"] == digests
