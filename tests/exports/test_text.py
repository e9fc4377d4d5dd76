"""The YAML that exporters write is read back by a YAML reader as the same values."""

import yaml
from hypothesis import given
from hypothesis import strategies as st

from uavsim.exports.formats.text import to_yaml, write_json

NUMBERS = st.floats(-1e6, 1e6).map(lambda v: round(v, 6)) | st.integers(-1000, 1000)
TEXT = st.text("abc XYZ:-#'{}[]0123456789", max_size=8)
NAMES = st.from_regex(r"[a-z][a-z_0-9]*", fullmatch=True)
VALUES = st.recursive(
    NUMBERS | TEXT | st.lists(NUMBERS, max_size=3),
    lambda inner: st.dictionaries(st.integers(0, 99) | NAMES, inner, min_size=1, max_size=3),
    max_leaves=8,
)
RESERVED = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}  # words that YAML reads as something else


def test_two_levels_by_hand():
    assert to_yaml({"pose": {"x": 1.5}, 7: [1, 2]}) == "pose:\n  x: 1.5\n7: [1, 2]\n"


def test_a_tiny_and_a_huge_number_stay_numbers():
    value = {"a": 1e-05, "b": [-3e-07, 1e22, 2.5e-09]}
    assert to_yaml(value) == "a: 1.0e-05\nb: [-3.0e-07, 1.0e+22, 2.5e-09]\n"
    assert yaml.safe_load(to_yaml(value)) == value


@given(st.dictionaries(NAMES, VALUES, min_size=1, max_size=4))
def test_it_is_yaml(value):
    if not _names(value) & RESERVED:
        assert yaml.safe_load(to_yaml(value)) == value


def _names(value):
    if not isinstance(value, dict):
        return set()
    return {str(name) for name in value}.union(*(_names(inner) for inner in value.values()))


def test_json_is_for_people_and_ends_a_line(tmp_path):
    assert write_json(tmp_path / "deep/a.json", {"b": [1]}).read_text() == '{\n "b": [\n  1\n ]\n}\n'
