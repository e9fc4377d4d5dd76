"""COCO's run-length encoding of masks: alternating runs of 0 and 1 in column order, as compact text.

Source: cocodataset/cocoapi ``maskApi.c`` (``rleToString``): from the fourth run on, the difference to the run two before;
each character holds five bits, a sixth bit if more follow, and an offset of 48.
"""

import numpy as np

from uavsim.typing import BoolArray, IntArray, JsonDict

_CHARACTERS = 7  # five bits each: more than any difference of two 32-bit numbers needs


def encode_rle(
    inside: BoolArray, *, at_px: tuple[int, int] = (0, 0), size_px: tuple[int, int] | None = None
) -> JsonDict:
    """Encode a mask or a cut-out of a mask.

    Args:
        inside: (h, w) bool, True on pixels of the object.
        at_px: (x, y) of the cut-out's upper left pixel in the image.
        size_px: (width, height) of the image; default: the size of ``inside``.

    Returns:
        ``{"size": [height, width], "counts": "..."}``.
    """
    height, width = inside.shape
    image_width, image_height = size_px or (width, height)
    framed = np.zeros((height + 2, width), dtype=np.int8)
    framed[1:-1] = inside
    edges = np.diff(framed, axis=0).T  # (w, h + 1): +1 where a run starts, -1 one past its end
    column, line = np.nonzero(edges == 1)
    starts = (column + at_px[0]) * image_height + line + at_px[1]
    column, line = np.nonzero(edges == -1)
    ends = (column + at_px[0]) * image_height + line + at_px[1]
    apart = starts[1:] != ends[:-1]  # a run may continue at the top of the next column
    starts, ends = starts[np.r_[starts[:1] >= 0, apart]], ends[np.r_[apart, ends[:1] >= 0]]
    turns = np.stack([starts, ends], axis=1).ravel() if len(starts) else np.zeros(0, dtype=np.int64)
    total = image_width * image_height
    counts = np.diff(np.r_[0, turns, total] if not len(turns) or turns[-1] != total else np.r_[0, turns])
    return {"size": [image_height, image_width], "counts": _text(counts)}


def _text(counts: IntArray) -> str:
    change = counts.astype(np.int64)
    change[3:] -= counts[1:-2]
    shifted = change[:, None] >> (5 * np.arange(_CHARACTERS))
    bits = shifted & 31
    rest = shifted >> 5
    done = np.where(bits & 16, rest == -1, rest == 0)  # only the sign remains
    length = done.argmax(axis=1)
    position = np.arange(_CHARACTERS)
    characters = np.where(position < length[:, None], bits | 32, bits) + 48
    data: bytes = characters[position <= length[:, None]].astype(np.uint8).tobytes()
    return data.decode("ascii")
