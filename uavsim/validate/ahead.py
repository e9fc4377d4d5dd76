"""The validator's imports and machine code, before anybody asks for them: most of a second."""

import importlib

from uavsim.validate.checks import checks


def read_ahead() -> None:
    """Import what checks import when they run, and read compiled kernels from disk; those that are not there stay so."""
    importlib.import_module("scipy.spatial")
    importlib.import_module("uavsim.validate.image_measurements")
    from uavsim.validate import image_kernels

    if image_kernels.border_steps._cache.is_kept(image_kernels.border_steps.targetctx.codegen()):  # the last to be kept
        image_kernels.compile_now()
    checks()
