"""The certificate: what made a dataset, and a hash of every scene; enough to make any scene again and compare.

The hash of a scene's files is the SHA-256 of the lines ``<sha256>  <name>`` of its files, sorted by name. That of its rows is
of the packed table rows. The card holds the certificate as a JSON block.
"""

import hashlib
import json
import re
from pathlib import Path
from typing import Final

from uavsim.config.explain import validated
from uavsim.errors import DatasetError, InputError
from uavsim.exports.publish.certified import FORMAT, ReadCertificate
from uavsim.files.parse import parse_json, read_regular
from uavsim.store.commit import generation_of, read_fragment
from uavsim.store.identity import read_identity
from uavsim.store.layout import file_roots, scene_of_file
from uavsim.store.ledger import LedgerEntry, read_ledger
from uavsim.store.manifest import read_manifest
from uavsim.store.output import Output
from uavsim.typing import JsonDict

__all__ = ["FORMAT", "certificate_of", "read_certificate", "scene_hashes"]

_BLOCK: Final = re.compile(r"^```json\n(\{.*?\})\n```$", re.DOTALL | re.MULTILINE)
_GENERATION: Final = re.compile(r"~\d{1,6}(?=\.)")


def certificate_of(output: Output) -> JsonDict | None:
    """Return the certificate of a dataset that uavsim made and whose ``.uavsim`` is there; None for any other.

    Raises:
        StorageError: the ledger or a file of a scene cannot be read.
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
    """Return number, town, plan and hashes of a committed scene.

    Raises:
        DatasetError: a file of the scene is missing.
    """
    marks = read_manifest(output, generation_of(entry))
    named = _by_name(output, entry.scene) if marks is None else [key for key in marks if not key.startswith(".uavsim/")]
    lines = []
    for key in named:
        digest = hashlib.sha256(read_regular(output.root / key)).hexdigest()
        lines.append((_GENERATION.sub("", key), digest))
    text = "".join(f"{digest}  {name}\n" for name, digest in sorted(lines))
    return {
        "number": entry.index,
        "town": entry.town,
        "plan_sha256": entry.plan_sha256,
        "files": len(lines),
        "files_sha256": hashlib.sha256(text.encode()).hexdigest(),
        "rows_sha256": hashlib.sha256(read_fragment(output, entry)).hexdigest(),
        "traffic_retry": entry.facts.traffic_retry if entry.facts is not None else 0,
    }


def _by_name(output: Output, scene: str) -> list[str]:
    """Return the files of a scene that was flown before manifests were written: each is named after its scene."""
    keys = (key for root in file_roots() for key in output.keys(root))
    return [key for key in keys if scene_of_file(key.rpartition("/")[2]) == scene]


def read_certificate(card: Path) -> ReadCertificate:
    """Return the certificate of a card (README.md), of its folder, or of a file with the JSON alone.

    Raises:
        InputError: there is none, or a key of it is missing or of another kind.
    """
    path = card / "README.md" if card.is_dir() else card
    try:
        text = read_regular(path).decode("utf-8")
    except (DatasetError, UnicodeDecodeError) as error:
        raise InputError(f"no card can be read: {error}; name README.md of a pack, or its folder") from error
    for block in [text, *_BLOCK.findall(text)]:
        try:
            found = parse_json(block)
        except ValueError:
            continue
        if isinstance(found, dict) and found.get("format") == FORMAT:
            return validated(found, ReadCertificate, what=f"{path}: the certificate")
    raise InputError(f"{path}: holds no certificate ({FORMAT}); cards written by uavsim publish have one")


def block(certificate: JsonDict) -> str:
    """Return the certificate as a block of the card: a line for each scene."""
    scenes = ",\n".join(
        f"  {json.dumps(name)}: {json.dumps(reported)}" for name, reported in certificate["scenes"].items()
    )
    head = json.dumps({key: value for key, value in certificate.items() if key != "scenes"}, indent=1)[:-2]
    return f'```json\n{head},\n "scenes": {{\n{scenes}\n }}\n}}\n```'
