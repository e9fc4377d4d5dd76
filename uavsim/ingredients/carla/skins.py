"""Colour a town in a CARLA world."""

from fnmatch import fnmatchcase

import carla
import numpy as np

from uavsim.errors import SceneVoid
from uavsim.ingredients.skins import SkinPlan
from uavsim.simulate.carla.spawning import SpawnContext, Spawned

_TEXTURE_PX = 4  # side of a single-colour texture


def spawn(context: SpawnContext, record: SkinPlan) -> Spawned:
    """Paint the town; nothing is spawned."""
    return Spawned(marks_town=paint(context, record))


def paint(context: SpawnContext, record: SkinPlan) -> bool:
    """Colour the town's objects; return whether the skin has paints.

    Raises:
        SceneVoid: no object's name matches a pattern.
    """
    names = sorted(context.world.get_names_of_all_objects()) if record.paints else []
    for part in record.paints:
        matching = [name for name in names if any(fnmatchcase(name, pattern) for pattern in part.objects)]
        if not matching:
            kinds = sorted({name.rstrip("0123456789_") for name in names})
            raise SceneVoid(
                f"skin {record.name}: {context.map_name} has no object called {' or '.join(part.objects)}; it has "
                f"{', '.join(kinds[:20])}"
            )
        rng = np.random.default_rng(part.seed)
        painted, colours = rng.random(len(matching)) < part.share, rng.integers(len(part.colours), size=len(matching))
        for number, colour in enumerate(part.colours):
            chosen = np.array(matching)[painted & (colours == number)].tolist()
            if chosen:
                context.world.apply_color_texture_to_objects(chosen, carla.MaterialParameter.Diffuse, _texture(colour))
    return bool(record.paints)


def _texture(colour: str) -> carla.TextureColor:
    texture = carla.TextureColor(_TEXTURE_PX, _TEXTURE_PX)
    red, green, blue = map(int, colour.split(","))
    for x in range(_TEXTURE_PX):
        for y in range(_TEXTURE_PX):
            texture.set(x, y, carla.Color(red, green, blue, 255))
    return texture
