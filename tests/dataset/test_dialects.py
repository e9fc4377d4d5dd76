"""Dialects: what each is, how they are told apart, and one that somebody else's package adds."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.plugins import install_plugin, uavsim_with
from uavsim.dataset.dialects import DIALECTS, STRICT, dialect_of
from uavsim.dataset.reader import open_dataset
from uavsim.dataset.tables import read_rows
from uavsim.errors import DatasetError

METRES_UP = '''
"""Boxes a metre higher, in a table of their own columns: as small as a dialect can be."""

from uavsim.dataset.dialects import Dialect, FileMove
from uavsim.dataset.dialects.strict import STRICT
from uavsim.dataset.reader import SceneRows
from uavsim.dataset.schema import LAYER, MAP, SAMPLE_ANNOTATION, SAMPLE_DATA


class Shifted:
    def __init__(self, reader, metres):
        self._reader, self._metres = reader, metres

    def scene(self, scene):
        rows = {**scene.rows}
        rows["sample_annotation"] = [
            {**row, "translation": [*row["translation"][:2], row["translation"][2] + self._metres]}
            for row in SAMPLE_ANNOTATION.of(scene.rows)
        ]
        return SceneRows(scene.scene, rows)

    def files(self, before, after):
        for row in (*SAMPLE_DATA.of(after.rows), *LAYER.of(after.rows)):
            yield FileMove(row["filename"], row["filename"])

    def shared(self):
        return {t.name: self._reader.shared(t) for t in self._reader.tables if t.scope != "scene"}

    def shared_files(self, shared):
        return (FileMove(row["filename"], row["filename"]) for row in MAP.of(shared))

    def info(self, row_count):
        return {**self._reader.info, "dialect": "metres_up" if self._metres > 0 else "strict"}


METRES_UP = Dialect(
    name="metres_up",
    summary="boxes a metre higher",
    detect=lambda reader: False,
    frames=STRICT.frames,
    from_strict=lambda reader, options: Shifted(reader, 1.0),
    to_strict=lambda reader: Shifted(reader, -1.0),
)
'''


@pytest.mark.parametrize("name", DIALECTS.names())
def test_frames_undo_themselves(name: str) -> None:
    frames = DIALECTS.pick(name).frames
    rng = np.random.default_rng(3)
    vectors, rotations = rng.normal(size=(50, 3)), rng.normal(size=(50, 4))
    rotations /= np.linalg.norm(rotations, axis=1, keepdims=True)
    np.testing.assert_allclose(frames.vector_to_map(frames.vector_from_map(vectors)), vectors, atol=1e-15)
    np.testing.assert_allclose(frames.rotation_to_map(frames.rotation_from_map(rotations)), rotations, atol=1e-15)
    assert frames.size_to_wlh(frames.size_from_wlh([1.0, 2.0, 3.0])) == [1.0, 2.0, 3.0]


def test_uav3d_writes_length_first() -> None:
    assert DIALECTS.pick("uav3d").frames.size_from_wlh([1.9, 4.5, 1.6]) == [4.5, 1.9, 1.6]


def test_data_sets_of_others_are_told_apart_by_their_looks(strict: Path, uav3d: Path, tmp_path: Path) -> None:
    for root, name in ((strict, "strict"), (uav3d, "uav3d")):
        copy = tmp_path / name
        shutil.copytree(root / "v1.0-mini", copy / "v1.0-mini")
        (copy / "v1.0-mini/uav_dataset.json").unlink()
        assert dialect_of(open_dataset(copy)).name == name


def test_a_dialect_that_is_not_installed_is_named(strict: Path, tmp_path: Path) -> None:
    shutil.copytree(strict / "v1.0-mini", tmp_path / "v1.0-mini")
    info = tmp_path / "v1.0-mini/uav_dataset.json"
    info.write_text(json.dumps({**json.loads(info.read_text()), "dialect": "metres_up"}))
    with pytest.raises(
        DatasetError, match=r"uav_dataset\.json: dialect 'metres_up' is not installed; known: strict, uav3d"
    ):
        dialect_of(open_dataset(tmp_path))


def test_another_package_adds_a_dialect(strict: Path, tmp_path: Path) -> None:
    site = install_plugin(
        tmp_path, "higher", group="uavsim.dialects", adds={"metres_up": "higher:METRES_UP"}, source=METRES_UP
    )
    there, back = tmp_path / "there", tmp_path / "back"
    for source, target, name in ((strict, there, "metres_up"), (there, back, "strict")):
        uavsim_with(site, "convert", str(source), str(target), "--dialect", name)
    was = read_rows(strict / "v1.0-mini/sample_annotation.json")
    higher = read_rows(there / "v1.0-mini/sample_annotation.json")
    assert [row["translation"][2] for row in higher] == [row["translation"][2] + 1.0 for row in was]
    heights = [row["translation"][2] for row in read_rows(back / "v1.0-mini/sample_annotation.json")]
    np.testing.assert_allclose(heights, [row["translation"][2] for row in was], atol=1e-12)
    assert (back / "v1.0-mini/sample_data.json").read_bytes() == (strict / "v1.0-mini/sample_data.json").read_bytes()
    assert dialect_of(open_dataset(back)) is STRICT
