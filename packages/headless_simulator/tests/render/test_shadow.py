"""Shadow maps by themselves: movers' heights are taken off again to the last texel, of a map and of a copy of it."""

import numpy as np
from headless_simulator.render.pack import ModelStore
from headless_simulator.render.raster import model_frames
from headless_simulator.render.shadow import ShadowMaps
from headless_simulator.render.tiles import sort_into_tiles
from headless_simulator.scene import Movers

from .worlds import LIBRARY, city, movers, nobody, traffic

SUN = (30.0, 140.0)


def heights(maps: ShadowMaps, cast: Movers, *, sun_deg: tuple[float, float] = SUN) -> np.ndarray:
    world, models = np.empty((len(cast.model), 3, 4)), ModelStore(LIBRARY).pack(cast.model)
    model_frames(cast.pose, world)
    with maps.of(sun_deg, cast, world, models.place[cast.model], models) as (shown, _):
        return shown.copy()


def maps_of_a_city() -> ShadowMaps:
    return ShadowMaps(sort_into_tiles(city(2)))


def test_movers_drawn_over_each_other_leave_the_town_as_it_was() -> None:
    maps = maps_of_a_city()
    bare = heights(maps, nobody())
    near = np.repeat(traffic(8, blocks=2).pose, 5, axis=0) + np.tile(np.arange(5.0), 8)[:, None] * [
        0.5,
        0.5,
        0,
        0,
        9,
        0,
    ]
    crowd = movers(["vehicle.mitsubishi.fusorosa"] * 40, near)

    crowded = heights(maps, crowd)

    assert (crowded > bare).sum() > 1000
    np.testing.assert_array_equal(heights(maps, nobody()), bare)
    np.testing.assert_array_equal(
        heights(maps, traffic(30, blocks=2)), heights(maps_of_a_city(), traffic(30, blocks=2))
    )


def test_two_ticks_at_once_have_maps_of_their_own() -> None:
    maps, alone = maps_of_a_city(), maps_of_a_city()
    first, second = traffic(30, blocks=2), traffic(30, blocks=2, seed=4)
    world, models = np.empty((len(first.model), 3, 4)), ModelStore(LIBRARY).pack(first.model)
    model_frames(first.pose, world)

    with maps.of(SUN, first, world, models.place[first.model], models) as (shown, _):
        other = heights(maps, second)
        np.testing.assert_array_equal(shown, heights(alone, first))

    np.testing.assert_array_equal(other, heights(alone, second))
    np.testing.assert_array_equal(
        heights(maps, first, sun_deg=(31.0, 140.0)), heights(alone, first, sun_deg=(31.0, 140.0))
    )
