"""Damaged dataset cards: each is refused in one line, and no other scenes are generated."""

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


def key_paths(value: Any, parents: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the path of keys to every value in nested dictionaries."""
    for key, item in value.items() if isinstance(value, dict) else ():
        yield (*parents, key)
        yield from key_paths(item, (*parents, key))


@pytest.mark.parametrize("wrong", ["gone", *range(len(NASTY))])
def test_damaged_card_is_refused_in_one_line(tmp_path: Path, wrong: str | int) -> None:
    """Remove every key, and replace every value by one that no card holds."""
    certificate, requests = certificate_of_smoke(), list[Request]()

    def generate(request: Request) -> Any:
        requests.append(request)
        raise InputError("generation is disabled here")

    for *path, last in key_paths(certificate):
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
    generated = {(request.dataset, request.scenes, request.samples, request.towns) for request in requests}
    assert generated <= {("smoke", "0", 2, ("Town10HD",))}
