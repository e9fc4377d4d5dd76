"""The columns of every table, in writing order; a row is a plain dictionary.

Columns ``uav_*`` are extensions, which other datasets lack; docs/formats-tables.md explains them.
Source: nuScenes schema (nuscenes-devkit, ``docs/schema_nuscenes.md``).
"""

from typing import NotRequired, TypeAlias, TypedDict

from uavsim.typing import JsonDict

Vector: TypeAlias = list[float]


class CategoryRow(TypedDict):
    """A class of objects; ``index`` and ``color`` are for drawings of semantic masks."""

    token: str
    name: str
    description: str
    index: NotRequired[int]
    color: NotRequired[list[int]]


class AttributeRow(TypedDict):
    """The activity of an object."""

    token: str
    name: str
    description: str


class VisibilityRow(TypedDict):
    """A level of visibility."""

    token: str
    level: str
    description: str


class SemanticTagRow(TypedDict):
    """The meaning of a value of the masks' red channel."""

    token: str
    index: int
    name: str
    color: list[int]


class SensorRow(TypedDict):
    """A channel; ``modality`` is camera, lidar or radar."""

    token: str
    channel: str
    modality: str


class MapRow(TypedDict):
    """The map mask of a town; ``uav_mask_origin`` is the map position of its bottom left pixel, metres."""

    token: str
    log_tokens: list[str]
    category: str
    filename: str
    uav_town: NotRequired[str]
    uav_mask_origin: NotRequired[Vector]
    uav_metres_per_pixel: NotRequired[float]


class SceneRow(TypedDict):
    """A scene."""

    token: str
    log_token: str
    nbr_samples: int
    first_sample_token: str
    last_sample_token: str
    name: str
    description: str


class LogRow(TypedDict):
    """The circumstances of a scene's recording; one row per scene."""

    token: str
    logfile: str
    vehicle: str
    date_captured: str
    location: str
    uav_scene_index: NotRequired[int]
    uav_dataset: NotRequired[str]
    uav_route: NotRequired[str]
    uav_formation: NotRequired[str]
    uav_rig: NotRequired[str]
    uav_weather: NotRequired[str]
    uav_topology: NotRequired[str]
    uav_seed: NotRequired[int]
    uav_simulator: NotRequired[str]
    uav_client_version: NotRequired[str]
    uav_server_version: NotRequired[str]
    uav_carla_map: NotRequired[str]
    uav_vehicles_asked: NotRequired[int]
    uav_vehicles_spawned: NotRequired[int]
    uav_walkers_asked: NotRequired[int]
    uav_walkers_spawned: NotRequired[int]
    uav_moved_in_warmup: NotRequired[float]
    uav_moved_in_scene: NotRequired[float]
    uav_traffic_retry: NotRequired[int]
    uav_notes: NotRequired[list[str]]
    uav_drawn: NotRequired[dict[str, float]]


class SampleRow(TypedDict):
    """A keyframe; ``uav_weather`` holds CARLA's 14 parameters at that tick."""

    token: str
    timestamp: int
    prev: str
    next: str
    scene_token: str
    uav_weather: NotRequired[dict[str, float]]


class SampleDataRow(TypedDict):
    """An image or scan; sweeps belong to the keyframe that follows them."""

    token: str
    sample_token: str
    ego_pose_token: str
    calibrated_sensor_token: str
    timestamp: int
    is_key_frame: bool
    prev: str
    next: str
    fileformat: str
    height: int
    width: int
    filename: str


class SampleAnnotationRow(TypedDict):
    """A box; ``records.label_columns.COLUMNS`` makes the ``uav_`` columns."""

    token: str
    sample_token: str
    instance_token: str
    visibility_token: str
    attribute_tokens: list[str]
    translation: Vector
    size: Vector
    rotation: Vector
    prev: str
    next: str
    num_lidar_pts: int
    num_radar_pts: int
    uav_instance_id: NotRequired[int]
    uav_blueprint: NotRequired[str]
    uav_actor_translation: NotRequired[Vector]
    uav_bbox_offset: NotRequired[Vector]
    uav_euler_deg: NotRequired[Vector]
    uav_velocity: NotRequired[Vector]
    uav_angular_velocity: NotRequired[Vector]
    uav_acceleration: NotRequired[Vector]
    uav_amodal_px: NotRequired[int]
    uav_seen_by: NotRequired[list[int]]
    uav_missed_samples: NotRequired[int]
    uav_visible_px: NotRequired[int]


