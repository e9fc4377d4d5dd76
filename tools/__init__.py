"""What measures and tries uavsim, and what keeps its house: never shipped, never imported by it."""
