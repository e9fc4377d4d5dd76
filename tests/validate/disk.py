"""An editable copy of the small dataset, with rows and images by scene, sample and channel."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from tests.validate.small import VERSION

Row = dict[str, Any]
SCENE, SAMPLE = "scene_01", 2
CAR, TURNING_CAR, VAN, TRUCK, BUS, BIKE, WALKER = 1, 2, 3, 4, 5, 7, 8  # instance ids in the cast


@contextmanager
def edited_table(folder: Path, name: str) -> Iterator[list[Row]]:
    """Yield the rows of a table in a version folder to edit; other hard links of the file do not change."""
    path = folder / f"{name}.json"
    rows = json.loads(path.read_bytes())
    yield rows
    Disk.replace(path, json.dumps(rows).encode())


class Disk:
    """A copy of a dataset made of hard links, which edits replace."""

    def __init__(self, clean: Path, root: Path) -> None:
        self.root = root
        shutil.copytree(clean, root, copy_function=os.link)

    def path(self, table: str) -> Path:
        return self.root / VERSION / f"{table}.json"

    def read(self, table: str) -> list[Row]:
        return json.loads(self.path(table).read_text())

    def write(self, table: str, rows: Any) -> None:
        self.replace(self.path(table), json.dumps(rows).encode())

    def rows(self, table: str) -> AbstractContextManager[list[Row]]:
        return edited_table(self.root / VERSION, table)

    @contextmanager
    def row(self, table: str, token: str) -> Iterator[Row]:
        """Yield one row to edit."""
        with self.rows(table) as rows:
            yield next(row for row in rows if row["token"] == token)

    @contextmanager
    def box(self, instance_id: int = CAR) -> Iterator[Row]:
        """Yield one annotation to edit."""
        with self.rows("sample_annotation") as boxes:
            yield self.box_of(boxes, instance_id)

    @contextmanager
    def track(self, instance_id: int = CAR) -> Iterator[list[Row]]:
        """Yield the annotations of one object to edit."""
        with self.rows("sample_annotation") as boxes:
            yield self.track_of(boxes, instance_id)

    @contextmanager
    def image_row(self, channel: str) -> Iterator[Row]:
        """Yield the row of one image to edit."""
        with self.row("sample_data", self.data_token(channel)) as row:
            yield row

    @contextmanager
    def calibration(self, channel: str) -> Iterator[Row]:
        """Yield the calibration of one channel to edit."""
        with self.row("calibrated_sensor", self._data(channel, SAMPLE, SCENE)["calibrated_sensor_token"]) as row:
            yield row

    @staticmethod
    def replace(path: Path, data: bytes) -> None:
        path.unlink()  # the clean dataset has the same inode
        path.write_bytes(data)

    def scene(self, name: str = SCENE) -> Row:
        return next(row for row in self.read("scene") if row["name"] == name)

    def sample(self, index: int = SAMPLE, scene: str = SCENE) -> Row:
        scene_samples = [row for row in self.read("sample") if row["scene_token"] == self.scene(scene)["token"]]
        return sorted(scene_samples, key=lambda row: row["timestamp"])[index]

    def data_token(self, channel: str, index: int = SAMPLE, scene: str = SCENE) -> str:
        return self._data(channel, index, scene)["token"]

    def image(self, channel: str, index: int = SAMPLE, scene: str = SCENE) -> Path:
        return self.root / self._data(channel, index, scene)["filename"]

    def mask(self, channel: str, index: int = SAMPLE, scene: str = SCENE) -> Path:
        return self.root / "masks" / channel / self.image(channel, index, scene).name

    def _data(self, channel: str, index: int, scene: str) -> Row:
        sample = self.sample(index, scene)["token"]
        rows = self.read("sample_data")
        return next(r for r in rows if r["sample_token"] == sample and f"/{channel}/" in r["filename"])

    def box_of(self, boxes: list[Row], instance_id: int = CAR, index: int = SAMPLE, scene: str = SCENE) -> Row:
        sample = self.sample(index, scene)["token"]
        return next(b for b in boxes if b["sample_token"] == sample and b["uav_instance_id"] == instance_id)

    @staticmethod
    def take_out(rows: list[Row], lost: Row) -> None:
        """Remove a row, and link its neighbours to each other."""
        rows[:] = [row for row in rows if row["token"] != lost["token"]]
        for row in rows:
            row["next"] = lost["next"] if row["next"] == lost["token"] else row["next"]
            row["prev"] = lost["prev"] if row["prev"] == lost["token"] else row["prev"]

    def track_of(self, boxes: list[Row], instance_id: int = CAR, scene: str = SCENE) -> list[Row]:
        token = self.box_of(boxes, instance_id, 0, scene)["instance_token"]
        return [b for b in boxes if b["instance_token"] == token]
