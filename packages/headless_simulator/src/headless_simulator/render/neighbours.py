"""Two neighbouring texels by one load, which numba has no expression for."""

from __future__ import annotations

from typing import Any, Final

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

_PAIR: Final = ir.IntType(32)


def _generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    texels, at = arguments
    first = builder.gep(context.make_array(signature.args[0])(context, builder, texels).data, [at])
    return builder.load(builder.bitcast(first, _PAIR.as_pointer()), align=2)


@intrinsic  # type: ignore[untyped-decorator]
def two_texels(_typing: Any, texels: Any, _at: Any) -> tuple[Any, Any]:
    """Load texels ``at`` and ``at + 1`` of flat uint16 ``texels``: the first in the lower half of a uint32."""
    return types.uint32(texels, types.uint64), _generate
