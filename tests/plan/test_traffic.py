from uavsim.config.dataset import Blueprints, Traffic
from uavsim.ingredients.traffic.plan import RENAMED, UAV3D_CARS, blueprints, traffic_plan


def test_uav3ds_seventeen_cars_by_todays_names():
    cars = blueprints(("uav3d",))
    assert len(UAV3D_CARS) == len(set(UAV3D_CARS)) == len(cars) == 17
    assert not set(cars) & set(RENAMED)
    assert {"vehicle.lincoln.mkz_2017", "vehicle.ford.mustang", "vehicle.audi.a2"} <= set(cars)


def test_groups_lists_and_old_names():
    assert blueprints(("all",)) == ()
    assert blueprints(("uav3d", "all")) == ()
    assert blueprints(("vehicle.mustang.mustang", "vehicle.ford.mustang", "vehicle.x.y")) == (
        "vehicle.ford.mustang",
        "vehicle.x.y",
    )


def test_the_towns_number_goes_before_the_data_sets():
    traffic = Traffic(vehicles=60, walkers=3, blueprints=Blueprints(ids=("uav3d",)))
    assert traffic_plan(traffic, vehicles=None).vehicles == 60
    assert traffic_plan(traffic, vehicles=0).vehicles == 0
    assert traffic_plan(traffic, vehicles=9).walkers == 3
