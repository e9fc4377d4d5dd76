import pytest

from uavsim.config.library import packaged_root
from uavsim.errors import InputError
from uavsim.plan.check import check_paths
from uavsim.plan.numbering import town_scenes
from uavsim.plan.scenes import DatasetPlanner

ROOT = packaged_root()
DATASETS = sorted(path.stem for path in (ROOT / "flight_plans/datasets").glob("*.yaml"))
MOST_SCENES, MOST_SAMPLES = (
    25,
    5000,
)  # scenes of a town: each route of the paper's datasets once, and four of AOT's long flights


@pytest.mark.release
@pytest.mark.timeout(1200)
def test_all_packaged_files_are_valid():
    """All files are valid, and all datasets plan their scenes in all towns."""
    findings = check_paths([ROOT / "flight_plans", ROOT / "town_configs"])
    assert [f.error for f in findings if f.error] == []
    kinds = {f.kind for f in findings}
    assert {"dataset", "formation", "rig", "routes", "town", "weather"} <= kinds


def test_every_file_but_datasets_is_good():
    files = [path for name in ("flight_plans", "town_configs") for path in (ROOT / name).rglob("*.yaml")]
    findings = check_paths([path for path in files if path.parent.name != "datasets"])
    assert [f.error for f in findings if f.error] == []
    assert {"formation", "rig", "routes", "town", "weather"} <= {f.kind for f in findings}


@pytest.mark.parametrize("name", DATASETS)
def test_scenes_of_a_dataset_are_planned_in_every_town(name):
    planner = DatasetPlanner.open(name)
    for town in planner.dataset.model.towns:
        numbers = town_scenes(planner.dataset, town).numbers
        count = min(MOST_SCENES, MOST_SAMPLES // planner.dataset.model.samples)
        some = numbers[:: -(-len(numbers) // count)]
        assert sum(1 for _ in planner.plans(town, some)) == len(some)


@pytest.fixture
def one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def one(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        (finding,) = check_paths([path])
        return finding

    return one


@pytest.mark.parametrize(
    ("name", "text", "error"),
    [
        ("formations/a.yaml", "shape: cross\nspacing_m: 2\n", "a.yaml:2: spacing_m: drones 0 and 1 come within 2.00 m"),
        (
            "formations/a.yaml",
            "drones: 2\nkeyframes:\n- {time_s: 0, shape: free, offsets_m: [[0, 0, 0], [20, 0, 0]]}\n"
            "- {time_s: 4, shape: free, offsets_m: [[20, 0, 0], [0, 0, 0]]}\n",
            "formations/a.yaml:2: keyframes: drones 0 and 1 come within 0.00 m of each other at 2.00 s",
        ),
        ("weather/a.yaml", "preset: Clearnoon\n", "a.yaml:1: preset: CARLA has no preset 'Clearnoon'; did you mean"),
        ("flight_plans/a.yaml", "town: Town3\nroutes: {r: {path: [[0, 0]]}}\n", "a.yaml:1: town: unknown town 'Town3'"),
        (
            "flight_plans/a.yaml",
            "town: Town03\nroutes:\n  r: {path: [[0, 0], [900, 0]]}\n",
            "a.yaml:3: routes.r: reaches x=250.1 y=0.0, outside Town03",
        ),
        (
            "datasets/a.yaml",
            "towns: {Town03: {scenes: 1}}\nformation: crss\nrig: uav3d\n",
            "a.yaml:2: formation: unknown formation",
        ),
        (
            "runs/a.yaml",
            "dataset: smok\nout: x\n",
            "runs/a.yaml:1: dataset: unknown dataset 'smok'; did you mean 'smoke'?",
        ),
        ("elsewhere/a.yaml", "shape: cross\n", "elsewhere/a.yaml:1: unknown kind of file: put it into"),
        (
            "a.yaml",
            "# yaml-language-server: $schema=x/formatoin.json\n",
            "a.yaml:1: there is no schema formatoin.json; did you",
        ),
    ],
)
def test_wrong_files_are_reported(one, name, text, error):
    found = one(name, text).error
    assert error in found
    assert "\n" not in found


def test_kinds_by_comment(one):
    finding = one("elsewhere/a.yaml", "# yaml-language-server: $schema=../.schemas/rig.json\ncameras: {F: {}}\n")
    assert (finding.kind, finding.error) == ("rig", None)


def test_good_files(one):
    assert one("formations/a.yaml", "shape: vee\n").error is None
    assert one("runs/a.yaml", "dataset: smoke\ntowns: [Town10HD]\n").error is None
    assert one("datasets/a.yaml", "towns: {Town03: {scenes: 1}}\nformation: cross\nrig: uav3d\n").error is None


def test_missing_paths_are_refused(tmp_path):
    with pytest.raises(InputError, match="no such file or folder"):
        check_paths([tmp_path / "none"])
    with pytest.raises(InputError, match="holds no YAML file"):
        check_paths([tmp_path])
