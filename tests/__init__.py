"""Tests of uavsim, room by room as the package; what several rooms need lies here."""
