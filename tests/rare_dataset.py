"""A synthetic street with a bicycle on a car's roof and a cone beside it, as a dataset on disk."""

from pathlib import Path

from tests.dataset_factory import make_dataset
from tools.common.factories import Mover, street
from uavsim.ingredients.corner_cases.case_plans import CasePart, CornerCasePlan, CornerCasesPlan, TagWords, role_of_part

NOWHERE = (0.0, 0.0, 0.0)
CASES = CornerCasesPlan(
    source="street",
    seed=1,
    cases=(
        CornerCasePlan(
            name="roof_bicycle",
            tag="bicycle_on_car_roof",
            on="lane",
            facing="along",
            clearance_m=1.0,
            min_visible_px=30,
            parts=(
                CasePart("vehicle.audi.etron", "bicycle_on_car_roof", NOWHERE, NOWHERE, (2.4, 1.0, 0.8)),
                CasePart("static.prop.mesh", "bicycle_on_car_roof", (0.0, 0.0, 1.64), NOWHERE, (0.9, 0.3, 0.52)),
                CasePart("static.prop.trafficcone01", "traffic_cone", (-4.0, 0.0, 0.0), NOWHERE, (0.17, 0.17, 0.29)),
            ),
            attributes={"state": "parked"},
        ),
    ),
    words={
        "bicycle_on_car_roof": TagWords(("roof_bike",), ("car", "vehicle"), {"nuscenes": False, "kitti": False}),
        "traffic_cone": TagWords((), (), {"nuscenes": True, "kitti": False}),
        "car": TagWords((), (), {"nuscenes": True, "kitti": True}),
    },
    in_domain={"nuscenes": True, "kitti": False},
)


def movers() -> list[Mover]:
    roles = [{"role_name": role_of_part(0, k)} for k in range(3)]
    return [
        street()[0],
        Mover("vehicle.audi.etron", "car", 14, (2.428, 1.016, 0.825), (0.0, 0.0, 0.825), (-3.0, 3.0, 0.0),
              (0.0, 0.0, 30.0), attributes=roles[0]),
        Mover("static.prop.mesh", "", 21, (0.9, 0.3, 0.52), (0.0, 0.0, 0.52), (-3.0, 3.0, 1.65), (0.0, 0.0, 30.0),
              kind="prop", attributes=roles[1]),
        Mover("static.prop.trafficcone01", "", 21, (0.6, 0.6, 0.9), (0.0, 0.0, 0.9), (-6.5, 1.0, 0.6),
              (0.0, 90.0, 30.0), kind="prop", attributes=roles[2]),
    ]  # fmt: skip


def make_rare(root: Path, *, cameras: tuple[str, ...] = ("FRONT", "BOTTOM")) -> Path:
    """Make a strict dataset of one scene."""
    return make_dataset(
        root,
        scenes=1,
        samples=2,
        sweeps=0,
        drones=1,
        cameras=cameras,
        size_px=(400, 225),
        movers=movers(),
        corner_cases=CASES,
    )