class InstanceRow(TypedDict):
    """An object of one scene."""

    token: str
    category_token: str
    nbr_annotations: int
    first_annotation_token: str
    last_annotation_token: str
    uav_instance_id: NotRequired[int]
    uav_label: NotRequired[str]
    uav_category: NotRequired[str]
    uav_blueprint: NotRequired[str]
    uav_base_type: NotRequired[str]
    uav_kind: NotRequired[str]
    uav_semantic_tag: NotRequired[int]
    uav_color: NotRequired[str]
    uav_size_source: NotRequired[str]
    uav_removed_at_sample: NotRequired[int | None]


class AgentRow(TypedDict):
    """An agent with sensors; ``size`` and ``instance_token`` belong to its own box."""

    token: str
    scene_token: str
    id: str
    kind: str
    rig: str
    size: Vector | None
    instance_token: str


class EgoPoseRow(TypedDict):
    """The pose of an image's agent; only drones have planned poses, and rows of LIDAR_TOP have no velocity."""

    token: str
    timestamp: int
    rotation: Vector
    translation: Vector
    uav_drone_id: NotRequired[int]
    uav_velocity: NotRequired[Vector]
    uav_planned_translation: NotRequired[Vector]
    uav_planned_rotation: NotRequired[Vector]
    uav_agent: NotRequired[str]


class LensColumns(TypedDict):
    """Columns of a camera with a lens or a shutter: model and coefficients of ``LENS_MODELS``, vignetting, shutter times."""

    uav_lens: NotRequired[str]
    uav_distortion: NotRequired[Vector]
    uav_vignetting: NotRequired[Vector]
    uav_exposure_us: NotRequired[int]
    uav_readout_us: NotRequired[int]
    uav_shutter_step_us: NotRequired[int]


class CalibratedSensorRow(TypedDict):
    """The mount of a sensor on its drone; ``camera_intrinsic`` is 3 x 3, [] for other sensors than cameras."""

    token: str
    sensor_token: str
    translation: Vector
    rotation: Vector
    camera_intrinsic: list[Vector]
    uav_lens: NotRequired[str]
    uav_distortion: NotRequired[Vector]
    uav_vignetting: NotRequired[Vector]
    uav_exposure_us: NotRequired[int]
    uav_readout_us: NotRequired[int]
    uav_shutter_step_us: NotRequired[int]


class CameraPoseRow(TypedDict):
    """An image's global camera pose, map <- optical, and the commanded angles (left-handed, degrees)."""

    token: str
    translation: Vector
    rotation: Vector
    euler_deg: Vector


class ShutterTickRow(TypedDict):
    """The pose, map <- optical, of a camera at one of the ticks of its image through the shutter."""

    token: str
    sample_data_token: str
    timestamp: int
    translation: Vector
    rotation: Vector


class LayerRow(TypedDict):
    """A file of another modality with the pose and tick of an image."""

    token: str
    sample_data_token: str
    kind: str
    fileformat: str
    filename: str


class LidarsegRow(TypedDict):
    """The file with the labels of a lidar's points at a keyframe; ``token`` is that of its ``sample_data``."""

    token: str
    sample_data_token: str
    filename: str


class ViewEntry(TypedDict):
    """A box in one camera image: x_min, y_min, x_max, y_max, pixels; ``shutter_*`` for a camera with a shutter."""

    sample_data_token: str
    channel: str
    visible_px: int
    amodal_px: int
    occlusion: float
    truncation: float
    visible_box: list[int] | None
    amodal_box: Vector
    shutter_px: NotRequired[int]
    shutter_box: NotRequired[list[int] | None]


class AgentEntry(TypedDict):
    """One agent's measurement of a box, summed over its sensors; points for rigs with lidars or radars."""

    agent: str
    visible_px: int
    amodal_px: int
    num_lidar_pts: NotRequired[int]
    num_radar_pts: NotRequired[int]


class VisibilityDetailRow(TypedDict):
    """A box in each camera; ``agents`` in datasets with the table ``agent``."""

    token: str
    sample_annotation_token: str
    seen_by: list[int]
    views: list[ViewEntry]
    agents: NotRequired[list[AgentEntry]]


class IgnoreRegionRow(TypedDict):
    """A region of an image that shows a road user without a box."""

    token: str
    sample_data_token: str
    semantic_tag: int
    box: list[int]
    pixels: int


class SweepAnnotationRow(TypedDict):
    """The true pose of a box between two keyframes; size and class are those of its instance's boxes."""

    token: str
    sample_token: str
    timestamp: int
    instance_token: str
    translation: Vector
    rotation: Vector


