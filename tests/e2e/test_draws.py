"""The server only draws saved images and settling images, for both drawing behaviours."""

import os
import re
from pathlib import Path

import pytest

from tests.e2e.command import succeed
from tools.common.small_dataset import DATASET, write_plans
from uavsim.store.ledger import read_ledger
from uavsim.store.local import LocalOutput

CAMERAS, SAMPLES, SCENES = 10, 3, 2
WARMUP_TICKS, SETTLE_TICKS = 10, 3
KEPT = 2 * CAMERAS * SAMPLES  # images and masks
SETTLING = CAMERAS * (WARMUP_TICKS + SETTLE_TICKS * (SAMPLES - 1))


def generated(folder: Path, *words: str, behaviour: str = "", dataset: str = DATASET) -> tuple[list[int], int]:
    """Generate a dataset; returns the images received in each scene, and the images that the server drew."""
    environment = os.environ | {"HEADLESS_SIMULATOR_BEHAVIOUR": behaviour}
    scenes = ("--scenes", f"0-{SCENES - 1}")
    succeed(
        "generate",
        "--dataset",
        write_plans(folder, dataset=dataset),
        *scenes,
        *words,
        "--out",
        folder / "out",
        env=environment,
    )
    received = [entry.facts.images_drawn for entry in read_ledger(LocalOutput(folder / "out")).values() if entry.facts]
    logs = "".join(log.read_text() for log in (folder / "out/.uavsim/logs").glob("*.log"))
    return received, sum(int(drawn) for drawn in re.findall(r"images drawn: (\d+)", logs))


def test_server_draws_only_saved_and_settling_images(tmp_path: Path) -> None:
    received, drawn = generated(tmp_path, "--settle")
    assert received == [KEPT + SETTLING] * SCENES
    assert drawn == sum(received)


@pytest.mark.parametrize("words", ["--settle", pytest.param("--no-settle", marks=pytest.mark.release)])
def test_server_that_draws_as_unreal_gives_a_valid_dataset(tmp_path: Path, words: str) -> None:
    received, drawn = generated(tmp_path, words, behaviour="unreal")
    settling = (
        SETTLING - CAMERAS if words == "--settle" else 0
    )  # in the first tick after listen() of a session nothing is drawn
    assert sum(received) >= SCENES * (KEPT + settling)
    stops = SCENES * SAMPLES * 2 * CAMERAS
    assert drawn <= SCENES * (KEPT + SETTLING) + stops  # after each stop() a camera draws once more


@pytest.mark.release
def test_scene_without_warmup_is_flown_on_a_server_that_sends_the_first_image_late(tmp_path: Path) -> None:
    without = DATASET.replace("warmup_s: 0.5", "warmup_s: 0")
    received, _ = generated(tmp_path, behaviour="first-image=second", dataset=without)
    assert all(count >= KEPT for count in received)
