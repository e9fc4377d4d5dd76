"""Loads that numba has no expression for: two neighbouring texels at once, and a row that is wanted soon."""

from __future__ import annotations

from typing import Any, Final

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_PAIR: Final = ir.IntType(32)
_ADDRESS: Final = ir.IntType(8).as_pointer()
_TO_READ_AND_KEEP: Final = tuple(ir.Constant(ir.IntType(32), number) for number in (0, 3, 1))


def _generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    texels, at = arguments
    first = builder.gep(context.make_array(signature.args[0])(context, builder, texels).data, [at])
    return builder.load(builder.bitcast(first, _PAIR.as_pointer()), align=2)


@intrinsic  # type: ignore[untyped-decorator]
def two_texels(_typing: Any, texels: Any, _at: Any) -> tuple[Any, Any]:
    """Load texels ``at`` and ``at + 1`` of flat uint16 ``texels``: the first in the lower half of a uint32."""
    return types.uint32(texels, types.uint64), _generate


def _generate_fetch(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    rows, row = arguments
    array = context.make_array(signature.args[0])(context, builder, rows)
    first = ir.Constant(row.type, 0)
    at = cgutils.get_item_pointer(context, builder, signature.args[0], array, [row, first])
    kind = ir.FunctionType(ir.VoidType(), [_ADDRESS, *(number.type for number in _TO_READ_AND_KEEP)])
    fetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
    builder.call(fetch, [builder.bitcast(at, _ADDRESS), *_TO_READ_AND_KEEP])
    return context.get_dummy_value()


@intrinsic  # type: ignore[untyped-decorator]
def fetch_ahead(_typing: Any, rows: Any, _row: Any) -> tuple[Any, Any]:
    """Let the processor fetch the beginning of a row of a table, and go on meanwhile."""
    return types.void(rows, types.uint64), _generate_fetch