class AgentViewRow(TypedDict):
    """The degraded report of an image's agent; ``links`` by the kind of the receiver, air or ground."""

    token: str
    sample_data_token: str
    reported_translation: NotRequired[Vector]
    reported_rotation: NotRequired[Vector]
    reported_timestamp_us: NotRequired[int]
    arrival_timestamp_us: NotRequired[int]
    dropped: NotRequired[bool]
    links: NotRequired[JsonDict]


class RunInfo(TypedDict, total=False):
    """Name, seed, fingerprint and versions of a dataset; the same in every run."""

    dataset: str
    seed: int
    fingerprint: str
    versions: dict[str, str]


class DatasetInfo(RunInfo, total=False):
    """``uav_dataset.json``: content and dialect of a version folder."""

    dialect: str
    version: str
    scenes: int
    towns: list[str]
    rows: dict[str, int]
    notes: list[str]


class CornerCaseRow(TypedDict):
    """One object of a corner case; ``instance_tokens`` are its parts, which have boxes.

    ``seen`` maps each training set to whether it has the tag, ``in_domain`` to whether it has the scene's town and weather.
    """

    token: str
    scene_token: str
    name: str
    tag: str
    synonyms: list[str]
    hypernyms: list[str]
    seen: dict[str, bool]
    in_domain: dict[str, bool]
    on: str
    min_visible_px: int
    attributes: dict[str, str]
    instance_tokens: list[str]


class ObjectTagRow(TypedDict):
    """The tag of one instance of a dataset with corner cases; ``corner_case_token`` is "" for ordinary objects."""

    token: str
    instance_token: str
    tag: str
    synonyms: list[str]
    hypernyms: list[str]
    seen: dict[str, bool]
    corner_case_token: str


class EncounterRow(TypedDict):
    """An intruder and its passage: planned values, and ``cpa_m`` and ``cpa_s`` as flown; times since the first image."""

    token: str
    scene_token: str
    name: str
    kind: str
    path: str
    profile: str
    planned: bool
    instance_id: int
    channel: str
    size: Vector
    collision_course: bool
    begin_s: float
    range_m: float
    closing_mps: float
    azimuth_deg: float
    elevation_deg: float
    cpa_m: float
    cpa_s: float
    planned_cpa_m: float
    planned_cpa_s: float


class IntruderViewRow(TypedDict):
    """An intruder in one image; boxes are left, top, width, height."""

    token: str
    encounter_token: str
    sample_data_token: str
    translation: Vector
    rotation: Vector
    range_m: float
    closing_mps: float
    azimuth_deg: float
    elevation_deg: float
    bbox: Vector
    bbox_aot: Vector
    from_mask: bool
    visible_px: int
    is_above_horizon: NotRequired[int]


class StreamRow(TypedDict):
    """One sensor's readings over a scene; ``filename`` is a Parquet file.

    ``motion`` is ``planned``, also between the simulator's steps, or ``reported`` by the simulator at its steps.
    """

    token: str
    scene_token: str
    channel: str
    kind: str
    motion: str
    rate_hz: float
    count: int
    filename: str


class ClockRow(TypedDict):
    """One agent's clock, and the simulation's step.

    At ``t`` us of a scene that begins at ``t0`` it shows ``t + (t - t0) * drift_ppm * 1e-6 + offset_us``.
    """

    token: str
    scene_token: str
    agent: str
    rate_hz: float
    step_us: int
    drift_ppm: float
    offset_us: float


class ClockReadingRow(TypedDict):
    """One image by its agent's clock; ``sample_data.timestamp`` is its true time.

    ``asked_us`` is the requested true time since the scene's begin; ``residual_us`` is the delay, at most half a step of the
    simulation. ``agent_timestamp`` is the time of the agent's clock.
    """

    token: str
    sample_data_token: str
    asked_us: float
    residual_us: float
    agent_timestamp: int


class MessageRow(TypedDict):
    """The transmission of the images of one time to another agent; ``arrival`` is 0 for a lost message."""

    token: str
    scene_token: str
    sender: str
    receiver: str
    timestamp: int
    arrival: int


class SkinRow(TypedDict):
    """The skin of a scene; ``log`` and ``sample`` have its weather and sun.

    ``vehicle_colours`` is ``r,g,b`` by instance token; ``textures`` are the patterns, share, colours and seed of each.
    """

    token: str
    scene_token: str
    name: str
    draw: int
    vehicle_colours: dict[str, str]
    textures: list[JsonDict]
    other_traffic: bool
