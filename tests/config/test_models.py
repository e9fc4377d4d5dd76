"""Refusals of each kind of file beyond types, with explanation and line."""

from typing import Any

import pytest

from uavsim.config.dataset import dataset_config
from uavsim.config.formation import Formation, Keyframe
from uavsim.config.library import kinds
from uavsim.config.load import load
from uavsim.config.routes import Route
from uavsim.errors import ConfigError

ROUTES = "town: T\nroutes:\n  r:\n"
DATASET = "towns: {T: {scenes: 2}}\nformation: cross\nrig: uav3d\n"
TOWN = "name: T\ncarla_map: T\nshort_name: t\n"


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("town", TOWN + "x_m: [5, 1]\ny_m: [0, 9]\n", "from smaller than to"),
        ("town", TOWN + "x_m: [0, 9]\ny_m: [0, 9]\n", "margin_m=5 leaves nothing of a town 9 m across"),
        ("town", TOWN + "x_m: [0, 90]\ny_m: [0, 99]\nstreaming: {actor_active_distance_m: 3001}\n", "do not increase"),
        ("town", TOWN + "x_m: [0]\ny_m: [0, 9]\n", ":4: x_m[1]: the list is too short"),
        (
            "town",
            TOWN + "x_m: [0, 90]\ny_m: [0, 99]\nobstacles:\n- {name: a, x_m: [2, 2], y_m: [0, 1], top_m: 3}\n",
            ":7: obst",
        ),
        ("routes", ROUTES + "    path: []\n", ":3: routes.r: a route has either a path or trajectories"),
        ("routes", ROUTES + "    path: [[1, 2], [1, 2]]\n", "waypoint [1.0, 2.0] is repeated; use hover_s to hover"),
        ("routes", ROUTES + "    path: [[1, 2], [1, 3]]\n    closed: true\n", "needs three waypoints"),
        ("routes", ROUTES + "    path: [[1, 2, 3]]\n", ":4: routes.r.path[0]: the list must have at most 2 items"),
        ("routes", ROUTES + "    path: [{hover_s: 3}]\n", "either a waypoint (at: [x, y]) or an orbit"),
        ("routes", ROUTES + "    path: [{at: [0, 0], orbit: {centre: [0, 0], radius_m: 5}}]\n", "either a waypoint"),
        (
            "routes",
            ROUTES + "    path: [[0, 0], {orbit: {centre: [9, 9], radius_m: 5}}, [5, 0]]\n    closed: true\n",
            "and no orbit",
        ),
        (
            "routes",
            ROUTES + "    path: [[1, 2], {orbit: {centre: [0, 0], radius_m: -1}}]\n",
            "radius_m: must be greater than 1",
        ),
        ("routes", ROUTES + "    path: [[1, 2], {at: [1, 200000]}]\n", "must be less than or equal to 100000"),
        ("routes", "town: T\nroutes:\n  ../r: {path: [[1, 2]]}\n", ":3: routes.../r: '../r' is not a name"),
        (
            "dataset",
            DATASET + "captures: {clip: {fps: 16, frames: 93}}\n",
            "frames=93 at fps=16 does not end on a keyframe: keyframe_s=0.5 makes one every 8 frames; set frames to 89 or 97",
        ),
        ("dataset", DATASET + "captures: {clip: {fps: 16, frames: 93}}\nkeyframe_s: .nan\n", ":5: keyframe_s: "),
        (
            "dataset",
            DATASET + "captures: {clip: {fps: 16, frames: 93}}\nkeyframe_s: 1e-300\n",
            "keyframe_s=1e-300 is shorter than a frame of captures.clip: fps=16",
        ),
        ("dataset", DATASET + "captures: {clip: {fps: 15, frames: 93}}\n", ":4: captures.clip.fps: unknown value 15"),
        (
            "dataset",
            DATASET + "captures: {clip: {fps: 16, frames: 97}}\nsamples: 4\n",
            "sets samples to 13; leave out samples",
        ),
        ("formation", "drones: 33\nshape: cross\n", ":1: drones: must be less than or equal to 32, got 33"),
        ("formation", "drones: 3\nshape: crss\n", ":2: shape: unknown value 'crss'; did you mean 'cross'?"),
        ("formation", "drones: 3\n", "give either shape or keyframes"),
        ("formation", "shape: vee\nkeyframes: [{time_s: 0, shape: line}]\n", "give either shape or keyframes"),
        ("formation", "shape: free\n", "shape free needs offsets_m"),
        ("formation", "shape: vee\noffsets_m: [[0, 0, 0]]\n", "shape free needs offsets_m; other shapes exclude it"),
        ("formation", "drones: 3\nshape: free\noffsets_m: [[0, 0, 0]]\n", "offsets_m has 1 positions for 3 drones"),
        (
            "formation",
            "drones: 3\nshape: cross\naltitude_offsets_m: [1, 2]\n",
            "altitude_offsets_m has 2 numbers for 3 drones",
        ),
        (
            "formation",
            "keyframes:\n- {time_s: 2, shape: line}\n- {time_s: 2, shape: vee}\n",
            "at least 0.1 s apart",
        ),
        ("formation", "shape: line\ncolumns: 3\n", "columns is allowed only with shape grid"),
        ("rig", "cameras: {}\n", "cameras: must have at least 1 item"),
        ("rig", "cameras: {front: {}}\n", "'front' is not a camera's name: A-Z, 0-9 and _ only"),
        ("rig", "cameras:\n  F: {fov_deg: 180}\n", ":2: cameras.F.fov_deg: must be less than or equal to 170"),
        ("rig", "cameras: {F: {sensors: [rgb, rgbd]}}\n", "sensors[1]: unknown sensor 'rgbd'; did you mean 'rgb'?"),
        (
            "rig",
            "sensors: [rgb, depth]\ncameras: {F: {}}\n",
            "camera F lacks the sensor 'instance': labels are counted",
        ),
        ("rig", "cameras: {F: {sensors: [instance]}}\n", "camera F lacks the sensor 'rgb': its image is the channel's"),
        (
            "rig",
            "sensors: [rgb, instance, lidar]\ncameras: {F: {}}\n",
            "a lidar is not a sensor of a camera: add the",
        ),
        ("rig", "cameras: {F: {}}\nlidar: {upper_fov_deg: -90}\n", "upper_fov_deg=-90 is not above lower_fov_deg=-90"),
        ("rig", "cameras: {F: {}}\nlidar: {chanels: 3}\n", ":2: lidar.chanels: unknown key; did you mean 'channels'?"),
        ("rig", "sensors: [rgb, rgb]\ncameras: {F: {}}\n", "camera F names a sensor twice"),
        ("weather", "cloudiness: 101\n", ":1: cloudiness: must be less than or equal to 100, got 101"),
        ("weather", "from: {}\n", "a change needs both from and to"),
        ("weather", "from: {}\nto: {}\ncloudiness: 3\n", "cloudiness must be inside from and to"),
        ("weather", "from: {}\nto: {}\nstart_s: 3\nend_s: 3\n", "end_s=3 is not after start_s=3"),
        ("weather", "from_: {}\nto: {}\n", ":1: from_: unknown key; did you mean 'from'?"),
        ("weather", "clouds: 3\n", ":1: clouds: unknown key; did you mean 'cloudiness'?"),
        ("dataset", DATASET + "keyframe_s: 0.52\n", "keyframe_s=0.52 is not a multiple of step_s=0.05"),
        ("dataset", DATASET + "keyframe_s: 1e-300\n", "keyframe_s=1e-300 is not a multiple of step_s=0.05"),
        ("dataset", DATASET + "sweeps_per_keyframe: 2\n", "does not divide the 10 steps of a keyframe evenly"),
        ("dataset", DATASET + "step_s: 0.0123456\nkeyframe_s: 0.0123456\n", "is not a whole number of microseconds"),
        ("dataset", DATASET + "splits: {rest: val}\n", "reserves the split name 'val'; use uav_val"),
        ("dataset", DATASET + "splits: {rule: uav3d, rest: uav_train}\n", "give either rule, or scenes and rest"),
        ("dataset", DATASET + "weather: {cycle: [a], draw: {b: 1}}\n", "give one name, or cycle"),
        ("dataset", DATASET + "weather: {draw: {a: 0}}\n", "weather.draw.a: must be greater than 0"),
        ("dataset", DATASET + "altitude_m: {cycle: [40, -1]}\n", "altitude_m.cycle[1]: must be greater than 0"),
        ("dataset", DATASET + "altitude_m: high\n", ":4: altitude_m: must hold keys and values, got 'high'"),
        (
            "dataset",
            DATASET + "traffic: {blueprints: [vehicle.audi.a2, bus]}\n",
            "blueprints[1]: 'bus' is not a vehicle blueprint",
        ),
        ("dataset", DATASET + "towns_: {}\n", ":4: towns_: unknown key; did you mean 'towns'?"),
        (
            "dataset",
            "towns: {T: {scenes: 3, most_scenes: 2}}\nformation: a\nrig: b\n",
            "most_scenes=2 is less than scenes=3",
        ),
    ],
)
def test_refused(tmp_path, kind, text, message):
    path = tmp_path / "some.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load(path, kinds()[kind])
    assert message in str(caught.value)


