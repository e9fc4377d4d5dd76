"""What every modality keeps, and how another package adds one."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from tests.plugins import install_plugin
from uavsim.config.rig import Rig
from uavsim.errors import DatasetError, InputError, UnknownNameError
from uavsim.images import codec
from uavsim.records import modalities as module
from uavsim.records.modalities import Modality, modalities, modality
from uavsim.records.plan import ImageFormat
from uavsim.registry import Registry

PNG = ImageFormat()
BUILT_IN = modalities()


def test_names_folders_and_files_are_told_apart() -> None:
    table = modalities()
    assert all(name == m.name for name, m in table.items())
    folders = [m.folder for m in table.values() if m.folder]
    assert len(set(folders)) == len(folders)
    assert not {"samples", "sweeps", "maps", "degraded"} & set(folders)


def test_depth_and_masks_come_back() -> None:
    depth_m = np.array([[0.5, 12.34], [655.0, 3.0]], np.float32)
    np.testing.assert_allclose(modality("depth").decode(modality("depth").encode(depth_m, PNG)), depth_m, atol=0.006)
    ids, tags = np.array([[0, 300], [7, 65535]], np.uint16), np.array([[1, 14], [12, 24]], np.uint8)
    back_ids, back_tags = modality("instance").decode(modality("instance").encode((ids, tags), PNG))
    np.testing.assert_array_equal(back_ids, ids)
    np.testing.assert_array_equal(back_tags, tags)


def test_semantic_tags_are_the_red_channel_and_come_back() -> None:
    class Image:
        width, height = 2, 1
        raw_data = bytes([0, 0, 14, 255, 9, 9, 24, 255])  # blue, green, red, alpha

    carla = modality("semantic").carla
    assert carla is not None
    assert carla.read(Image()).tolist() == [[14, 24]]
    stored = modality("semantic").encode(carla.read(Image()), PNG)
    assert modality("semantic").decode(stored).tolist() == [[14, 24]]
    with pytest.raises(DatasetError, match="one channel of 8 bits"):
        modality("semantic").decode(codec.encode_png(np.zeros((2, 2, 3), np.uint8)))


def test_flow_is_told_in_pixels_right_and_down() -> None:
    """An image of 4 x 2: a quarter of the clip space right is half a pixel, a half of it up is half a pixel up."""

    class Image:
        width, height = 4, 2
        raw_data = np.tile(np.array([0.25, 0.5], np.float32), 8).tobytes()

    carla = modality("optical_flow").carla
    assert carla is not None
    np.testing.assert_array_equal(carla.read(Image())[1, 3], [0.5, -0.5])
    assert modality("optical_flow").since_previous
    assert modality("optical_flow").given_by("carla")
    assert not modality("optical_flow").given_by("airsim")


def test_the_images_format_decides_for_rgb_only() -> None:
    jpeg = ImageFormat(kind="jpeg")
    assert [modality(n).file_suffix(jpeg) for n in ("rgb", "instance", "depth")] == [".jpg", ".png", ".png"]
    assert modality("rgb").encode(np.zeros((4, 4, 4), np.uint8), jpeg).startswith(b"\xff\xd8")


def test_a_misspelt_sensor_is_told() -> None:
    with pytest.raises(UnknownNameError, match="unknown sensor 'deph'; did you mean 'depth'"):
        modality("deph")


PACKAGE = """
from uavsim.images import codec
from uavsim.records.modalities import Modality

HEAT = Modality("heat", "image", "heat", ".png", lambda a, _: codec.encode_png(a), codec.decode_rgb)
THREE = 3
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Install a package with one entry point, and let the registry look anew."""

    def install(name: str, value: str) -> None:
        site = install_plugin(tmp_path, "warm", group="uavsim.modalities", adds={name: value}, source=PACKAGE)
        monkeypatch.syspath_prepend(site)
        monkeypatch.setattr(module, "MODALITIES", Registry("modalities", BUILT_IN, what="sensor", expects=Modality))
        sys.modules.pop("warm", None)

    return install


def test_an_installed_package_adds_a_sensor(install) -> None:
    install("heat", "warm:HEAT")
    assert modality("heat").folder == "heat"
    assert "heat" in module.layer_folders()
    assert not modality("heat").given_by("carla")
    assert Rig.model_validate({"sensors": ("rgb", "instance", "heat"), "cameras": {"F": {}}}).sensors[-1] == "heat"


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("rgb", "warm:HEAT", "sensor 'rgb' is claimed by uavsim and warm"),
        ("warmth", "warm:HEAT", "calls itself 'heat'"),
        ("heat", "warm:THREE", "not Modality"),
        ("heat", "warm:GONE", "does not load"),
    ],
)
def test_what_is_no_sensor_is_refused(name: str, value: str, error: str, install) -> None:
    install(name, value)
    with pytest.raises(InputError, match=error):
        modalities()
