"""The shared vocabulary of datasets: unique keys, the devkit's names, and the red channel's numbers."""

from uavsim.dataset.vocabulary import (
    ATTRIBUTES,
    SEMANTIC_TAGS,
    VISIBILITY_EDGES,
    attribute_rows,
    attribute_token,
    category_rows,
    category_token,
    semantic_tag_rows,
    visibility_rows,
)
from uavsim.records.classes import CLASSES


def test_tokens_are_unique_in_each_table():
    rows = [*category_rows(with_lidarseg=True), *attribute_rows(), *semantic_tag_rows(), *visibility_rows()]
    assert len({row["token"] for row in rows}) == len(rows)


def test_rows_are_found_by_the_tokens_of_their_names():
    assert [row["token"] for row in category_rows()] == [category_token(row["name"]) for row in category_rows()]
    assert [row["token"] for row in attribute_rows()] == [attribute_token(name) for name, _ in ATTRIBUTES]


def test_category_rows_are_in_index_order_with_point_labels():
    assert [row["index"] for row in category_rows(with_lidarseg=True)] == list(range(32))
    common_rows = {row["name"]: row for row in category_rows()}
    all_rows = {row["name"]: row for row in category_rows(with_lidarseg=True)}
    assert all(all_rows[name] == row for name, row in common_rows.items())


def test_the_tags_of_our_classes_are_called_as_carla_calls_them():
    names = {index: name for index, (name, _) in enumerate(SEMANTIC_TAGS)}
    called = {row.label: names[row.tag] for row in CLASSES if row.tag is not None}
    assert called == {label: label for label in called}
    assert [row["index"] for row in semantic_tag_rows()] == list(range(29))


def test_the_levels_of_visibility_meet_at_the_edges():
    bounds = [row["level"].removeprefix("v").split("-") for row in visibility_rows()]
    assert [int(low) / 100 for low, _ in bounds[1:]] == list(VISIBILITY_EDGES)
    assert [int(high) / 100 for _, high in bounds[:-1]] == list(VISIBILITY_EDGES)
