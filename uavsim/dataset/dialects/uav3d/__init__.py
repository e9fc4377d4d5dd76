"""UAV3D's dialect: its format, and both ways between it and strict."""
