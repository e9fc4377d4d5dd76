from pathlib import Path

import pytest
from uavsim_baselines.config import PROFILES, load_config, load_profile, requested_config
from uavsim_baselines.errors import BaselineError

GOOD = "data: {folder: out/toy}\nsharing: {kind: v2vnet}\n"


def write(folder: Path, text: str) -> Path:
    path = folder / "model.yaml"
    path.write_text(text)
    return path


def test_a_file_and_its_changes(tmp_path: Path) -> None:
    config = load_config(write(tmp_path, GOOD), changes=["training.steps=7", "data.size_px=[64, 36]"])
    assert config.sharing.kind == "v2vnet"
    assert (config.training.steps, config.data.size_px) == (7, (64, 36))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("data: {folder: x}\ngrids: {}\n", r"model.yaml: grids: no such key; did you mean grid\?"),
        ("data: {folder: x}\ngrid: {cell: 3}\n", r"grid\.cell: no such key; did you mean cells\?"),
        ("data: {folder: x}\ngrid: {cells: 7}\n", r"grid\.cells: .*multiple of 2"),
        ("data: {folder: x}\nsharing: {kind: magic}\n", r"sharing\.kind: .*none.*where2comm"),
        ("data: {folder: x}\nsharing: {kind: early, teacher: a.pt}\n", "teacher is for disconet, not early"),
        ("- 1\n", "must be a mapping"),
        ("a: [", "not YAML"),
        ("grid: {}\n", "data: Field required"),
    ],
)
def test_what_is_wrong_is_one_line_with_file_and_key(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(BaselineError, match=says) as raised:
        load_config(write(tmp_path, text))
    assert "\n" not in str(raised.value)
    assert raised.value.exit_code == 2


def test_a_change_needs_a_key_and_a_value(tmp_path: Path) -> None:
    with pytest.raises(BaselineError, match="KEY=VALUE"):
        load_config(write(tmp_path, GOOD), changes=["steps"])
    with pytest.raises(BaselineError, match=r"no such file|No such file"):
        load_config(tmp_path / "none.yaml")


def test_every_profile_is_whole(tmp_path: Path) -> None:
    folder = tmp_path / "it's 1: a folder"
    for name in PROFILES:
        config = requested_config(None, name, named={"data.folder": folder, "sharing.kind": "early", "seed": None})
        assert (config.name, config.data.folder, config.sharing.kind, config.seed) == (name, folder, "early", 0)
        assert config.data.size_px is not None
        assert all(side % 8 == 0 for side in config.data.size_px)
    assert load_profile("mini", changes=["data.folder=x", "training.batch=1"]).training.batch == 1
