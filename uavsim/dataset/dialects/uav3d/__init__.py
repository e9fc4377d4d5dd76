"""UAV3D's dialect: its format, and conversions from and to strict."""
