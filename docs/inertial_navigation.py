"""Integrate the IMU of a bag for ten seconds, by hand and with gtsam, with and without GNSS (inertial-navigation.md).

Needs numpy, scipy, rosbags and gtsam. UAVSIM_BAG names the bag; default: out/bags/scene_0000.
"""

import os
from itertools import pairwise
from pathlib import Path

import gtsam
import numpy as np
from gtsam.symbol_shorthand import B, V, X
from rosbags.highlevel import AnyReader
from scipy.spatial.transform import Rotation

# Read the bag.
bag = Path(os.environ.get("UAVSIM_BAG", "out/bags/scene_0000"))
imu, truth, fixes = [], [], []
with AnyReader([bag]) as reader:
    for connection, time_ns, data in reader.messages():
        if "drone_0" in connection.topic:
            message, kind = reader.deserialize(data, connection.msgtype), connection.msgtype.rpartition("/")[2]
            if kind == "Imu":
                w, a = message.angular_velocity, message.linear_acceleration
                imu.append((time_ns / 1e9, w.x, w.y, w.z, a.x, a.y, a.z))
            elif kind == "Odometry":
                p, q, v = message.pose.pose.position, message.pose.pose.orientation, message.twist.twist.linear
                truth.append((time_ns / 1e9, p.x, p.y, p.z, q.w, q.x, q.y, q.z, v.x, v.y, v.z))
            elif kind == "NavSatFix":
                fixes.append((time_ns / 1e9, message.latitude, message.longitude, message.altitude))
imu, truth, fixes = np.array(imu), np.array(truth), np.array(fixes)
first, last = truth[0], truth[np.searchsorted(truth[:, 0], truth[0, 0] + 10.0 - 1e-6)]
seconds = last[0] - first[0]
print(f"{len(imu)} readings, {len(truth)} poses, {len(fixes)} fixes; from pose to pose {seconds:.3f} s")

# Integrate by hand: the gyroscopes rotate the body; specific force in the map, minus gravity, is the acceleration.
GRAVITY = np.array([0.0, 0.0, -9.81])
start = Rotation.from_quat(first[4:8], scalar_first=True)
rotation, velocity, position = start, start.apply(first[8:11]), first[1:4].copy()
chosen = imu[(imu[:, 0] >= first[0] - 1e-6) & (imu[:, 0] <= last[0] + 1e-6)]
for now, then in pairwise(chosen):
    dt = then[0] - now[0]
    later = rotation * Rotation.from_rotvec((now[1:4] + then[1:4]) / 2 * dt)
    acceleration = (rotation.apply(now[4:7]) + later.apply(then[4:7])) / 2 + GRAVITY
    position += velocity * dt + acceleration * dt**2 / 2
    velocity, rotation = velocity + acceleration * dt, later
by_hand_m = np.linalg.norm(position - last[1:4])

# Standard deviation of the error model after T seconds. Tilt errors of the gyroscopes leak gravity into the horizontal axes.
WHITE_A, WALK_A, WHITE_W, WALK_W = 2.0e-3, 3.0e-3, 1.6968e-4, 1.9393e-5  # the IMU's defaults

T, g = seconds, 9.81
along_each_m = np.sqrt(WHITE_A**2 * T**3 / 3 + WALK_A**2 * T**5 / 20)
by_tilt_m = g * np.sqrt(WHITE_W**2 * T**5 / 20 + WALK_W**2 * T**7 / 252)
stated_m = np.sqrt(3 * along_each_m**2 + 2 * by_tilt_m**2)
print(f"by hand: {by_hand_m:.3f} m from the pose after {T:.1f} s; stated {stated_m:.3f} m (one sigma)")
assert by_hand_m < 3 * stated_m

