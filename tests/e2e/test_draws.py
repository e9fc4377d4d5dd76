"""A server draws the images that are kept and those that settle, and nothing else; also one that behaves as Unreal does."""

import os
import re
from pathlib import Path

import pytest

from tests.e2e.command import uavsim
from tools.common.small_dataset import write_plans
from uavsim.store.ledger import read_ledger
from uavsim.store.local import LocalOutput

CAMERAS, SAMPLES, SCENES = 10, 3, 2
WARMUP_TICKS, SETTLE_TICKS = 10, 3
KEPT = 2 * CAMERAS * SAMPLES  # images and masks
SETTLING = CAMERAS * (WARMUP_TICKS + SETTLE_TICKS * (SAMPLES - 1))


def generated(folder: Path, *words: str, behaviour: str = "") -> tuple[list[int], int]:
    """Return the images that came in each scene, and those that the server drew."""
    environment = os.environ | {"HEADLESS_SIMULATOR_BEHAVIOUR": behaviour}
    scenes = ("--scenes", f"0-{SCENES - 1}")
    done = uavsim(
        "generate", "--dataset", write_plans(folder), *scenes, *words, "--out", folder / "out", env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
    came = [entry.facts.images_drawn for entry in read_ledger(LocalOutput(folder / "out")).values() if entry.facts]
    logs = "".join(log.read_text() for log in (folder / "out/.uavsim/logs").glob("*.log"))
    return came, sum(int(drawn) for drawn in re.findall(r"images drawn: (\d+)", logs))


def test_a_server_draws_what_is_kept_and_what_settles_and_nothing_else(tmp_path: Path) -> None:
    came, drawn = generated(tmp_path, "--settle")
    assert came == [KEPT + SETTLING] * SCENES
    assert drawn == sum(came)


@pytest.mark.parametrize("words", ["--settle", "--no-settle"])
def test_a_server_that_behaves_as_unreal_gives_a_valid_dataset(tmp_path: Path, words: str) -> None:
    came, drawn = generated(tmp_path, words, behaviour="unreal")
    settling = (
        SETTLING - CAMERAS if words == "--settle" else 0
    )  # in the first tick after listen() of a session nothing is drawn
    assert sum(came) >= SCENES * (KEPT + settling)
    stops = SCENES * SAMPLES * 2 * CAMERAS
    assert drawn <= SCENES * (KEPT + SETTLING) + stops  # after each stop() a camera draws once more
