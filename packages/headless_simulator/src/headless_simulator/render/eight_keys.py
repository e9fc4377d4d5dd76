"""Eight neighbouring pixels of the z-buffer at a time, written in the compiler's own language of vectors.

numba makes scalar code of the same loop over eight pixels, or loads, compares and stores through a mask, which takes some
processors ten times as long as a plain store. A maximum that is one instruction, and a store of all lanes, cannot become that.

Keys are compared as float64: of numbers whose bits are not negative, those with the greater bits are greater, and whatever
1 / depth is as float32, in the upper half it makes no float64 that is infinite or not a number.
"""

from __future__ import annotations

from typing import Any, Final

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES: Final = 8
_COLUMNS: Final = (0, 1, 4, 5, 2, 3, 6, 7)  # pairing halves of vectors (below) puts them in order
_LOW_HALF: Final = (0, 8, 1, 9, 4, 12, 5, 13)  # mark, bits, mark, bits ... of pixels 0 to 3
_HIGH_HALF: Final = (2, 10, 3, 11, 6, 14, 7, 15)
_LOSES: Final = -0x40800000  # bits of -1.0: less than every key and than sky

_WORD: Final = ir.IntType(32)
_WORDS: Final = ir.VectorType(_WORD, LANES)
_FLOATS: Final = ir.VectorType(ir.FloatType(), LANES)
_KEYS: Final = ir.VectorType(ir.DoubleType(), LANES // 2)


def _spread(builder: Any, value: Any, kind: Any) -> Any:
    """Give a vector with one number in all lanes."""
    first = builder.insert_element(ir.Constant(kind, ir.Undefined), value, ir.Constant(_WORD, 0))
    return builder.shuffle_vector(first, ir.Constant(kind, ir.Undefined), ir.Constant(_WORDS, [0] * LANES))


def _generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Write the code: each key becomes the greater of itself and of the triangle's in columns before ``count``."""
    keys, place, w, gain, column, mark, count = arguments
    columns = builder.add(_spread(builder, builder.trunc(column, _WORD), _WORDS), ir.Constant(_WORDS, list(_COLUMNS)))
    rise = builder.fmul(_spread(builder, gain, _FLOATS), builder.sitofp(columns, _FLOATS))
    bits = builder.bitcast(builder.fadd(_spread(builder, w, _FLOATS), rise), _WORDS)
    within = builder.icmp_signed("<", columns, _spread(builder, builder.trunc(count, _WORD), _WORDS))
    bits = builder.select(within, bits, ir.Constant(_WORDS, [_LOSES] * LANES))
    marks = _spread(builder, builder.trunc(mark, _WORD), _WORDS)
    greater = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(_KEYS, [_KEYS, _KEYS]), "llvm.maxnum.v4f64"
    )
    data = context.make_array(signature.args[0])(context, builder, keys).data
    for first, order in ((0, _LOW_HALF), (LANES // 2, _HIGH_HALF)):
        drawn = builder.bitcast(builder.shuffle_vector(marks, bits, ir.Constant(_WORDS, list(order))), _KEYS)
        at = builder.gep(data, [builder.add(place, ir.Constant(place.type, first))])
        at = builder.bitcast(at, _KEYS.as_pointer())
        seen = builder.load(at, align=8)
        builder.store(builder.call(greater, [drawn, seen], fastmath=["nnan", "nsz"]), at, align=8)
    return context.get_dummy_value()


@intrinsic  # type: ignore[untyped-decorator]
def draw_eight(
    _typing: Any, keys: Any, _place: Any, _w: Any, _gain: Any, _column: Any, _mark: Any, _count: Any
) -> tuple[Any, Any]:
    """Draw columns ``column`` to ``column + 7`` of a span of ``count`` pixels, as far as it reaches.

    In a kernel ``draw_eight(keys, place, w, gain, column, mark, count)``: ``place`` is that of ``column`` in ``keys``, which
    go on for eight from there (what lies past the span stays what it is), ``w`` is 1 / depth at the span's first pixel, as
    float32, and ``gain`` its slope; ``mark`` is a key's lower half.
    """
    signature = types.void(
        keys, types.uint64, types.float32, types.float32, types.int64, types.int64, types.int64
    )  # fmt: skip
    return signature, _generate
