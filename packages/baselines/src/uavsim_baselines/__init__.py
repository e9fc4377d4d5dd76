"""Baselines for multi-drone perception on uavsim's datasets: train, predict, score; see README.md.

Rooms, from the ground up: ``bev`` is geometry (grid, cameras, boxes, targets, peaks), ``sharing`` the ways in which drones
share, ``detector`` the network, ``data`` reads datasets and writes results, ``training`` trains and predicts, ``tracking``
links boxes to tracks, ``cli`` is the command line.
"""
