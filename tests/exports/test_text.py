"""YAML and JSON files of exporters."""

from pathlib import Path

import yaml

from uavsim.exports.formats.text import to_yaml, write_json


def test_yaml_keeps_order_and_numbers() -> None:
    value = {"pose": {"x": 1.5, "at": [1e-05, -3e-07, 1e22]}, 7: [1, 2], "no": "yes"}
    text = to_yaml(value)
    assert text.splitlines()[:3] == ["pose:", "  x: 1.5", "  at: [1.0e-05, -3.0e-07, 1.0e+22]"]
    assert yaml.safe_load(text) == value


def test_json_is_indented_and_ends_with_a_newline(tmp_path: Path) -> None:
    assert write_json(tmp_path / "deep/a.json", {"b": [1]}).read_text() == '{\n "b": [\n  1\n ]\n}\n'
