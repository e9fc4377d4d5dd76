from pathlib import Path

import pytest
from headless_simulator.rendering import GraphicsCard

from tools.bench.busy import busy, noting, write_clip, write_mini
from uavsim.config.library import Library


def test_two_captures_of_two_images_on_paper():
    pauses = [(0.0, 0.1), (5.0, 5.1), (5.2, 5.3), (7.0, 7.1), (7.1, 7.25)]  # the first one is of the warm-up
    reported = busy(pauses[::-1], captures=2, images=2, latency_s=0.1)
    assert reported.whole == pytest.approx(0.4 / 2.25)
    assert reported.steady == pytest.approx(0.2 / 2.0)
    assert reported.gap_s == pytest.approx(1.7)


def test_a_card_that_never_waits_is_wholly_busy():
    pauses = [(0.1 * k, 0.1 * (k + 1)) for k in range(6)]
    assert busy(pauses, captures=3, images=2, latency_s=0.1).whole == pytest.approx(1.0)


def test_fewer_images_than_flown_are_no_measurement():
    with pytest.raises(RuntimeError, match="3 images were waited for, not 4"):
        busy([(0.0, 0.1)] * 3, captures=2, images=2, latency_s=0.1)


def test_what_the_card_makes_is_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(GraphicsCard, "make", GraphicsCard.make)  # set back after the test
    noting(str(tmp_path / "pauses"))
    made = GraphicsCard(0.002).make()
    (line,) = (tmp_path / "pauses").read_text().splitlines()
    assert tuple(map(float, line.split())) == pytest.approx(made, abs=1e-6)


def test_the_mini_split_is_flown_as_it_is_but_for_its_images(tmp_path: Path):
    library = Library.of((tmp_path,))
    mini = library.with_dataset("uav3d-mini")[0].model
    jpeg = library.with_dataset(write_mini(tmp_path, "jpeg"))[0].model
    assert jpeg.images.format == "jpeg"
    assert jpeg.model_copy(update={"images": mini.images}) == mini


def test_the_mini_split_is_video_with_a_keyframe_every_few_frames(tmp_path: Path):
    library = Library.of((tmp_path,))
    mini = library.with_dataset("uav3d-mini")[0].model
    clip = library.with_dataset(write_clip(tmp_path, frames=10, keyframe_s=0.1875))[0].model
    assert (clip.samples, clip.sweeps_per_keyframe, clip.step_s) == (4, 2, 0.0625)
    assert (clip.rig, clip.formation, clip.block("traffic")) == (mini.rig, mini.formation, mini.block("traffic"))
