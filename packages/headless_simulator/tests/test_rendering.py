import itertools
import time
from concurrent.futures import ThreadPoolExecutor

from headless_simulator.rendering import GraphicsCard, flat_other, flat_rgb
from hypothesis import given
from hypothesis import strategies as st


@given(st.integers(0, 0xFFFF), st.integers(0, 0xFFFFFFFF), st.sampled_from([64, 200, 384, 800]))
def test_flat_image_round_trips(camera, frame, width):
    image = flat_rgb(width, 64, camera_id=camera, frame=frame)
    across = width // 8
    bits = [int(image[8 * (k // across) + 4, 8 * (k % across) + 4, 0] > 128) for k in range(48)]

    assert int("".join(map(str, bits[:16])), 2) == camera
    assert int("".join(map(str, bits[16:])), 2) == frame


def test_flat_masks_show_the_sky():
    mask = flat_other("sensor.camera.instance_segmentation", 8, 4)

    assert mask[..., 2].tolist() == [[11] * 8] * 4
    assert not mask[..., :2].any()


def test_graphics_card_serialises_images():
    card = GraphicsCard(0.01)
    with ThreadPoolExecutor(2) as threads:
        futures = [threads.submit(card.make) for _ in range(6)]
        made = sorted(future.result() for future in futures)
    for (began, ended), (next_began, _) in itertools.pairwise(made):
        assert abs(ended - began - 0.01) < 1e-9
        assert next_began >= ended
    assert time.monotonic() >= made[-1][1]


def test_zero_latency_takes_no_time():
    began, ended = GraphicsCard(0.0).make()
    assert began == ended
