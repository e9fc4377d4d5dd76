"""The tables of encounters in the air."""

from uavsim.dataset.rows import EncounterRow, IntruderViewRow
from uavsim.dataset.schema import ENCOUNTER, INTRUDER_VIEW

__all__ = ["ENCOUNTER", "INTRUDER_VIEW", "EncounterRow", "IntruderViewRow"]
