"""The table of CARLA's RPC methods: every module's methods, bound to the part of the context that they need."""

from headless_simulator.carla.context import CarlaContext
from headless_simulator.carla.method import Traits
from headless_simulator.carla.methods import (
    accepted,
    batch,
    bones,
    environment,
    episode,
    gbuffers,
    lights,
    listing,
    maps,
    motion,
    recorder,
    spawning,
    traffic_managers,
    vehicles,
    weather,
)
from headless_simulator.rpc.methods import Bound, bind, combine


def method_table(context: CarlaContext) -> dict[str, Bound[Traits]]:
    """Bind every method; a duplicate name is an error."""
    world, version = context.world, context.streams.version
    table = combine(
        bind(accepted.METHODS, context.counts),
        bind(
            batch.METHODS,
            batch.BatchContext(world, episode=context.episode, clock=context.clock, lifecycle=context.lifecycle),
        ),
        bind(bones.METHODS, world),
        bind(environment.METHODS, world),
        bind(
            episode.METHODS,
            episode.EpisodeContext(
                world,
                episode=context.episode,
                clock=context.clock,
                streams=context.streams,
                sensors=context.sensors,
                silence=context.silence,
                faults=context.faults,
            ),
        ),
        bind(gbuffers.METHODS, context.lifecycle),
        bind(lights.METHODS, world),
        bind(listing.METHODS, listing.ListingContext(world, context.behaviours)),
        bind(
            maps.METHODS,
            maps.MapContext(
                world,
                towns=context.towns,
                loader=context.loader,
                navigation=context.navigation,
                faults=context.faults,
            ),
        ),
        bind(motion.METHODS, world),
        bind(
            recorder.METHODS,
            recorder.RecorderContext(
                clock=context.clock,
                recorder=context.recorder,
                replayer=context.replayer,
                playback=context.playback,
            ),
        ),
        bind(spawning.METHODS, context.lifecycle),
        bind(traffic_managers.METHODS, context.episode),
        bind(vehicles.METHODS, world),
        bind(weather.METHODS, world),
    )
    idle = bind(accepted.without_effect(version.calls_without_effect), context.counts)
    return {name: idle.get(name, bound) for name, bound in table.items() if name not in version.absent_calls}
