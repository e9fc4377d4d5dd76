"""Choose a scene's corner cases, by its number and the dataset's seed; places are found later on the town's map."""

from typing import Final

import numpy as np

from uavsim.config.load import Loaded
from uavsim.config.town import TownConfig
from uavsim.errors import InputError, UnknownNameError
from uavsim.geometry.se3 import SE3
from uavsim.ingredients.corner_cases.case_plans import (
    COVERED_SHARE,
    CasePart,
    CornerCasePlan,
    CornerCasesPlan,
    TagWords,
    own_parts,
    part_of_role,
    parts_outline_m,
)
from uavsim.ingredients.corner_cases.cases_config import Case, CornerCaseChoice, CornerCases, Part
from uavsim.plan.ingredients import ScenePlanner, SceneToFill, TownPlan
from uavsim.records.actors import ActorInfo
from uavsim.records.classes import LABELS, class_of_blueprint
from uavsim.records.plan import SwarmTrajectory
from uavsim.records.props import MESHES, PROP_MESH, PROPS
from uavsim.records.sensors import SensorSpec
from uavsim.registry import pick
from uavsim.typing import JsonDict

_LOWEST_M: Final = 5.0  # no flight is suggested below


def check_words(cases: Loaded[CornerCases]) -> Loaded[CornerCases]:
    """Return the file after checking every word in it.

    Raises:
        ConfigError: a tag is unknown, or a word has two meanings.
    """
    wrong = cases.model.first_tag_error()
    if wrong is not None:
        raise cases.error(*wrong)
    return cases


def planner(town: TownPlan) -> ScenePlanner:
    """Load a dataset's file of cases, and return the function that chooses those of a scene.

    Raises:
        ConfigError: no such file or case, or an unknown word; the message names the line.
    """
    choice: CornerCaseChoice = town.block
    dataset = town.dataset
    try:
        cases = town.library.of_ingredient("corner_cases", choice.from_, named_in=dataset.source.path)
    except UnknownNameError as error:
        raise dataset.error(("corner_cases", "from"), str(error)) from error
    named: list[tuple[str | int, str]] = list(enumerate(choice.kinds))
    for key, name in [*named, *((name, name) for name in choice.min_visible_px_of)]:
        where = "kinds" if isinstance(key, int) else "min_visible_px_of"
        try:
            pick(cases.model.cases, name, what=f"corner case of {cases.name!r}:")
        except UnknownNameError as error:
            raise dataset.error(("corner_cases", where, key), str(error)) from error
    check_words(cases)
    return lambda scene: scene_cases(choice, cases, scene, town)


def scene_cases(
    choice: CornerCaseChoice, cases: Loaded[CornerCases], scene: SceneToFill, town: TownPlan
) -> CornerCasesPlan:
    """Choose the cases of one scene.

    Args:
        choice: number, order and least visible size of the cases.
        cases: the file of cases.
        scene: the scene; its weather and town determine its domain.
        town: the town, and the drones' cameras.

    Raises:
        ConfigError: no camera can show a case with the requested number of pixels.
    """
    name = town.town.name
    rng = scene.rng("corner_cases")
    names = choice.kinds or tuple(cases.model.cases)
    if choice.order == "in_turn":
        chosen = [names[(scene.turn * choice.per_scene + k) % len(names)] for k in range(choice.per_scene)]
    else:
        chosen = [names[int(rng.integers(len(names)))] for _ in range(choice.per_scene)]
    sets = cases.model.training_sets
    planned = CornerCasesPlan(
        source=cases.name,
        seed=scene.seed("corner_cases"),
        cases=tuple(_case(one, cases.model.cases[one], choice) for one in chosen),
        words={
            tag: TagWords(
                synonyms=cases.model.tags[tag].synonyms if tag in cases.model.tags else (),
                hypernyms=cases.model.tags[tag].hypernyms if tag in cases.model.tags else (),
                seen={set_name: tag in training_set.tags for set_name, training_set in sets.items()},
            )
            for tag in dict.fromkeys((*cases.model.tags, *LABELS))
        },
        in_domain={
            set_name: name in training_set.towns and (not training_set.weather or scene.weather in training_set.weather)
            for set_name, training_set in sets.items()
        },
    )
    _check_size(planned, cases, scene.swarm, town.rig, town.town)
    return planned


def summary(planned: CornerCasesPlan) -> JsonDict:
    """Return the lines for ``uavsim plan``."""
    return {"corner cases": ", ".join(f"{case.name} ({_where(case)})" for case in planned.cases)}


