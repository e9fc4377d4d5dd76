"""A file of corner cases is refused with the line and the nearest word."""

from pathlib import Path

import pytest

from uavsim.config.load import load
from uavsim.errors import ConfigError
from uavsim.ingredients.corner_cases.cases_config import CornerCases
from uavsim.ingredients.corner_cases.plan_cases import check_words

GOOD = """
tags:
  lost_cone: {synonyms: [fallen_cone], hypernyms: [traffic_cone]}
  barrel: {synonyms: [drum]}
training_sets:
  nuscenes: {tags: [car, barrel], towns: [Town10HD]}
cases:
  cones:
    tag: lost_cone
    parts:
      - static.prop.trafficcone01
      - {blueprint: static.prop.barrel, tag: barrel, at_m: [1, 0, 0]}
"""


def checked(tmp_path: Path, text: str) -> CornerCases:
    path = tmp_path / "street.yaml"
    path.write_text(text, encoding="utf-8")
    return check_words(load(path, CornerCases)).model


def test_a_plain_blueprint_is_a_part_where_the_case_stands(tmp_path: Path) -> None:
    part = checked(tmp_path, GOOD).cases["cones"].parts[0]
    assert (part.blueprint, part.at_m, part.tag) == ("static.prop.trafficcone01", (0.0, 0.0, 0.0), None)


@pytest.mark.parametrize(
    ("was", "becomes", "message"),
    [
        ("tag: lost_cone", "tag: lost_coen", "street.yaml:9: cases.cones.tag: unknown tag 'lost_coen'; did you mean"),
        ("tag: lost_cone", "tag: drum", "unknown tag 'drum'; it is a synonym of 'barrel', write 'barrel'"),
        ("[car, barrel]", "[car, barel]", "street.yaml:6: training_sets.nuscenes.tags[1]: unknown tag 'barel'"),
        ("[drum]", "[fallen_cone]", "tags.barrel.synonyms[0]: 'fallen_cone' is already a synonym of 'lost_cone'"),
        ("trafficcone01", "trafficcoen01", "did you mean 'static.prop.trafficcone01'?"),
        ("at_m:", "at_mm:", "unknown key; did you mean 'at_m'?"),
        ("tag: barrel, at_m", "doors: open, at_m", "doors needs a vehicle, and static.prop.barrel is none"),
        ("static.prop.barrel,", "static.prop.mesh,", "mesh needs blueprint static.prop.mesh"),
        ("static.prop.barrel,", "static.prop.mesh, mesh: /Game/a/tire.tire,", "mesh 'tire' has no known size"),
        ("tag: lost_cone", "tag: lost cone", "is not a tag"),
        (
            "      - static.prop.trafficcone01\n",
            "",
            "no part has the tag 'lost_cone'",
        ),
    ],
)
def test_a_mistake_is_one_line_with_a_suggestion(tmp_path: Path, was: str, becomes: str, message: str) -> None:
    assert was in GOOD
    with pytest.raises(ConfigError) as caught:
        checked(tmp_path, GOOD.replace(was, becomes))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
