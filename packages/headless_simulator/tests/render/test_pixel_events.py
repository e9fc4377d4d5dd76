from dataclasses import replace

import numpy as np
import pytest
from headless_simulator.render.pixel_events import EVENT, EventPixels, Tuning, count_crossings, report_crossings

LINEAR = Tuning(thresholds=(3.0, 3.0), sigmas=(0.0, 0.0), refractory_ns=0, log_eps=None)
LOG = replace(LINEAR, thresholds=(0.3, 0.3), log_eps=0.001)


def grey(*levels: int, width: int = 0) -> np.ndarray:
    """Return a (1, width, 4) image with these grey levels."""
    row = np.array(levels, np.uint8).reshape(-1, width or len(levels))
    return np.repeat(row[..., None], 4, axis=2)


def pixels(tuning: Tuning, seed: int = 0) -> EventPixels:
    return EventPixels(tuning, np.random.default_rng(seed))


def reported(events: np.ndarray) -> list[tuple[int, int, bool]]:
    return [(int(e["x"]), int(e["t_ns"]), bool(e["brighter"])) for e in events]


def near(*expected: tuple[int, int, bool]) -> list[object]:
    """Those events; the grey of (n, n, n) is 0.9999 n, which moves times by a nanosecond."""
    return [(x, pytest.approx(t, abs=1), up) for x, t, up in expected]


def test_first_and_unchanged_images_have_no_events() -> None:
    eye = pixels(LOG)

    assert eye.update(grey(10, 200), 1000).size == 0
    assert eye.update(grey(10, 200), 2000).size == 0


def test_each_crossing_is_reported_at_its_time() -> None:
    """100 to 110 in 1,000 ns crosses 103, 106 and 109; from there down to 101 it crosses 106 and 103."""
    eye = pixels(LINEAR)
    eye.update(grey(100), 5000)

    assert reported(eye.update(grey(110), 6000)) == near((0, 5300, True), (0, 5600, True), (0, 5900, True))
    assert reported(eye.update(grey(101), 7000)) == near((0, 6444, False), (0, 6777, False))


def test_brightness_is_the_weighted_sum_of_the_colours() -> None:
    """Only red rises by 10: 2.989 is no step of 3. Only green: 5.87, one step, half way. Only blue: 1.14."""
    eye = pixels(LINEAR)
    eye.update(np.full((1, 3, 4), 100, np.uint8), 0)
    image = np.full((1, 3, 4), 100, np.uint8)
    image[0, 0, 2] += 10
    image[0, 1, 1] += 10
    image[0, 2, 0] += 10

    assert reported(eye.update(image, 1000)) == near((1, round(1000 * 3 / 5.87), True))


def test_steps_are_logarithms() -> None:
    """50 to 100 is a factor of 2 (less what log_eps takes): two steps of 0.3. 100 to 50 likewise, and 200 to 210 is none."""
    rise = np.log((0.001 + 0.9999 * 100 / 255) / (0.001 + 0.9999 * 50 / 255))
    eye = pixels(LOG)
    eye.update(grey(50, 100, 200), 0)

    events = eye.update(grey(100, 50, 210), 1_000_000)

    times = [0.3 / rise * 1e6, 0.6 / rise * 1e6]
    assert [(x, up) for x, _, up in reported(events)] == [(0, True), (1, False)] * 2
    assert events["t_ns"] == pytest.approx(np.repeat(times, 2), abs=2)


def test_rising_and_falling_thresholds_are_independent() -> None:
    eye = pixels(replace(LINEAR, thresholds=(4.0, 9.5)))
    eye.update(grey(100, 100), 0)

    assert reported(eye.update(grey(110, 90), 1000)) == near((0, 400, True), (0, 800, True), (1, 950, False))


def test_refractory_pixel_updates_its_level_silently() -> None:
    eye = pixels(replace(LINEAR, refractory_ns=400))
    eye.update(grey(100), 5000)

    assert reported(eye.update(grey(110), 6000)) == near((0, 5300, True), (0, 5900, True))
    assert reported(eye.update(grey(113), 7000)) == near((0, 6666, True))


def test_events_are_packed_and_sorted_by_time() -> None:
    rng = np.random.default_rng(4)
    eye = pixels(LOG)
    eye.update(rng.integers(0, 256, (20, 30, 4)).astype(np.uint8), 10**9)

    events = eye.update(rng.integers(0, 256, (20, 30, 4)).astype(np.uint8), 10**9 + 50_000_000)

    assert EVENT.itemsize == 13
    assert len(events) > 500
    assert (np.diff(events["t_ns"]) >= 0).all()
    assert events["t_ns"][0] > 10**9
    assert events["t_ns"][-1] <= 10**9 + 50_000_000
    assert (events["x"].max(), events["y"].max()) == (29, 19)
    assert set(events["brighter"].tolist()) == {True, False}


def test_noise_is_seeded_and_changes_thresholds() -> None:
    rng = np.random.default_rng(1)
    images = [rng.integers(0, 256, (30, 40, 4)).astype(np.uint8) for _ in range(3)]

    def run(tuning: Tuning, seed: int) -> bytes:
        eye = pixels(tuning, seed)
        return b"".join(eye.update(image, n * 10**6).tobytes() for n, image in enumerate(images))

    noisy = replace(LOG, sigmas=(0.1, 0.1))
    assert run(noisy, 1) == run(noisy, 1)
    assert run(noisy, 1) != run(noisy, 2)
    assert run(noisy, 1) != run(LOG, 1)
    assert run(LOG, 1) == run(LOG, 2)


def test_zero_threshold_terminates() -> None:
    eye = pixels(replace(LOG, thresholds=(0.0, -1.0)))
    eye.update(grey(100, 110), 0)

    assert 10 < len(eye.update(grey(110, 100), 1000)) < 30


def test_level_reached_exactly_is_crossed_once() -> None:
    """0 to 6 in steps of 3: 3 and 6. From there on to 7 none; from 6 down to 0 likewise two."""
    level, before, now = (np.array(values, np.float32) for values in ([0, 6, 6], [0, 6, 6], [6, 7, 0]))
    crossings = np.zeros(3, np.int32)
    steps, step = np.array([3, 3, 0, 0], np.float32), np.zeros(3, np.float32)

    assert count_crossings(level, before, now, steps, np.zeros(0, np.float32), step, crossings) == 4
    assert crossings.tolist() == [2, 0, 2]


def test_excess_events_are_thinned() -> None:
    level, before, now = (np.full(2, value, np.float32) for value in (0.0, 0.0, 6.0))
    t_ns, mark = np.zeros(12, np.int64), np.zeros(12, np.int64)

    step, crossings, last_ns = np.ones(2, np.float32), np.full(2, 6, np.int32), np.zeros(2, np.int64)
    count = report_crossings(level, before, now, step, crossings, last_ns, 0, 600, 0, 3, t_ns, mark)

    assert t_ns[:count].tolist() == [100, 400, 100, 400]
    assert level.tolist() == [6.0, 6.0]
