"""CARLA's RPC methods, a module per subject: functions of a narrow context, listed in the module's ``METHODS``."""
