"""Certificates: the inputs of a dataset and hashes of every scene, so that any scene can be regenerated and compared.

``files_sha256`` of a scene is the SHA-256 of the lines ``<sha256>  <name>`` of its files, sorted by name. An image counts with
its decoded pixels and every other file with its bytes, because encoders may pack the same pixels differently. ``rows_sha256``
is the hash of the packed table rows. The dataset card holds the certificate as a JSON block.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import Field, StringConstraints, model_validator

from uavsim.config.base import Model, Name, Reference
from uavsim.config.explain import validated
from uavsim.errors import DatasetError, InputError
from uavsim.files.parse import parse_json, read_regular
from uavsim.images import codec
from uavsim.store.commit import generation_of, read_fragment
from uavsim.store.identity import read_identity
from uavsim.store.layout import file_roots, scene_of_file
from uavsim.store.ledger import LedgerEntry, read_ledger
from uavsim.store.manifest import read_manifest
from uavsim.store.output import Output
from uavsim.typing import JsonDict

FORMAT: Final = "uavsim-certificate-1"
_JSON_BLOCK: Final = re.compile(r"^```json\n(\{.*?\})\n```$", re.DOTALL | re.MULTILINE)
_GENERATION: Final = re.compile(r"~\d{1,6}(?=\.)")
_IMAGE_SUFFIXES: Final = (".png", ".jpg", ".jpeg")
_PNG_BIT_DEPTH: Final = 24  # offset of the byte in the file

_Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
_Count = Annotated[int, Field(ge=0, lt=10**9)]
_Option = Annotated[str, StringConstraints(max_length=500)]


class CertifiedScene(Model):
    """One scene of a certificate."""

    number: _Count
    town: Name
    plan_sha256: _Sha256
    files: _Count
    files_sha256: _Sha256
    rows_sha256: _Sha256
    traffic_retry: _Count = 0


class CertifiedRequest(Model):
    """The options of ``uavsim generate``; ``replay`` stays unparsed, because a card does not hold the recordings."""

    dataset: Reference | None = None
    samples: Annotated[int, Field(ge=1, lt=10**9)] | None = None
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = None
    topology: _Option | None = None
    formation: _Option | None = None
    rig: _Option | None = None
    weather: _Option | None = None
    settle: bool | None = None
    replay: dict[str, Any] | None = None


class Certificate(Model):
    """A certificate as read from a card."""

    format: Literal["uavsim-certificate-1"]
    dataset: Reference
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    fingerprint: _Sha256
    request: CertifiedRequest
    versions: dict[str, Annotated[str, StringConstraints(max_length=100)]]
    scenes: Annotated[dict[Name, CertifiedScene], Field(min_length=1)]

    @model_validator(mode="after")
    def _numbers_differ(self) -> Certificate:
        names: dict[int, str] = {}
        for name, scene in self.scenes.items():
            other = names.setdefault(scene.number, name)
            if other != name:
                raise ValueError(f"scenes {other} and {name} have the same number {scene.number}")
        return self


def certificate_of(output: Output) -> JsonDict | None:
    """Return the certificate of a dataset; None without an identity and a committed scene in its ``.uavsim`` folder.

    Raises:
        StorageError: the ledger or a file of a scene cannot be read.
        DatasetError: a file of a scene is missing, or an image is damaged.
    """
    identity = read_identity(output)
    entries = sorted((e for e in read_ledger(output).values() if e.state == "committed"), key=lambda e: e.index)
    if identity is None or not entries:
        return None
    return {
        "format": FORMAT,
        "dataset": identity["dataset"],
        "seed": identity["seed"],
        "fingerprint": identity["fingerprint"],
        "request": identity.get("request", {}),
        "versions": identity.get("versions", {}),
        "scenes": {entry.scene: scene_hashes(output, entry) for entry in entries},
    }


def scene_hashes(output: Output, entry: LedgerEntry) -> JsonDict:
    """Return number, town and hashes of a committed scene, as a certificate holds them.

    Raises:
        DatasetError: a file of the scene is missing, or an image is damaged.
    """
    marks = read_manifest(output, generation_of(entry))
    if marks is None:  # older scenes have no manifest: file names begin with the scene's name
        keys = (key for root in file_roots() for key in output.keys(root))
        files = [key for key in keys if scene_of_file(key.rpartition("/")[2]) == entry.scene]
    else:
        files = [key for key in marks if not key.startswith(".uavsim/")]
    lines = sorted((_GENERATION.sub("", key), content_sha256(output.root / key)) for key in files)
    text = "".join(f"{digest}  {name}\n" for name, digest in lines)
    return {
        "number": entry.index,
        "town": entry.town,
        "plan_sha256": entry.plan_sha256,
        "files": len(lines),
        "files_sha256": hashlib.sha256(text.encode()).hexdigest(),
        "rows_sha256": hashlib.sha256(read_fragment(output, entry)).hexdigest(),
        "traffic_retry": entry.facts.traffic_retry if entry.facts is not None else 0,
    }


def content_sha256(path: Path) -> str:
    """Return the SHA-256 of a file: of an image's shape, type and decoded pixels, else of the bytes.

    Raises:
        DatasetError: the file is missing, or an image is damaged.
    """
    data = read_regular(path)
    if path.suffix not in _IMAGE_SUFFIXES:
        return hashlib.sha256(data).hexdigest()
    is_depth = path.suffix == ".png" and data[_PNG_BIT_DEPTH : _PNG_BIT_DEPTH + 1] == b"\x10"
    pixels = codec.decode_depth(data) if is_depth else codec.decode_rgb(data)
    return hashlib.sha256(f"{pixels.shape} {pixels.dtype.str}\n".encode() + pixels.tobytes()).hexdigest()


def read_certificate(card: Path) -> Certificate:
    """Read a certificate from a dataset card (README.md), its folder, or a file with the JSON alone.

    Raises:
        InputError: no certificate is found, or one of its keys is missing or has another type.
    """
    path = card / "README.md" if card.is_dir() else card
    try:
        text = read_regular(path).decode("utf-8")
    except (DatasetError, UnicodeDecodeError) as error:
        raise InputError(f"the card cannot be read: {error}; name README.md of a pack, or its folder") from error
    for block in [text, *_JSON_BLOCK.findall(text)]:
        try:
            content = parse_json(block)
        except ValueError:
            continue
        if isinstance(content, dict) and content.get("format") == FORMAT:
            return validated(content, Certificate, what=f"{path}: the certificate")
    raise InputError(f"{path}: holds no certificate ({FORMAT}); cards written by uavsim publish have one")


def json_block(certificate: JsonDict) -> str:
    """Return a certificate as a fenced JSON block of the card, one line per scene."""
    scenes = ",\n".join(f"  {json.dumps(name)}: {json.dumps(scene)}" for name, scene in certificate["scenes"].items())
    head = json.dumps({key: value for key, value in certificate.items() if key != "scenes"}, indent=1)[:-2]
    return f'```json\n{head},\n "scenes": {{\n{scenes}\n }}\n}}\n```'
