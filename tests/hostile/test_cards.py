"""A card that somebody damaged: one line, and nothing else is made than what the card says."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.hostile.fuzz_readers import certificate_of_smoke
from tests.hostile.fuzzing import NASTY
from uavsim.errors import InputError
from uavsim.exports.reproduce import reproduce
from uavsim.run.request import Request


def places_in(value: Any, place: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the place of every value in a structure."""
    for key, item in value.items() if isinstance(value, dict) else ():
        yield (*place, key)
        yield from places_in(item, (*place, key))


@pytest.mark.parametrize("wrong", ["gone", *range(len(NASTY))])
def test_a_damaged_card_is_one_line_and_makes_nothing_else(tmp_path: Path, wrong: str | int) -> None:
    """Every key is taken away, and replaced by what no card holds there."""
    certificate, asked = certificate_of_smoke(), list[Request]()

    def generate(request: Request) -> Any:
        asked.append(request)
        raise InputError("nothing is made here")

    for *path, last in places_in(certificate):
        damaged = copy.deepcopy(certificate)
        holder = damaged
        for key in path:
            holder = holder[key]
        if wrong == "gone":
            del holder[last]
        else:
            holder[last] = NASTY[int(wrong)]
        (tmp_path / "card.json").write_text(json.dumps(damaged))
        with pytest.raises(InputError) as error:
            reproduce(tmp_path / "card.json", tmp_path / "new", scenes="0", simulators=(), run=None, generate=generate)
        assert "\n" not in str(error.value)
    made = {(request.dataset, request.scenes, request.samples, request.towns) for request in asked}
    assert made <= {("smoke", "0", 2, ("Town10HD",))}
