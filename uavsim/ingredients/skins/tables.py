"""The rows of the table of skins: what was drawn for a scene."""

from uavsim.dataset.rows import SkinRow
from uavsim.dataset.schema import INSTANCE, SKIN, Tables
from uavsim.dataset.tokens import token
from uavsim.ingredients.skins.records import SkinPlan
from uavsim.records.labels import SceneLabels


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
