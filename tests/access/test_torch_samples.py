import sys
from pathlib import Path

import numpy as np
import pytest

import uavsim
from uavsim.access.torch_samples import sample_arrays
from uavsim.errors import InputError, UnknownNameError


def test_the_arrays_of_a_sample_stack(strict: Path) -> None:
    data = uavsim.open(strict)
    sample = data.scene("scene_00").samples[1]
    item = sample_arrays(sample, categories=data.categories)
    assert item["images"].shape == (10, 3, 90, 160)
    assert item["images"].dtype == np.uint8
    np.testing.assert_array_equal(item["images"][2].transpose(1, 2, 0), sample.images[2].pixels())
    assert item["boxes"].shape == (len(sample.boxes), 7)
    assert [data.categories[label] for label in item["labels"]] == list(sample.boxes.categories)
    pixel = item["intrinsics"][0] @ (np.linalg.inv(item["map_T_optical"][0]) @ [*item["boxes"][0, :3], 1.0])[:3]
    expected = sample.images[0].project(sample.boxes.map_SE3_box.translation_m[0])
    if np.isfinite(expected).all():
        np.testing.assert_allclose(pixel[:2] / pixel[2], expected, rtol=1e-4)


def test_channels_by_name(strict: Path) -> None:
    sample = uavsim.open(strict).scene("scene_00").samples[0]
    assert sample_arrays(sample, channels=["CAMERA_BOTTOM_id_1"])["drone_ids"].tolist() == [1]
    with pytest.raises(UnknownNameError, match="CAMERA_BOTTOM_id_1"):
        sample_arrays(sample, channels=["CAMERA_BOTTOM_id_11"])


def test_without_torch_one_line_says_how_to_get_it(strict: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(InputError, match="pip install torch"):
        uavsim.torch_dataset(uavsim.open(strict))


def test_with_torch_a_loader_reads_it(strict: Path) -> None:
    torch = pytest.importorskip("torch", reason="torch is no dependency")
    samples = uavsim.torch_dataset(uavsim.open(strict), split="uav_val")
    assert isinstance(samples, torch.utils.data.Dataset)
    loader = torch.utils.data.DataLoader(samples, batch_size=None, shuffle=True)
    assert sorted(item["scene"] for item in loader) == ["scene_01", "scene_01"]
