"""Baselines for multi-drone perception on uavsim's datasets: train, predict, score; see README.md.

Packages, lowest first: ``bev`` has geometry (grid, cameras, boxes, targets, peaks), ``sharing`` the sharing methods,
``detector`` the network, ``data`` reads datasets and writes results, ``training`` trains and predicts, ``tracking`` links
boxes to tracks, ``cli`` is the command line.
"""
