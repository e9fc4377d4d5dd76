"""Shadow maps of a town with the movers of a tick."""

import numpy as np
from headless_simulator.render.pack import ModelStore
from headless_simulator.render.raster import model_frames
from headless_simulator.render.shadow import ShadowMaps
from headless_simulator.render.tiles import sort_into_tiles
from headless_simulator.scene import Movers

from .worlds import LIBRARY, city, movers, no_movers, traffic

SUN = (30.0, 140.0)


def heights(maps: ShadowMaps, cast: Movers, *, sun_deg: tuple[float, float] = SUN) -> np.ndarray:
    world, models = np.empty((len(cast.model), 3, 4)), ModelStore(LIBRARY).pack(cast.model)
    model_frames(cast.pose, world)
    return maps.of(sun_deg, cast, world, models.row_of_model[cast.model], models)[0]


def maps_of_a_city() -> ShadowMaps:
    return ShadowMaps(sort_into_tiles(city(2)))


def test_overlapping_movers_do_not_change_the_town_map() -> None:
    maps = maps_of_a_city()
    bare = heights(maps, no_movers())
    apart = np.tile(np.arange(5.0), 8)[:, None] * [0.5, 0.5, 0, 0, 9, 0]
    near = np.repeat(traffic(8, blocks=2).pose, 5, axis=0) + apart
    crowd = movers(["vehicle.mitsubishi.fusorosa"] * 40, near)

    crowded = heights(maps, crowd)

    assert (crowded > bare).sum() > 1000
    np.testing.assert_array_equal(heights(maps, no_movers()), bare)
    np.testing.assert_array_equal(
        heights(maps, traffic(30, blocks=2)), heights(maps_of_a_city(), traffic(30, blocks=2))
    )


def test_next_tick_does_not_change_the_map_in_use() -> None:
    maps, alone = maps_of_a_city(), maps_of_a_city()
    first, second = traffic(30, blocks=2), traffic(30, blocks=2, seed=4)

    texels = heights(maps, first)
    np.testing.assert_array_equal(heights(maps, second), heights(alone, second))

    np.testing.assert_array_equal(texels, heights(alone, first))
    np.testing.assert_array_equal(
        heights(maps, first, sun_deg=(31.0, 140.0)), heights(alone, first, sun_deg=(31.0, 140.0))
    )
