"""Conformance test: answers of a simulator by capability, compared with those of the headless simulator."""