def test_short_forms():
    dataset: Any = kinds()["dataset"].model_validate(
        {
            "towns": {"T": {"scenes": 1}},
            "formation": "cross",
            "rig": "r",
            "altitude_m": 40,
            "traffic": {"blueprints": ("uav3d", "vehicle.audi.a2")},
        }
    )
    assert dataset.formation.names == ("cross",)
    assert dataset.altitude_m.fixed == 40
    assert dataset.block("traffic").blueprints.ids == ("uav3d", "vehicle.audi.a2")
    routes: Any = kinds()["routes"].model_validate({"town": "T", "routes": {"r": {"path": ((1, 2), {"at": (3, 4)})}}})
    route = routes.routes["r"]
    assert [item.at for item in route.path] == [(1, 2), (3, 4)]


@pytest.mark.parametrize(
    ("clip", "keyframe_s", "time"),
    [
        ("fps: 16, frames: 93", 0.25, (0.0625, 0.25, 3, 24)),
        ("fps: 10, frames: 101", 0.5, (0.05, 0.5, 4, 21)),
        ("fps: 24, frames: 25", 0.5, (0.041667, 0.500004, 11, 3)),
        ("fps: 30, frames: 61", 0.5, (0.033333, 0.499995, 14, 5)),
    ],
)
def test_a_clip_decides_when_images_are_taken(tmp_path, clip, keyframe_s, time):
    (tmp_path / "d.yaml").write_text(f"{DATASET}captures: {{clip: {{{clip}}}}}\nkeyframe_s: {keyframe_s}\n")
    model = load(tmp_path / "d.yaml", dataset_config()).model
    assert (model.step_s, model.keyframe_s, model.sweeps_per_keyframe, model.samples) == time


def test_formation_lists_its_shapes():
    still = Formation(shape="grid", columns=3, spacing_m=7)
    assert [(shape.shape, shape.columns, shape.spacing_m) for shape in still.shapes] == [("grid", 3, 7)]
    changing = Formation(keyframes=(Keyframe(time_s=0, shape="line"), Keyframe(time_s=4, shape="vee")))
    assert [shape.shape for shape in changing.shapes] == ["line", "vee"]


def test_route_may_return_to_a_waypoint():
    route = Route.model_validate({"path": [[0, 0], [5, 0], [0, 0]]}, strict=False)
    assert [item.at for item in route.path] == [(0, 0), (5, 0), (0, 0)]
