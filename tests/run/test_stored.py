"""A dataset stores its YAML, so that commands work from another folder and without the original files."""

import json
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from uavsim.cli import build_app
from uavsim.config.library import packaged_root
from uavsim.config.stored import CONFIG_FILE
from uavsim.errors import ConfigError, InputError
from uavsim.records.codec import pack_plan
from uavsim.run.context import prepared
from uavsim.run.intent import intent_of
from uavsim.run.overview import overview
from uavsim.run.regenerate import request_of_folder
from uavsim.run.request import Request
from uavsim.run.resolve import resolve
from uavsim.store.identity import claim_output, keep_configuration
from uavsim.store.ledger import LedgerEntry, write_entry
from uavsim.store.local import LocalOutput


def copied(folder: Path, rig: str) -> Path:
    """Copy the dataset ``smoke`` as ``my.yaml`` with its rig at the path ``rig``; return that of the rig."""
    plans = packaged_root() / "flight_plans"
    text = (plans / "datasets/smoke.yaml").read_text()
    named = next(line for line in text.splitlines() if line.startswith("rig:"))
    path = folder / rig
    path.parent.mkdir(parents=True)
    path.write_text((plans / f"rigs/{named.partition(':')[2].split('#')[0].strip()}.yaml").read_text())
    (folder / "my.yaml").write_text(text.replace(named, f"rig: {rig}"))
    return path


@pytest.fixture
def begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, bytes]:
    """Return a dataset of YAML files with relative paths, after removal of their folder, and its first plan."""
    user_folder = tmp_path / "theirs"
    copied(user_folder, "parts/rig.yaml")
    (user_folder / "arrow.yaml").write_text((packaged_root() / "flight_plans/formations/cross.yaml").read_text())
    monkeypatch.chdir(user_folder)
    out = tmp_path / "out"
    job = resolve(Request(dataset="my.yaml", out=str(out), towns=("Town10HD",), scenes="0", formation="arrow.yaml"))
    claim_output(LocalOutput(out), identity=job.identity)
    keep_configuration(LocalOutput(out), job.configuration)
    write_entry(LocalOutput(out), LedgerEntry(job.scenes[0].name, "quarantined", index=0, town="Town10HD"))
    plan = pack_plan(job.plan_of(job.scenes[0].name))
    monkeypatch.chdir(tmp_path)
    user_folder.rename(tmp_path / "gone")
    return out, plan


def test_regenerate_and_status_use_the_kept_configuration(begun: tuple[Path, bytes]) -> None:
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


@pytest.fixture
def flown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Request, Path]:
    """The request of a dataset with scenes 0 and 1, both committed, and the rig that it names."""
    rig = copied(tmp_path / "theirs", "rig.yaml")
    monkeypatch.chdir(rig.parent)
    out = LocalOutput(tmp_path / "out")
    request = Request(dataset="my.yaml", out=str(out.root), towns=("Town10HD",), scenes="0-1", samples=2)
    job = resolve(request)
    claim_output(out, identity=job.identity)
    keep_configuration(out, job.configuration)
    for scene in job.scenes:
        digest = job.plans[scene.name].digest
        write_entry(out, LedgerEntry(scene.name, "committed", index=scene.index, town=scene.town, plan_sha256=digest))
    return request, rig


def wider(rig: Path) -> None:
    text = rig.read_text()
    width = next(line for line in text.splitlines() if line.startswith("width_px:"))
    rig.write_text(text.replace(width, "width_px: 402"))


@pytest.mark.parametrize("scenes", ["0", "0-1", "2"])
def test_scenes_of_an_edited_rig_are_not_mixed_with_old_ones(flown: tuple[Request, Path], scenes: str) -> None:
    request, rig = flown
    wider(rig)
    with pytest.raises(InputError, match=r"another rig.yaml \(width_px: \d+ in the dataset, 402 now\)") as caught:
        prepared(request.model_copy(update={"scenes": scenes}))
    assert "--force-scenes" in str(caught.value)
    with pytest.raises(InputError, match="started with another"):
        intent_of(request)


