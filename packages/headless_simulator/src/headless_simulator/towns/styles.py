"""Styles of a town's land: colours, and density of buildings and plants."""

from dataclasses import dataclass, field, replace
from typing import Final

from headless_simulator.towns.triangle_soup import RGB

GRASS: Final[RGB] = (92, 116, 62)
DRY_GRASS: Final[RGB] = (132, 130, 78)
PAVING: Final[RGB] = (142, 138, 130)


@dataclass(frozen=True, slots=True)
class Style:
    """A kind of town.

    Attributes:
        land: "paved" blocks, "lawn" or "fields" off the roads.
        verge_rgb: colour of the strip beside roads.
        hills_m: height of the hills away from roads.
        mountains_m: height of the mountains beyond the open land, 0 for a plain.
        front: building kinds along streets with their frequency; see ``buildings.KINDS``.
        plot_m: range of a building's length along the street.
        setback_m: range of the distance from the road's outer edge.
        filled: share of the street front with buildings.
        rows: number of rows of buildings.
        street_trees_m: spacing of trees along streets, 0 for none.
        trees_per_ha: scattered trees on open land.
        woods: share of the open land that is wooded.
        conifers: share of spruces among the trees of the open land.
        lawns_per_ha: attempts to place lawns per hectare and size.
        lamps_m: spacing of lamp posts, 0 for none.
        parked: share of occupied parking places.
        spawn_points: number of spawn points.
        outskirts: "city", "houses" or "none", beyond the roads to the horizon.
        parks_m: (x, y, radius) of parks, Unreal's axes.
        hydrants: whether sidewalks have street furniture.
        river_m: (x, y) points of a river's centre line, Unreal's axes; empty without a river.
    """

    land: str = "paved"
    verge_rgb: RGB = PAVING
    hills_m: float = 0.0
    mountains_m: float = 0.0
    front: dict[str, float] = field(default_factory=lambda: {"tower": 0.3, "block": 0.5, "shop": 0.2})
    plot_m: tuple[float, float] = (18.0, 34.0)
    setback_m: tuple[float, float] = (0.5, 2.5)
    filled: float = 0.92
    rows: int = 2
    street_trees_m: float = 13.0
    trees_per_ha: float = 10.0
    woods: float = 0.0
    conifers: float = 0.3
    lawns_per_ha: float = 0.0
    lamps_m: float = 28.0
    parked: float = 0.6
    spawn_points: int = 0
    outskirts: str = "city"
    parks_m: tuple[tuple[float, float, float], ...] = ()
    hydrants: bool = True
    river_m: tuple[tuple[float, float], ...] = ()


URBAN: Final = Style(conifers=0.1, lawns_per_ha=12.0)
SUBURBAN: Final = Style(
    land="lawn",
    verge_rgb=GRASS,
    front={"house": 0.72, "villa": 0.13, "shop": 0.1, "block": 0.05},
    plot_m=(11.0, 17.0),
    setback_m=(6.0, 10.0),
    filled=0.62,
    rows=1,
    street_trees_m=22.0,
    trees_per_ha=9.0,
    woods=0.06,
    lamps_m=40.0,
    parked=0.35,
    outskirts="houses",
)
RURAL: Final = Style(
    land="fields",
    verge_rgb=DRY_GRASS,
    hills_m=9.0,
    front={"house": 0.45, "barn": 0.3, "villa": 0.15, "silo": 0.1},
    plot_m=(12.0, 22.0),
    setback_m=(9.0, 22.0),
    filled=0.16,
    rows=1,
    street_trees_m=0.0,
    trees_per_ha=7.0,
    woods=0.16,
    lamps_m=0.0,
    parked=0.3,
    outskirts="none",
    hydrants=False,
)
SMALL_TOWN: Final = replace(
    SUBURBAN, front={"house": 0.4, "shop": 0.25, "block": 0.35}, setback_m=(2.0, 6.0), filled=0.75, woods=0.12
)
MOTORWAY: Final = replace(SUBURBAN, hills_m=22.0, trees_per_ha=6.0, woods=0.3, conifers=0.5, outskirts="none")
