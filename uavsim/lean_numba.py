"""numba without work that a process which compiles, and does nothing else, makes no use of: kernels as fast, sooner."""

from __future__ import annotations

import functools
import gc
from typing import Any, Final

from llvmlite.binding import ffi  # type: ignore[import-untyped]
from numba.core import codegen, errors
from numba.core.targetconfig import ConfigStack, TargetConfig
from numba.core.typed_passes import BaseNativeLowering
from numba.core.types import BaseFunction
from numba.core.typing.templates import _OverloadFunctionTemplate

__all__ = ["compile_lean"]

_WRAPPERS: Final = frozenset({"no_cpython_wrapper", "no_cfunc_wrapper"})
_UNSET: Final = object()


def compile_lean() -> None:
    """Leave out of numba what nobody sees in this process, for good, and do without a collector of circles."""
    gc.disable()  # it takes a twentieth of the time, and saves what the process gives back at its end
    _compare_flags_by_what_is_set()
    _type_a_call_once()
    _make_machine_code_of_what_python_calls()
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


class _Callee(codegen.JITCodeLibrary):  # type: ignore[misc]
    """A function that is part of others' machine code and has none of its own."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


def _make_machine_code_of_what_python_calls() -> None:
    """Make none of what has no wrapper for Python's objects, and no such wrappers of numba's own functions."""
    lower, decorator = BaseNativeLowering.run_pass, _OverloadFunctionTemplate._get_jit_decorator
    put = codegen.JITCPUCodegen.set_env

    def run_pass(self: Any, state: Any) -> Any:
        if state.library is None and state.flags.no_cpython_wrapper:
            state.library = _Callee(state.targetctx.codegen(), state.func_id.func_qualname)
            state.library.enable_object_caching()
        return lower(self, state)

    def get_jit_decorator(self: Any) -> Any:
        return functools.partial(decorator(self), **dict.fromkeys(_WRAPPERS, True))

    def set_env(self: Any, name: str, env: Any) -> None:
        if self._engine.is_symbol_defined(name):
            put(self, name, env)

    BaseNativeLowering.run_pass = run_pass
    _OverloadFunctionTemplate._get_jit_decorator = get_jit_decorator
    codegen.JITCPUCodegen.set_env = set_env


def _lay_out(library: Any, module: Any) -> None:
    module.data_layout = library._codegen._data_layout