def test_only_all_scenes_together_may_be_flown_again_with_an_edited_rig(flown: tuple[Request, Path]) -> None:
    request, rig = flown
    wider(rig)
    forced = request.model_copy(update={"force": True})
    ready = prepared(forced)
    assert intent_of(forced).replaced == ("scene_0000", "scene_0001")
    with pytest.raises(InputError, match="scene_0001 was flown with it"):
        prepared(forced.model_copy(update={"scenes": "0"}))
    keep_configuration(ready.output, ready.job.configuration)
    assert "width_px: 402" in (ready.output.root / ".uavsim" / CONFIG_FILE).read_text()


def test_a_damaged_configuration_stops_a_run_and_says_what_to_do(flown: tuple[Request, Path]) -> None:
    request, _ = flown
    configuration_file = Path(request.out or "") / ".uavsim" / CONFIG_FILE
    configuration_file.write_text("{")
    with pytest.raises(InputError, match=r"configuration\.json is damaged.*or move it away if nothing was"):
        prepared(request)
    configuration_file.unlink()
    assert intent_of(request).unchanged == ("scene_0000", "scene_0001")


def test_a_comment_or_a_description_is_no_edit(flown: tuple[Request, Path]) -> None:
    request, rig = flown
    rig.write_text(f"# new\n{rig.read_text()}\n")
    assert intent_of(request).unchanged == ("scene_0000", "scene_0001")


def test_a_scene_with_a_changed_plan_is_reported_as_replaced(flown: tuple[Request, Path]) -> None:
    request, _ = flown
    out = LocalOutput(Path(request.out or ""))
    write_entry(out, LedgerEntry("scene_0001", "committed", index=1, town="Town10HD", plan_sha256="of another version"))
    reported = intent_of(request)
    assert (reported.unchanged, reported.replaced) == (("scene_0000",), ("scene_0001",))
    assert reported.to_fly == ("scene_0001",)


def test_regenerate_of_a_scene_never_flown_names_the_command_that_adds_it(flown: tuple[Request, Path]) -> None:
    request, _ = flown
    out = Path(request.out or "")
    with pytest.raises(InputError, match=r"has no scene 2-3,7 to fly again; add it with ") as caught:
        request_of_folder(out, scenes="1-3,7", simulators=(), run=None)
    words = shlex.split(str(caught.value).partition("add it with ")[2])
    done = CliRunner().invoke(build_app(words[1]), [*words[1:], "--dry-run", "--json"], catch_exceptions=False)
    added = json.loads(done.output)
    assert (added["samples"], added["scenes"]) == (2, {"Town10HD": ["scene_0002", "scene_0003", "scene_0007"]})


def test_another_dataset_in_the_folder_is_reported_with_the_differences(flown: tuple[Request, Path]) -> None:
    request, _ = flown
    with pytest.raises(InputError, match=r"holds another dataset .* samples: 2 in the dataset, 3 now"):
        prepared(request.model_copy(update={"samples": 3}))


def test_a_configuration_holds_no_commands(begun: tuple[Path, bytes]) -> None:
    out, _ = begun
    configuration_file = out / ".uavsim" / CONFIG_FILE
    value = json.loads(configuration_file.read_text())
    value["files"]["dataset:my.yaml"][1] += "\nsimulators: [{kind: command, command: [touch, /x]}]\n"
    configuration_file.write_text(json.dumps(value))
    with pytest.raises(ConfigError, match="simulators"):
        resolve(request_of_folder(out, scenes="0", simulators=(), run=None))


@pytest.mark.parametrize("text", ["{", "[]", '{"format": "uavsim-configuration-1", "files": 3}', "[" * 200_000, "null"])
def test_a_damaged_configuration_is_one_line(begun: tuple[Path, bytes], text: str) -> None:
    out, _ = begun
    (out / ".uavsim" / CONFIG_FILE).write_text(text)
    with pytest.raises(ConfigError) as caught:
        resolve(request_of_folder(out, scenes="0", simulators=(), run=None))
    assert "\n" not in str(caught.value)
    assert "--dataset" in str(caught.value)
    assert overview(str(out)).missing is None
