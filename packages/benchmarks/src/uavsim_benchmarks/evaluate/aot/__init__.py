"""Airborne Object Tracking: detections of intruders, encounter by encounter."""
