"""numba without work that a process which compiles, and does nothing else, makes no use of: kernels as fast, sooner."""

from __future__ import annotations

import gc
from typing import Any, Final

from llvmlite.binding import ffi  # type: ignore[import-untyped]
from numba.core import codegen, errors
from numba.core.targetconfig import ConfigStack, TargetConfig
from numba.core.types import BaseFunction

__all__ = ["compile_lean"]

_WRAPPERS: Final = frozenset({"no_cpython_wrapper", "no_cfunc_wrapper"})
_UNSET: Final = object()


def compile_lean() -> None:
    """Leave out of numba what nobody sees in this process, for good, and do without a collector of circles."""
    gc.disable()  # it takes a twentieth of the time, and saves what the process gives back at its end
    _compare_flags_by_what_is_set()
    _type_a_call_once()
    if hasattr(errors, "HighlightColorScheme"):  # there is colorama, and each way to call that does not fit is an error
        errors.HighlightColorScheme._markup = lambda _self, message, *_, **__: message
    codegen.CPUCodeLibrary._optimize_functions = _lay_out  # functions are optimised with their callees, later
    ffi.lib._lock._cblist.clear()  # events around each call of LLVM, to which nothing listens


def _compare_flags_by_what_is_set() -> None:
    """Compare what a kernel's flags say, and not each of thirty options, at each ``min`` or ``len`` that is met.

    Whether the kernel has wrappers is none of a callee's business, which numba would compile for either.
    """

    def equal(one: Any, other: object) -> bool:
        if one is other:
            return True
        return isinstance(other, TargetConfig) and all(
            getattr(one, name) == getattr(other, name)
            for name in (one._values.keys() | other._values.keys()) - _WRAPPERS
            if one._values.get(name, _UNSET) != other._values.get(name, _UNSET)
        )

    TargetConfig.__eq__ = equal
    TargetConfig.__hash__ = lambda flags: hash((flags.error_model, flags.nrt, bool(flags.fastmath)))


def _type_a_call_once() -> None:
    """Keep what a builtin gives for types of arguments: numba asks each template again at each place, and in each round."""
    functions: Any = BaseFunction
    search: Any = functions.get_call_type
    known: dict[Any, Any] = {}

    def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
        key = (self, args, tuple(kws.items()), ConfigStack.top_or_none())
        if key not in known:
            signature = search(self, context, args, kws)
            known[key] = signature, self._impl_keys[signature.args]
        signature, self._impl_keys[signature.args] = known[key]
        return signature

    functions.get_call_type = get_call_type


def _lay_out(library: Any, module: Any) -> None:
    module.data_layout = library._codegen._data_layout
