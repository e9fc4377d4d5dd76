"""JSON schemas for editors accept the same files as uavsim."""

import json
from functools import cache

import jsonschema
import pytest
import referencing

from uavsim.config.library import kinds, packaged_root
from uavsim.config.load import parse
from uavsim.config.schema import SCHEMA_COMMENT, schema_texts, schemas

ROOT = packaged_root()
FILES = sorted([*ROOT.glob("flight_plans/**/*.yaml"), *ROOT.glob("town_configs/*.yaml")])


@cache
def made():
    """Return the schemas and a registry of their references; making them takes a quarter of a second."""
    found = schemas()
    return found, [referencing.Resource.from_contents(one) for one in found.values()] @ referencing.Registry()


def validator(schema):
    return jsonschema.Draft202012Validator(schema, registry=made()[1])


def as_json(path):
    return json.loads(json.dumps(parse(path)))


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_file_names_its_schema_and_fits(path):
    first = path.read_text().splitlines()[0]
    match = SCHEMA_COMMENT.match(first)
    assert match, first
    schema_file = (path.parent / first.split("$schema=")[1]).resolve()
    assert schema_file == (ROOT / "flight_plans" / ".schemas" / f"{match[1]}.json").resolve()
    validator(json.loads(schema_file.read_text())).validate(as_json(path))


@pytest.mark.parametrize("kind", kinds())
def test_schemas_are_schemas_and_refuse_unknown_keys(kind):
    schema = made()[0][kind]
    jsonschema.Draft202012Validator.check_schema(schema)
    errors = [e.validator for e in validator(schema).iter_errors({"no_such_key": 1})]
    assert "additionalProperties" in errors


def test_short_forms_are_in_the_schema():
    check = validator(made()[0]["dataset"])
    dataset = {"towns": {"T": {"scenes": 1}}, "formation": "cross", "rig": "r"}
    assert check.is_valid(
        dataset | {"formation": {"cycle": ["a", "b"]}, "altitude_m": 40, "traffic": {"blueprints": "uav3d"}}
    )
    assert not check.is_valid(dataset | {"formation": 5})
    assert not check.is_valid(dataset | {"altitude_m": "high"})
    routes = validator(made()[0]["routes"])
    assert routes.is_valid({"town": "T", "routes": {"r": {"path": [[1, 2], {"at": [3, 4], "hover_s": 1}]}}})
    assert not routes.is_valid({"town": "T", "routes": {"r": {"path": [[1, 2, 3]]}}})


def test_the_names_of_set_ups_stand_in_one_schema():
    texts = {name.stem: text for name, text in schema_texts().items()}
    assert [name for name, text in texts.items() if '"bridge"' in text] == ["topology"]
    check = validator(made()[0]["run"])
    assert check.is_valid({"topology": "bridge"})
    assert check.is_valid({"topology": None})
    assert not check.is_valid({"topology": "brige"})


def test_every_key_of_what_people_type_is_explained():
    named_by_itself = {"notes", "description", "name", "town", "centre", "turns", "drones"}
    for kind in ("dataset", "weather", "rig", "formation", "routes", "town"):
        reported = [p for d in made()[0][kind].get("$defs", {}).values() for p in d.get("properties", {}).values()]
        assert sum("description" in p for p in reported) * 2 >= len(reported) - len(named_by_itself), kind
