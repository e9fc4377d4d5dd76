"""This process's own Traffic Manager."""

import carla

from uavsim.simulate.carla.manager_port import ManagerPort, free_port


class Manager:
    """The only one of this process, in synchronous mode, with its port closed.

    libcarla takes each into every town that is loaded, and ticks it there: one more for each town would be one more that
    follows all vehicles of the traffic at every tick.

    Attributes:
        vendors: libcarla's object.
        port: closed to other programs.
    """

    def __init__(self, client: carla.Client) -> None:
        """Start it.

        Raises:
            SimulatorLost: it does not answer, or another program connected to its port first.
            SystemFailure: this system cannot close its port.
        """
        self.vendors = client.get_trafficmanager(free_port())
        self.port = ManagerPort(int(self.vendors.get_port()))
        self.vendors.set_synchronous_mode(True)

    def shut_down(self) -> None:
        """End it."""
        self.vendors.set_synchronous_mode(False)
        self.vendors.shut_down()
        self.port.close()
