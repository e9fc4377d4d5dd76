"""COCO's run-length encoding of masks: columns first, runs of 0 and 1 in turns, as compact text.

Source: cocodataset/cocoapi ``maskApi.c`` (``rleToString``): from the fourth number on, the difference to the number two
before; five bits a character, the sixth says that more follow, all moved up by 48.
"""

import numpy as np

from uavsim.errors import DatasetError
from uavsim.typing import BoolArray, IntArray, JsonDict

_CHARACTERS = 7  # five bits each: more than any difference of two 32-bit numbers needs


def encode_rle(
    inside: BoolArray, *, at_px: tuple[int, int] = (0, 0), size_px: tuple[int, int] | None = None
) -> JsonDict:
    """Encode a mask, or a cut-out of one.

    Args:
        inside: (h, w) True on the object.
        at_px: (x, y) of the cut-out's upper left pixel in the image.
        size_px: (width, height) of the image; by default the cut-out is all of it.

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
    apart = starts[1:] != ends[:-1]  # a run that goes on at the top of the next column is one run
    starts, ends = starts[np.r_[starts[:1] >= 0, apart]], ends[np.r_[apart, ends[:1] >= 0]]
    turns = np.stack([starts, ends], axis=1).ravel() if len(starts) else np.zeros(0, dtype=np.int64)
    total = image_width * image_height
    counts = np.diff(np.r_[0, turns, total] if not len(turns) or turns[-1] != total else np.r_[0, turns])
    return {"size": [image_height, image_width], "counts": _text(counts)}


def decode_rle(encoded: JsonDict) -> BoolArray:
    """Return the (height, width) mask.

    Raises:
        DatasetError: the runs do not fill the image.
    """
    height, width = encoded["size"]
    counts = _numbers(encoded["counts"])
    if counts.sum() != height * width or (counts < 0).any():
        raise DatasetError(f"a mask of {width}x{height} pixels has runs of {int(counts.sum())}")
    values = np.arange(len(counts)) % 2 == 1
    return np.asarray(np.repeat(values, counts).reshape(width, height).T)


def _text(counts: IntArray) -> str:
    change = counts.astype(np.int64)
    change[3:] -= counts[1:-2]
    shifted = change[:, None] >> (5 * np.arange(_CHARACTERS))
    bits = shifted & 31
    rest = shifted >> 5
    done = np.where(bits & 16, rest == -1, rest == 0)  # what is left is only the sign
    length = done.argmax(axis=1)
    place = np.arange(_CHARACTERS)
    characters = np.where(place < length[:, None], bits | 32, bits) + 48
    data: bytes = characters[place <= length[:, None]].astype(np.uint8).tobytes()
    return data.decode("ascii")


def _numbers(text: str) -> IntArray:
    bits = np.frombuffer(text.encode("ascii"), dtype=np.uint8).astype(np.int64) - 48
    last = (bits & 32) == 0
    number = np.cumsum(np.r_[0, last[:-1]])
    first = np.flatnonzero(np.r_[True, last[:-1]])
    place = np.arange(len(bits)) - first[number]
    values = np.bincount(number, weights=((bits & 31) << (5 * place)).astype(np.float64)).astype(np.int64)
    length = np.bincount(number)
    negative = (bits[last] & 16) != 0
    change = values - np.where(negative, 1 << (5 * length), 0)
    change[1::2] = change[1::2].cumsum()  # each number is relative to the one two before
    change[2::2] = change[2::2].cumsum()
    return change
