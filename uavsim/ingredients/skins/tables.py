"""The table of skins: what was drawn for a scene."""

from typing import Any, Final, TypedDict

from uavsim.dataset.schema import INSTANCE, Table, Tables
from uavsim.dataset.tokens import token
from uavsim.ingredients.skins.records import SkinPlan
from uavsim.records.labels import SceneLabels


class SkinRow(TypedDict):
    """The skin of a scene; its weather and sun stand in ``log`` and ``sample``.

    ``vehicle_colours`` is ``r,g,b`` by instance token; ``textures`` are the patterns, share, colours and seed of each.
    """

    token: str
    scene_token: str
    name: str
    draw: int
    vehicle_colours: dict[str, str]
    textures: list[dict[str, Any]]
    other_traffic: bool


SKIN: Final = Table.where_used("skin", SkinRow, "scene_token", refers=True)
TABLES: Final = (SKIN,)


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
        "vehicle_colours": {one: colour for one, colour in by_token.items() if one in known},
        "textures": [
            {"objects": list(p.objects), "share": p.share, "colours": list(p.colours), "seed": p.seed}
            for p in record.paints
        ],
        "other_traffic": record.other_traffic,
    }
    return {SKIN.name: [row]}
