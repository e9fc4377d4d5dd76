import json
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from uavsim_baselines.config import Config
from uavsim_baselines.data.frames import read_frames
from uavsim_baselines.errors import BaselineError
from uavsim_baselines.voxels import compare_voxels, read_truth

FREE, ROAD = 17, 11


@contextmanager
def silent(_what: str, _total: int):
    yield lambda _done: None


@pytest.fixture
def voxels(config: Config, tmp_path: Path) -> Path:
    """Write voxels of a road below air; the first drone sees half of it, the other one all but a row."""
    semantics = np.full((8, 8, 2), FREE, np.uint8)
    semantics[:, :, 0] = ROAD
    viewers = np.full((8, 8, 2), 2, np.uint8)
    viewers[:4], viewers[7] = 3, 0
    grid: dict[str, object] = {"frame": "agent", "size": [8, 8, 2], "voxel_m": 4.0, "low_m": [-16, -16, -2]}
    grid |= {"map_quat_wxyz_grid": [1, 0, 0, 0], "map_from_grid_m": [0, 0, 0]}
    about = {"grid": grid, "types": {"semantics": "|u1", "seen": "|u1"}, "seers": ["0", "1"]}
    columns = {n: [layer.tobytes() for layer in a] for n, a in (("semantics", semantics), ("seen", viewers))}
    table = pa.table(columns).replace_schema_metadata({"uavsim": json.dumps(about)})
    for split in (config.data.train_split, config.data.test_split):
        for frame in read_frames(config.data, split):
            path = tmp_path / "voxels" / frame.scene / "0" / f"{frame.token}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(table, path)
    return tmp_path / "voxels"


def test_what_no_drone_sees_is_not_learned(config: Config, voxels: Path) -> None:
    frame = read_frames(config.data, config.data.train_split)[0]
    truth = read_truth(voxels, frame, config)
    assert (truth.semantics == 255).sum() == 16
    assert truth.ego_sees.sum() == 64
    other = config.model_copy(update={"grid": config.grid.model_copy(update={"cell_m": 2.0})})
    with pytest.raises(BaselineError, match="its grid is not the model's"):
        read_truth(voxels, frame, other)


def test_a_table_of_the_lone_drone_and_the_swarm(config: Config, voxels: Path, tmp_path: Path) -> None:
    table = compare_voxels(config, voxels, ["none", "early"], tmp_path / "out", progress=silent)
    assert [line.split(" | ")[0] for line in table.splitlines()[2:]] == ["| none", "| early"]
    rows = json.loads((tmp_path / "out/voxels.json").read_text("utf-8"))["rows"]
    assert rows["none"]["bytes_per_frame"] == 0 < rows["early"]["bytes_per_frame"]
    assert rows["none"]["all"]["miou"]["low"] <= rows["none"]["all"]["miou"]["value"]
    assert "more" in rows["early"]["all"]
    model = tmp_path / "out/none/voxels.pt"
    stamp = model.stat().st_mtime_ns
    assert compare_voxels(config, voxels, ["none", "early"], tmp_path / "out", progress=silent) == table
    assert model.stat().st_mtime_ns == stamp
    longer = config.model_copy(update={"training": config.training.model_copy(update={"steps": 5})})
    with pytest.raises(BaselineError, match="belongs to another configuration"):
        compare_voxels(longer, voxels, ["none"], tmp_path / "out", progress=silent)
