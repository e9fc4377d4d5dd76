"""Implausible boxes and cameras."""

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from uavsim.validate import shapes
from uavsim.validate.dataset import DataSet, FindingPlace
from uavsim.validate.evidence import Evidence


@pytest.mark.parametrize(("leans_deg", "found"), [(0.0, 1), (7.7, 0)])
def test_a_car_on_a_hill_stands_on_the_ground_of_those_above_it(leans_deg: float, found: int) -> None:
    """The road rises by 0.3: the nearest other cars are 7.5 m further and 2.3 m higher, as in Town07."""
    along_m = np.array([0.0, *np.linspace(7.5, 12, 11)])
    centre_m = np.stack([along_m, 0 * along_m, 0.305 * along_m], axis=1)
    rotation = np.tile(np.eye(3), (12, 1, 1))
    rotation[0] = Rotation.from_euler("y", -leans_deg, degrees=True).as_matrix()
    data = {"sample_annotation": Columns([f"box {n}" for n in range(12)])}
    boxes = SimpleNamespace(centre_m=centre_m, bottom_z_m=centre_m[:, 2], rotation=rotation)
    evidence = SimpleNamespace(data=Places(data), boxes=boxes)
    findings = list(shapes._ground_of_town(cast(Evidence, evidence), np.arange(12)))
    assert [f.numbers["token"] for f in findings] == ["box 0"] * found


@pytest.mark.parametrize(("towns", "found"), [(["A", "A", "A"], 1), (["A", "B", "C"], 0)])
def test_a_part_of_a_town_has_the_size_of_that_towns_part_of_this_name(towns: list[str], found: int) -> None:
    rows = np.arange(3)
    annotations = {"uav_blueprint": ["environment.ParkedVehicle_0001"] * 3}
    tables = {
        "sample_annotation": annotations,
        "scene": {"log_token": rows},
        "log": {"location": towns},
        "instance": Columns(["one", "two", "three"]),
    }
    data = cast(DataSet, Places(tables))
    size = np.array([[4.0, 2.0, 1.5], [4.0, 2.0, 1.5], [4.5, 2.0, 1.5]])
    findings = list(shapes._against_blueprint(data, shapes._blueprint_numbers(data), size))
    assert len(findings) == found


class Columns(dict[str, np.ndarray]):
    def __init__(self, tokens: list[str]) -> None:
        super().__init__(instance_token=np.arange(len(tokens)))
        self.tokens = tokens


class Places(dict[str, Any]):
    scene_of_annotation = np.arange(3)

    def locate(self, table: str, row: int) -> FindingPlace:
        return {"scene": f"scene of {table} {row}"}

    def annotation_place(self, row: int) -> FindingPlace:
        return {"scene": f"scene of box {row}"}
