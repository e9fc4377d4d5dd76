from pathlib import Path

import numpy as np

from tools.bench.same_bytes import by_folder, numpy_features, settings
from tools.bench.same_streams import streams
from uavsim.images import codec


def test_only_features_that_numpy_dispatches_on_are_taken_away(tmp_path: Path):
    variables = settings(tmp_path)
    assert variables["control"] == {}
    assert variables["numpy"]["NPY_DISABLE_CPU_FEATURES"].split() == numpy_features()
    assert "X86_V2" not in numpy_features()  # NumPy does not start without its baseline


def test_streams_are_named_by_camera_and_kind(tmp_path: Path):
    image = np.arange(6 * 8 * 3, dtype=np.uint8).reshape(6, 8, 3)
    for folder in ("samples/CAMERA_A", "masks/CAMERA_A"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "0.png").write_bytes(codec.encode_png(image))
    found = streams(tmp_path)
    assert list(found) == [f"CAMERA_A {kind}" for kind in ("png", "mask", "jpeg", "png0", "png2")]
    assert found == streams(tmp_path)


def test_files_that_differ_are_counted_by_folder():
    files = ["masks/A/1.png", "samples/A/1.png", "samples/B/1.png"]
    assert by_folder(files) == "; masks 1, samples 2, first masks/A/1.png"
    assert not by_folder([])