def sites(planned: CornerCasesPlan) -> dict[str, str]:
    """Return the features of the town's map near which cases stand, each with the names of its cases."""
    return {case.at: f"corner case {case.name!r}" for case in planned.cases if case.at is not None}


def summary_json(planned: CornerCasesPlan) -> JsonDict:
    """Return the summary as JSON."""
    rows = [
        {"name": c.name, "tag": c.tag, "on": c.on, "parts": len(c.parts), "min_visible_px": c.min_visible_px}
        for c in planned.cases
    ]
    return {"corner_cases": rows, "in_domain": planned.in_domain}


def _where(case: CornerCasePlan) -> str:
    return case.on if case.at is None else f"{case.on}, {case.at}"


def without(
    planned: CornerCasesPlan, actors: tuple[ActorInfo, ...], hidden: tuple[int, ...], where: str
) -> CornerCasesPlan:
    """Return all cases for a replay.

    Raises:
        InputError: the request hides a part of a case.
    """
    for info in actors:
        part = part_of_role(info.attributes.get("role_name", ""))
        if info.instance_id in hidden and part is not None:
            raise InputError(
                f"{where}: actor {info.instance_id} ({info.blueprint}) is a part of corner case "
                f"{planned.cases[part[0]].name!r}, which cannot be hidden; hide another actor"
            )
    return planned


def _case(name: str, case: Case, choice: CornerCaseChoice) -> CornerCasePlan:
    return CornerCasePlan(
        name=name,
        tag=case.tag,
        on=case.on,
        at=case.at,
        facing=case.facing,
        clearance_m=case.clearance_m,
        min_visible_px=choice.min_visible_px_of.get(name) or case.min_visible_px or choice.min_visible_px,
        parts=tuple(_part(part, case.tag) for part in case.parts),
        attributes=dict(case.attributes),
    )


def _part(part: Part, tag: str) -> CasePart:
    attributes = {"mesh_path": part.mesh} if part.mesh is not None else {}
    return CasePart(
        blueprint=part.blueprint,
        tag=part.tag or tag,
        at_m=part.at_m,
        rpy_deg=(part.roll_deg, part.pitch_deg, part.yaw_deg),
        half_extent_m=_half_extent_m(part),
        attributes=attributes | ({"color": part.color} if part.color is not None else {}),
        lights=part.lights,
        doors_open=part.doors == "open",
    )


def _half_extent_m(part: Part) -> tuple[float, float, float]:
    if part.blueprint == PROP_MESH:
        return MESHES[part.mesh_name]
    if part.blueprint in PROPS:
        return PROPS[part.blueprint][1]
    found = class_of_blueprint(part.blueprint)
    assert found is not None, part.blueprint
    return found.sizes.get(part.blueprint, found.half_extent_m)


def _check_size(
    planned: CornerCasesPlan,
    cases: Loaded[CornerCases],
    swarm: SwarmTrajectory,
    rig: tuple[SensorSpec, ...],
    town: TownConfig,
) -> None:
    """Refuse more pixels than a camera straight above shows from the drones' lowest altitude.

    Raises:
        ConfigError: the camera shows fewer pixels; the message has the nearest possible request.
    """
    low_m = float(swarm.map_SE3_flu.translation_m[..., 2].min() - town.ground_z_m)
    focal_px = max(float(spec.camera.intrinsic[0, 0]) for spec in rig)
    for case in planned.cases:
        corners_m = parts_outline_m(own_parts(case), SE3.identity()).reshape(-1, 8, 3)
        top_m = float(corners_m[..., 2].max())
        sides_m = np.sort(np.ptp(corners_m, axis=1), axis=1)
        area_m2 = COVERED_SHARE * float((sides_m[:, 1] * sides_m[:, 2]).sum())
        best_px = int(area_m2 * (focal_px / max(low_m - top_m, 1.0)) ** 2)
        if best_px < case.min_visible_px:
            lower_m = float(np.floor(focal_px * float(np.sqrt(area_m2 / case.min_visible_px)) + top_m))
            lower = f"fly at {lower_m:.0f} m or lower, or " if lower_m >= _LOWEST_M else ""
            raise cases.error(
                ("cases", case.name),
                f"is guaranteed only {best_px} px from {low_m:.0f} m up, but min_visible_px is {case.min_visible_px}; "
                f"{lower}reduce it to {best_px}",
            )
