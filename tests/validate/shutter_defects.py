"""Planted defects of shutter images, for the flown dataset of ``tests.e2e.test_shutters``."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from tests.validate.disk import edited_table
from uavsim.images import codec, mask_pixels


def late(out: Path, tables: Path) -> None:
    with edited_table(tables, "shutter_tick") as rows:
        rows[1]["timestamp"] += 1


def elsewhere(out: Path, tables: Path) -> None:
    with edited_table(tables, "shutter_tick") as rows:
        rows[0]["translation"][0] += 0.01


def lost(out: Path, tables: Path) -> None:
    (tables / "shutter_tick.json").unlink()


def unlisted(out: Path, tables: Path) -> None:
    with edited_table(tables, "layer") as rows:
        rows.remove(next(row for row in rows if row["kind"] == "shutter"))


def of_another_tick(out: Path, tables: Path) -> None:
    """Write the rows of a mask one row lower, as with a row order from the bottom."""
    path = sorted((out / "shutter_masks/CAMERA_ROLLING_id_0").iterdir())[0]
    ids, tags = codec.mask_ids_and_tags(path)
    path.unlink()
    path.write_bytes(mask_pixels.encode(np.roll(ids, 1, axis=0), np.roll(tags, 1, axis=0)))


PLANTED_SHUTTERS: dict[str, tuple[Callable[[Path, Path], None], str]] = {
    "late": (late, "shutter.ticks"),
    "elsewhere": (elsewhere, "shutter.ticks"),
    "lost": (lost, "shutter.ticks"),
    "unlisted": (unlisted, "shutter.image"),
    "of another tick": (of_another_tick, "shutter.image"),
}
PLANTED = {name: code for name, (_, code) in PLANTED_SHUTTERS.items()}
