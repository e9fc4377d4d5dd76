"""Tag similarity follows from the words, and vectors agree with the table."""

import numpy as np
import pytest

from uavsim.exports.formats.tag_similarity import Words, similarity_table, tag_vectors

TAGS = {
    "lost_cone": Words(("fallen_cone", "tipped_cone"), ("traffic_cone", "road_equipment")),
    "lost_barrier": Words((), ("barrier", "road_equipment")),
    "drum": Words(("barrel",), ("container",)),
    "carton": Words((), ("container",)),
    "traffic_cone": Words(),
    "barrier": Words(),
}


def similarity(one: str, other: str) -> float:
    table = similarity_table(tag_vectors(TAGS))
    return table[one].get(other, table[other].get(one, 0.0))


@pytest.mark.parametrize(
    ("one", "other", "low", "high"),
    [
        ("lost_cone", "fallen_cone", 0.95, 0.95),
        ("fallen_cone", "tipped_cone", 0.90, 0.91),
        ("lost_cone", "traffic_cone", 0.72, 0.72),
        ("lost_cone", "road_equipment", 0.35, 0.35),
        ("drum", "carton", 0.5, 0.65),
        ("lost_cone", "lost_barrier", 0.0, 0.3),
        ("drum", "lost_cone", 0.0, 0.0),
    ],
)
def test_similarity_follows_synonyms_and_hypernyms(one: str, other: str, low: float, high: float) -> None:
    assert low <= similarity(one, other) <= high


def test_vectors_are_unit_vectors_with_the_tables_cosines() -> None:
    vectors = tag_vectors(TAGS)
    np.testing.assert_allclose([np.linalg.norm(v) for v in vectors.values()], 1.0, atol=1e-12)
    assert similarity("drum", "container") == pytest.approx(float(vectors["drum"] @ vectors["container"]), abs=1e-4)


def test_cyclic_hypernyms_terminate() -> None:
    vectors = tag_vectors({"a": Words((), ("b",)), "b": Words((), ("a",))})
    assert set(vectors) == {"a", "b"}
