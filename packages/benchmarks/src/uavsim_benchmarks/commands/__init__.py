"""The commands that join ``uavsim``, by entry points of the group ``uavsim.commands``."""
