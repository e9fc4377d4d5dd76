from collections import Counter

from headless_simulator.models.catalogue import VEHICLES, WALKERS

UAV3D_CARS = (
    "audi.a2", "audi.etron", "audi.tt", "bmw.grandtourer", "chevrolet.impala", "citroen.c3", "dodge.charger_police",
    "jeep.wrangler_rubicon", "lincoln.mkz_2017", "mercedes.coupe", "mini.cooper_s", "ford.mustang", "nissan.micra",
    "nissan.patrol", "seat.leon", "tesla.model3", "toyota.prius",
)  # fmt: skip


def test_catalogue_equals_carla_0_9_16() -> None:
    kinds = Counter(spec.base_type for spec in VEHICLES.values())

    assert kinds == {"car": 25, "truck": 4, "van": 4, "bus": 1, "motorcycle": 4, "bicycle": 3}
    assert len(WALKERS) == 51
    assert min(WALKERS) == "walker.pedestrian.0001"
    assert max(WALKERS) == "walker.pedestrian.0051"
    assert all(VEHICLES[f"vehicle.{name}"].base_type == "car" for name in UAV3D_CARS)


def test_two_wheels_are_reported_as_two() -> None:
    for spec in VEHICLES.values():
        assert (spec.wheels == 2) == (spec.base_type in ("motorcycle", "bicycle"))
