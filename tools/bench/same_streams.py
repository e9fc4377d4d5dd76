"""Hash what images become when they are encoded again: ``python -m tools.bench.same_streams DATASET`` prints one JSON line.

Imports no compiled kernel, so that it runs on an emulated processor.
"""

import hashlib
import json
import sys
from pathlib import Path
from typing import Final

from uavsim.images import codec

__all__ = ["streams"]

CHANNELS: Final = 5


def streams(root: Path) -> dict[str, str]:
    """Return hashes of the streams of the first image of some channels."""
    found: dict[str, str] = {}
    for folder in sorted((root / "samples").glob("CAMERA_*"))[:CHANNELS]:
        image = codec.decode_rgb(min(folder.iterdir()))
        mask = codec.decode_mask(min((root / "masks" / folder.name).iterdir()))
        made = {"png": codec.encode_png(image), "mask": codec.encode_mask(mask), "jpeg": codec.encode_jpeg(image)}
        made |= {f"png{level}": codec.encode_png(image, level=level) for level in (0, 2)}
        found |= {f"{folder.name} {kind}": hashlib.sha256(data).hexdigest() for kind, data in made.items()}
    return found


if __name__ == "__main__":
    sys.stdout.write(json.dumps(streams(Path(sys.argv[1]))) + "\n")
