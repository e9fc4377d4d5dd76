"""The obstacles in ``town_configs`` equal the headless towns' tall buildings."""

import pytest
from headless_simulator.scene import TAG, StaticObject
from headless_simulator.towns.load import NAMES, load_town

from tools.town_obstacles import FOLDER, SEED, obstacles_of, with_obstacles
from uavsim.config.load import load
from uavsim.config.town import Obstacle, TownConfig

CONFIGS = {path.stem: load(path, TownConfig).model for path in sorted(FOLDER.glob("*.yaml"))}
FLAT = TownConfig(name="Flat", carla_map="Flat", short_name="flat", x_m=(-50, 50), y_m=(-50, 50))


def one_house(*, yaw_deg: float, top_m: float = 40.0, x_m: float = 0.0) -> list[StaticObject]:
    """Return a building of 20 x 10 m, 8 m north of the origin (y = -8), and a tree of the same height."""
    pose = (x_m, -8.0, 0.0, 0.0, yaw_deg, 0.0)
    return [
        StaticObject(1, "Tower_1", TAG["building"], pose, (x_m, -8.0, top_m / 2), (10.0, 5.0, top_m / 2)),
        StaticObject(2, "Tree_1", TAG["vegetation"], pose, (x_m, -8.0, 25.0), (10.0, 5.0, 25.0)),
    ]


@pytest.mark.parametrize(
    ("yaw_deg", "x_m", "y_m"),
    [(0.0, (-11, 11), (2, 14)), (90.0, (-6, 6), (-3, 19)), (45.0, (-12, 12), (-4, 20))],
)
def test_the_box_around_a_turned_house_is_upright_and_a_metre_wider(yaw_deg, x_m, y_m):
    (obstacle,) = obstacles_of(one_house(yaw_deg=yaw_deg), FLAT)
    assert (obstacle.x_m, obstacle.y_m, obstacle.top_m) == (x_m, y_m, 40)


def test_low_houses_and_houses_out_of_reach_are_none():
    assert obstacles_of(one_house(yaw_deg=0, top_m=30.0), FLAT) == []
    assert obstacles_of(one_house(yaw_deg=0, x_m=80.0), FLAT) == []
    assert len(obstacles_of(one_house(yaw_deg=0, x_m=60.0), FLAT)) == 1  # its wall stands at 50, with a metre around it


def test_what_is_written_is_read_back_and_the_rest_of_the_file_stays():
    text = (FOLDER / "town10hd.yaml").read_text("utf-8")
    none = with_obstacles(text, [])
    assert "obstacles" not in none
    again = with_obstacles(none, CONFIGS["town10hd"].obstacles)
    assert again == text
    assert with_obstacles(again, CONFIGS["town10hd"].obstacles) == again


@pytest.mark.parametrize("name", CONFIGS)
def test_no_obstacle_of_a_town_holds_another(name: str) -> None:
    config = CONFIGS[name]
    assert config.name.lower() == name
    for inner in config.obstacles:
        assert not any(holds(outer, inner) for outer in config.obstacles if outer is not inner), inner.name


def holds(outer: Obstacle, inner: Obstacle) -> bool:
    return (
        outer.x_m[0] <= inner.x_m[0]
        and inner.x_m[1] <= outer.x_m[1]
        and outer.y_m[0] <= inner.y_m[0]
        and inner.y_m[1] <= outer.y_m[1]
        and outer.top_m >= inner.top_m
    )


@pytest.mark.parametrize("name", [name for name, config in CONFIGS.items() if config.carla_map in NAMES])
def test_obstacles_match_the_headless_town(name: str) -> None:
    config = CONFIGS[name]
    expected = obstacles_of(load_town(config.carla_map, seed=SEED).objects, config)
    assert list(config.obstacles) == expected, f"run python -m tools.town_obstacles --write {config.name}"
