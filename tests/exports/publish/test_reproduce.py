from pathlib import Path
from types import SimpleNamespace

import pytest

from uavsim.errors import InputError
from uavsim.exports import reproduce as module
from uavsim.exports.publish.certificate import FORMAT, json_block
from uavsim.run.request import Request
from uavsim.run.resolve import identity_of

HASHES = {"town": "Town10HD", "files": 3} | {f"{kind}_sha256": "a0" * 32 for kind in ("plan", "files", "rows")}


@pytest.fixture
def certificate() -> dict:
    identity = identity_of(Request(dataset="smoke", out="-", samples=2))
    scenes = {f"scene_{n:04d}": {"number": n, **HASHES} for n in range(3)}
    return {
        "format": FORMAT,
        **{k: identity[k] for k in ("dataset", "seed", "fingerprint", "request", "versions")},
        "scenes": scenes,
    }


def make(certificate: dict, tmp_path: Path, *, scenes: str, generate):
    card = tmp_path / "README.md"
    card.write_text(f"# A card\n\n{json_block(certificate)}\n")
    return module.reproduce(card, tmp_path / "new", scenes=scenes, simulators=(), run=None, generate=generate)


def test_reproduce_builds_the_request_from_the_card_and_compares_every_hash(
    certificate: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests: list[Request] = []

    def generate(request: Request) -> SimpleNamespace:
        requests.append(request)
        return SimpleNamespace(error=None)

    monkeypatch.setattr(module, "read_entry", lambda output, name: name)
    monkeypatch.setattr(
        module, "scene_hashes", lambda output, name: HASHES | ({"rows_sha256": "x"} if name[-1] == "2" else {})
    )
    certificate["versions"]["uavsim"] = "0.0.9"
    certificate["scenes"]["scene_0001"]["traffic_retry"] = 1
    results, differing = make(certificate, tmp_path, scenes="1-2", generate=generate)
    (request,) = requests
    assert (request.dataset, request.scenes, request.samples, request.towns) == ("smoke", "1,2", 2, ("Town10HD",))
    assert request.traffic_retries == {"scene_0001": 1}
    assert [(r.scene, r.equal, r.rows) for r in results] == [("scene_0001", True, True), ("scene_0002", False, False)]
    assert len(differing) == 1
    assert "0.0.9" in differing[0]


def unexpected_run(request: Request) -> None:
    pytest.fail(f"{request.out} was generated")


def test_reproduce_refuses_another_configuration_and_a_missing_scene(certificate: dict, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no scene 7; it has 0 to 2"):
        make(certificate, tmp_path, scenes="7", generate=unexpected_run)
    certificate["fingerprint"] = "0" * 64
    with pytest.raises(InputError, match="differs from the card"):
        make(certificate, tmp_path, scenes="1", generate=unexpected_run)
