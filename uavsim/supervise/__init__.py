"""Start, watch and reliably end simulators and client processes."""