# The same with gtsam, IMU only.
params = gtsam.PreintegrationCombinedParams.MakeSharedU(9.81)
params.setAccelerometerCovariance(np.eye(3) * WHITE_A**2)
params.setGyroscopeCovariance(np.eye(3) * WHITE_W**2)
params.setBiasAccCovariance(np.eye(3) * WALK_A**2)
params.setBiasOmegaCovariance(np.eye(3) * WALK_W**2)
params.setIntegrationCovariance(np.eye(3) * 1e-10)
bias = gtsam.imuBias.ConstantBias()
at_start = gtsam.NavState(gtsam.Pose3(gtsam.Rot3(start.as_matrix()), first[1:4]), start.apply(first[8:11]))


def preintegrated(readings):
    """Preintegrate readings, with the mean of each two neighbours."""
    made = gtsam.PreintegratedCombinedMeasurements(params, bias)
    for now, then in pairwise(readings):
        mean = (now + then) / 2
        made.integrateMeasurement(mean[4:7], mean[1:4], then[0] - now[0])
    return made


alone_m = np.linalg.norm(preintegrated(chosen).predict(at_start, bias).position() - last[1:4])
print(f"gtsam, IMU alone: {alone_m:.3f} m")
assert alone_m < 3 * stated_m

# IMU and GNSS. The map's x is east, its y north: near the origin, two factors convert degrees to metres.
LAT, LON, HEIGHT = 0.0, 0.0, 0.0  # the map's origin: the town's geoReference, of most of CARLA's towns 0, 0
SIGMA_M = np.array([1.0, 1.0, 1.5])
squeezed = 1 - 6.69438e-3 * np.sin(np.radians(LAT)) ** 2
north_m = np.radians(1.0) * (6378137.0 * (1 - 6.69438e-3) / squeezed**1.5 + HEIGHT)
east_m = np.radians(1.0) * (6378137.0 / squeezed**0.5 + HEIGHT) * np.cos(np.radians(LAT))
fixes_map_m = (fixes[:, [2, 1, 3]] - [LON, LAT, HEIGHT]) * [east_m, north_m, 1.0]

EXACT = gtsam.noiseModel.Isotropic.Sigma(6, 1e-6)  # the start is known, and biases are zero there
graph, guess = gtsam.NonlinearFactorGraph(), gtsam.Values()
graph.add(gtsam.PriorFactorPose3(X(0), at_start.pose(), EXACT))
graph.add(gtsam.PriorFactorVector(V(0), at_start.velocity(), gtsam.noiseModel.Isotropic.Sigma(3, 1e-6)))
graph.add(gtsam.PriorFactorConstantBias(B(0), bias, EXACT))
state = at_start
times_s = fixes[(fixes[:, 0] >= first[0] - 1e-6) & (fixes[:, 0] <= last[0] + 1e-6), 0]
for n in range(len(times_s)):
    if n:
        span = (chosen[:, 0] >= times_s[n - 1] - 1e-6) & (chosen[:, 0] <= times_s[n] + 1e-6)
        between = preintegrated(chosen[span])
        graph.add(gtsam.CombinedImuFactor(X(n - 1), V(n - 1), X(n), V(n), B(n - 1), B(n), between))
        state = between.predict(state, bias)
        fix_map_m = fixes_map_m[np.searchsorted(fixes[:, 0], times_s[n] - 1e-6)]
        graph.add(gtsam.GPSFactor(X(n), fix_map_m, gtsam.noiseModel.Diagonal.Sigmas(SIGMA_M)))
    guess.insert(X(n), state.pose())
    guess.insert(V(n), state.velocity())
    guess.insert(B(n), bias)
result = gtsam.LevenbergMarquardtOptimizer(graph, guess).optimize()
sigma_m = np.sqrt(np.diag(gtsam.Marginals(graph, result).marginalCovariance(X(len(times_s) - 1)))[3:])
with_fixes_m = np.linalg.norm(result.atPose3(X(len(times_s) - 1)).translation() - last[1:4])
stated, fix_alone = np.linalg.norm(sigma_m), np.linalg.norm(SIGMA_M)
print(f"gtsam, IMU and GNSS: {with_fixes_m:.3f} m; stated {stated:.3f} m; a fix alone {fix_alone:.2f} m")
assert with_fixes_m < 3 * np.linalg.norm(sigma_m)
