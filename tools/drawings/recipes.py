"""Make the images of docs/recipes.md: ``python -m tools.drawings.recipes``. Needs a minute: it flies one sample for each."""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from uavsim.images.codec import decode_rgb, encode_jpeg
from uavsim.images.draw import resized

DOCS: Final = Path(__file__).parents[2] / "docs"
WIDTH_PX: Final = 1000
COMMANDS: Final = {
    "recipe-night.jpg": "preview --dataset smoke --town Town03 --scene 100 --weather night --seed 7 --png",
    "recipe-nadir.jpg": "preview --dataset smoke --town Town10HD --scene 0 --rig nadir --png",
    "recipe-plan.jpg": "plan --dataset smoke --town Town10HD --scenes 0 --png",
}


def draw(name: str, command: str) -> None:
    """Run a command that writes a PNG, and keep it as a JPEG of ``WIDTH_PX``."""
    with tempfile.TemporaryDirectory() as folder:
        png = Path(folder) / "image.png"
        subprocess.run([sys.executable, "-m", "uavsim", *command.split(), str(png)], check=True)
        pixels = decode_rgb(png)
    height_px = round(pixels.shape[0] * WIDTH_PX / pixels.shape[1])
    (DOCS / name).write_bytes(encode_jpeg(resized(pixels, width_px=WIDTH_PX, height_px=height_px), quality=85))


if __name__ == "__main__":
    for name, command in COMMANDS.items():
        draw(name, command)
