"""AirSim's RPC methods, a module per subject: functions of the simulation, listed in the module's ``METHODS``."""
