"""The YAML that a data set was made from is kept with it: from another folder, and without the files, it is found again."""

import json
from pathlib import Path

import pytest

from uavsim.config.kept import KEPT
from uavsim.config.library import packaged_root
from uavsim.errors import ConfigError
from uavsim.flows.context import prepared
from uavsim.flows.overview import overview
from uavsim.flows.regenerate import request_of_folder
from uavsim.flows.request import Request
from uavsim.flows.resolve import resolve
from uavsim.records.codec import pack_plan
from uavsim.store.identity import claim_output, keep_configuration
from uavsim.store.local import LocalOutput


@pytest.fixture
def begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, bytes]:
    """A data set of YAML files that name one another by relative paths, whose folder is gone since, and its first plan."""
    plans = packaged_root() / "flight_plans"
    theirs = tmp_path / "theirs"
    (theirs / "parts").mkdir(parents=True)
    text = (plans / "datasets/smoke.yaml").read_text()
    rig = next(line for line in text.splitlines() if line.startswith("rig:"))
    name = rig.partition(":")[2].split("#")[0].strip()
    (theirs / "parts/rig.yaml").write_text((plans / f"rigs/{name}.yaml").read_text())
    (theirs / "my.yaml").write_text(text.replace(rig, "rig: parts/rig.yaml"))
    (theirs / "arrow.yaml").write_text((plans / "formations/cross.yaml").read_text())
    monkeypatch.chdir(theirs)
    out = tmp_path / "out"
    job = resolve(Request(dataset="my.yaml", out=str(out), towns=("Town10HD",), scenes="0", formation="arrow.yaml"))
    claim_output(LocalOutput(out), identity=job.identity)
    keep_configuration(LocalOutput(out), job.kept)
    plan = pack_plan(job.plan_of(job.scenes[0].name))
    monkeypatch.chdir(tmp_path)
    theirs.rename(tmp_path / "gone")
    return out, plan


def test_regenerate_and_status_find_it(begun: tuple[Path, bytes]) -> None:
    out, plan = begun
    job = resolve(request_of_folder(out, scenes="0", simulators=(), run=None))
    assert pack_plan(job.plan_of(job.scenes[0].name)) == plan
    assert job.identity["fingerprint"] == json.loads((out / ".uavsim/dataset.json").read_text())["fingerprint"]
    assert overview(str(out)).missing


def test_the_same_command_goes_on_elsewhere(begun: tuple[Path, bytes]) -> None:
    out, plan = begun
    request = Request(dataset="my.yaml", out=str(out), towns=("Town10HD",), scenes="0", formation="arrow.yaml")
    job = prepared(request).job
    assert pack_plan(job.plan_of(job.scenes[0].name)) == plan
    with pytest.raises(ConfigError, match=r"other\.yaml: no such file"):
        prepared(request.model_copy(update={"dataset": "other.yaml"}))


@pytest.mark.parametrize("text", ["{", "[]", '{"format": "uavsim-configuration-1", "files": 3}', "[" * 200_000, "null"])
def test_a_damaged_configuration_is_one_line(begun: tuple[Path, bytes], text: str) -> None:
    out, _ = begun
    (out / ".uavsim" / KEPT).write_text(text)
    with pytest.raises(ConfigError) as caught:
        resolve(request_of_folder(out, scenes="0", simulators=(), run=None))
    assert "\n" not in str(caught.value)
    assert "--dataset" in str(caught.value)
    assert overview(str(out)).missing is None
