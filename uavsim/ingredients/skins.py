"""Another skin of a recorded scene: colours of vehicles and of the town, weather and sun, or other traffic."""

from dataclasses import dataclass, field
from typing import Final

from uavsim.dataset.rows import SkinRow
from uavsim.dataset.schema import INSTANCE, SKIN, Tables
from uavsim.dataset.tokens import token
from uavsim.records.ingredients import FileKind, Ingredient
from uavsim.records.labels import SceneLabels
from uavsim.registry import Named

__all__ = ["INGREDIENT", "Paint", "SkinPlan", "rows"]

INGREDIENT: Final = Ingredient(
    key="skins",  # not in datasets' YAML: ``uavsim twins`` requests it
    files={
        "skin": FileKind(
            folder="skins",
            spoken="skin",
            model=Named("uavsim.config.skin:Skin"),
            check=Named("uavsim.ingredients.skin_plans:check_names"),
        )
    },
    order=130,
    records=(
        Named(f"{__name__}:Paint"),
        Named(f"{__name__}:SkinPlan"),
    ),
    spawn=Named("uavsim.ingredients.carla.skins:spawn"),
    rows=Named(f"{__name__}:rows"),
)


@dataclass(frozen=True, slots=True)
class Paint:
    """Colours for objects of the town.

    Attributes:
        objects: patterns of object names in the simulator.
        share: share of the objects that are painted.
        colours: candidate colours, ``r,g,b``.
        seed: seed of the choice of objects and colours.
    """

    objects: tuple[str, ...]
    share: float
    colours: tuple[str, ...]
    seed: int


@dataclass(frozen=True, slots=True)
class SkinPlan:
    """The random skin of one scene.

    Attributes:
        name: name of the skin's file.
        draw: number of the twin.
        vehicle_colours: ``r,g,b`` by instance id.
        paints: paints of the town.
        other_traffic: whether the scene's traffic differs from the recorded traffic.
    """

    name: str
    draw: int
    vehicle_colours: dict[str, str] = field(default_factory=dict)
    paints: tuple[Paint, ...] = ()
    other_traffic: bool = False


def rows(labels: SceneLabels, record: SkinPlan, tables: Tables) -> Tables:
    """Return the table ``skin``."""
    plan = labels.plan
    known = {row["token"] for row in INSTANCE.of(tables)}
    by_token = {
        token(plan.dataset, plan.scene_name, "instance", int(number)): colour
        for number, colour in record.vehicle_colours.items()
    }
    row: SkinRow = {
        "token": token(plan.dataset, plan.scene_name, SKIN.name),
        "scene_token": token(plan.dataset, plan.scene_name, "scene"),
        "name": record.name,
        "draw": record.draw,
        "vehicle_colours": {instance: colour for instance, colour in by_token.items() if instance in known},
        "textures": [
            {"objects": list(p.objects), "share": p.share, "colours": list(p.colours), "seed": p.seed}
            for p in record.paints
        ],
        "other_traffic": record.other_traffic,
    }
    return {SKIN.name: [row]}
