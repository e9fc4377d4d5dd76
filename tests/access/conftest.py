import json
import shutil
from pathlib import Path

import pytest

from tests.dataset_factory import in_uav3d, make_dataset


@pytest.fixture(scope="session")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_dataset(
        tmp_path_factory.mktemp("opened"),
        samples=2,
        sweeps=1,
        drones=2,
        size_px=(160, 90),
        sensors=("rgb", "instance", "depth"),
        lidar=True,
    )


@pytest.fixture(scope="session")
def uav3d(strict: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return in_uav3d(strict, tmp_path_factory.mktemp("converted"))


@pytest.fixture(scope="session")
def foreign(strict: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a third-party dataset: without uavsim's tables and columns, rows in one line and another order."""
    out = tmp_path_factory.mktemp("foreign")
    for folder in ("samples", "sweeps", "maps"):
        shutil.copytree(strict / folder, out / folder)
    (out / "v1.0-mini").mkdir()
    uavsim_tables = {
        "layer",
        "camera_pose",
        "visibility_detail",
        "agent_view",
        "lidarseg",
        "semantic_tag",
        "uav_dataset",
        "splits",
    }
    for path in (strict / "v1.0-mini").glob("*.json"):
        if path.stem not in uavsim_tables:
            rows = json.loads(path.read_text())
            plain = [{k: v for k, v in row.items() if not k.startswith("uav_")} for row in rows]
            (out / "v1.0-mini" / path.name).write_text(json.dumps(plain[::-1] if path.stem == "ego_pose" else plain))
    return out
