"""Tables of corner cases in the strict dialect: the cases' objects, and the tags of every object.

A part of a case is an instance with its own boxes. nuScenes' classes cannot express that several parts are one object, nor its
tag; additional tables hold both.
"""

from uavsim.dataset.rows import CornerCaseRow, InstanceRow, ObjectTagRow
from uavsim.dataset.schema import CORNER_CASE, INSTANCE, OBJECT_TAG, Tables
from uavsim.dataset.tokens import token
from uavsim.ingredients.corner_cases.case_plans import CornerCasesPlan, TagWords, part_of_role
from uavsim.records.labels import SceneLabels

_NO_WORDS = TagWords()


def rows(labels: SceneLabels, cases: CornerCasesPlan, tables: Tables) -> Tables:
    """Return the tables of corner cases."""
    instances = INSTANCE.of(tables)
    found = case_rows(labels, cases, instances)
    return {CORNER_CASE.name: found, OBJECT_TAG.name: tag_rows(labels, cases, instances, found)}


def case_rows(labels: SceneLabels, cases: CornerCasesPlan, instances: list[InstanceRow]) -> list[CornerCaseRow]:
    """Return the table ``corner_case``: one row for each case of the scene that has a box."""
    plan, parts = labels.plan, _parts(labels, instances)
    found: list[CornerCaseRow] = []
    for number, case in enumerate(cases.cases):
        object_instances = [i for i, (k, part) in parts.items() if k == number and case.parts[part].tag == case.tag]
        if not object_instances:
            continue
        words = cases.words.get(case.tag, _NO_WORDS)
        found.append(
            {
                "token": token(plan.dataset, plan.scene_name, "corner_case", number),
                "scene_token": token(plan.dataset, plan.scene_name, "scene"),
                "name": case.name,
                "tag": case.tag,
                "synonyms": list(words.synonyms),
                "hypernyms": list(words.hypernyms),
                "seen": dict(words.seen),
                "in_domain": dict(cases.in_domain),
                "on": case.on,
                "min_visible_px": case.min_visible_px,
                "attributes": dict(case.attributes),
                "instance_tokens": object_instances,
            }
        )
    return found


def tag_rows(
    labels: SceneLabels, plan: CornerCasesPlan, instances: list[InstanceRow], cases: list[CornerCaseRow]
) -> list[ObjectTagRow]:
    """Return the table ``object_tag``: one row an instance, in a scene with corner cases."""
    parts, reported = _parts(labels, instances), {row["token"] for row in cases}
    case_of = {
        instance: token(labels.plan.dataset, labels.plan.scene_name, "corner_case", number)
        for instance, (number, _) in parts.items()
    }
    return [
        _tag_row(row["token"], _tag_of(row, parts, plan), plan, corner_case=case if case in reported else "")
        for row in instances
        for case in (case_of.get(row["token"], ""),)
    ]


def _tag_of(row: InstanceRow, parts: dict[str, tuple[int, int]], plan: CornerCasesPlan) -> str:
    indices = parts.get(row["token"])
    return row.get("uav_label", "") if indices is None else plan.cases[indices[0]].parts[indices[1]].tag


def _tag_row(instance: str, tag: str, plan: CornerCasesPlan, *, corner_case: str) -> ObjectTagRow:
    words = plan.words.get(tag, _NO_WORDS)
    return {
        "token": instance,
        "instance_token": instance,
        "tag": tag,
        "synonyms": list(words.synonyms),
        "hypernyms": list(words.hypernyms),
        "seen": dict(words.seen),
        "corner_case_token": corner_case,
    }


def _parts(labels: SceneLabels, instances: list[InstanceRow]) -> dict[str, tuple[int, int]]:
    """Return (case, part) of the instances that are parts of a case, by token."""
    roles = {actor.info.instance_id: actor.info.attributes.get("role_name", "") for actor in labels.actors}
    found = {row["token"]: part_of_role(roles.get(row.get("uav_instance_id", 0), "")) for row in instances}
    return {instance: indices for instance, indices in found.items() if indices is not None}
