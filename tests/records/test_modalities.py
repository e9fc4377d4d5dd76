"""Properties of all modalities, and a modality of another package."""

import sys
from pathlib import Path

import numpy as np
import pytest

from tests.plugins import install_plugin
from uavsim.config.rig import Rig
from uavsim.errors import DatasetError, InputError, UnknownNameError
from uavsim.images import codec
from uavsim.images.events import EVENT
from uavsim.records import modalities as module
from uavsim.records.modalities import Mask, Modality, modalities, modality
from uavsim.records.plan import ImageFormat
from uavsim.records.sensors import CameraParams
from uavsim.registry import Registry

PNG = ImageFormat()
BUILT_IN = modalities()


def test_names_folders_and_files_are_distinguished() -> None:
    table = modalities()
    assert all(name == m.name for name, m in table.items())
    folders = [m.folder for m in table.values() if m.folder]
    assert len(set(folders)) == len(folders)
    assert not {"samples", "sweeps", "maps", "degraded"} & set(folders)


def test_depth_and_masks_come_back() -> None:
    depth_m = np.array([[0.5, 12.34], [655.0, 3.0]], np.float32)
    np.testing.assert_allclose(modality("depth").decode(modality("depth").encode(depth_m, PNG)), depth_m, atol=0.006)
    ids, tags = np.array([[0, 300], [7, 65535]], np.uint16), np.array([[1, 14], [12, 24]], np.uint8)
    back_ids, back_tags = modality("instance").decode(modality("instance").encode(Mask(ids, tags), PNG))
    np.testing.assert_array_equal(back_ids, ids)
    np.testing.assert_array_equal(back_tags, tags)


def test_semantic_tags_come_back() -> None:
    stored = modality("semantic").encode(np.array([[14, 24]], np.uint8), PNG)
    assert modality("semantic").decode(stored).tolist() == [[14, 24]]
    with pytest.raises(DatasetError, match="one channel of 8 bits"):
        modality("semantic").decode(codec.encode_png(np.zeros((2, 2, 3), np.uint8)))


def test_a_first_flow_is_unknown() -> None:
    unknown = modality("optical_flow").first_frame_placeholder
    assert unknown is not None
    assert unknown(CameraParams(4, 2, 90.0)).shape == (2, 4, 2)
    assert np.isnan(unknown(CameraParams(4, 2, 90.0))).all()
    assert modality("optical_flow").given_by("carla")
    assert not modality("optical_flow").given_by("airsim")


def test_events_come_back_and_a_first_image_has_none() -> None:
    taken = np.array([(3, 1, -2_000_000, 1), (0, 0, 0, 0)], EVENT)
    stored = modality("events").encode(taken, PNG)
    np.testing.assert_array_equal(modality("events").decode(stored), taken)
    unknown = modality("events").first_frame_placeholder
    assert unknown is not None
    assert len(modality("events").decode(modality("events").encode(unknown(CameraParams(4, 2, 90.0)), PNG))) == 0


def test_the_images_format_decides_for_rgb_only() -> None:
    jpeg = ImageFormat(kind="jpeg")
    assert [modality(n).file_suffix(jpeg) for n in ("rgb", "instance", "depth")] == [".jpg", ".png", ".png"]
    assert modality("rgb").encode(np.zeros((4, 4, 4), np.uint8), jpeg).startswith(b"\xff\xd8")


def test_a_misspelt_sensor_is_reported() -> None:
    with pytest.raises(UnknownNameError, match="unknown sensor 'deph'; did you mean 'depth'"):
        modality("deph")


PACKAGE = """
from uavsim.images import codec
from uavsim.records.modalities import Modality
from uavsim.records.sensors import CameraParams

HEAT = Modality("heat", CameraParams, "heat", ".png", lambda a, _: codec.encode_png(a), codec.decode_rgb)
THREE = 3
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Return a function that installs a package with one entry point and resets the registry."""

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
        ("rgb", "warm:HEAT", "sensor 'rgb' is defined by uavsim and warm"),
        ("warmth", "warm:HEAT", "has the name 'heat'"),
        ("heat", "warm:THREE", "not Modality"),
        ("heat", "warm:GONE", "does not load"),
    ],
)
def test_invalid_plugin_sensor_is_refused(name: str, value: str, error: str, install) -> None:
    install(name, value)
    with pytest.raises(InputError, match=error):
        modalities()
