"""A small OpenDRIVE template for the tests, and the towns' networks, which no test changes."""

from functools import cache

from headless_simulator.towns.layouts import LAYOUTS
from headless_simulator.towns.network import Network
from headless_simulator.towns.strips import Strip, lane_strips
from headless_simulator.towns.xodr_reader import read_network


@cache
def network_of(name: str) -> Network:
    return read_network(LAYOUTS[name].plan().opendrive().encode(), name)


@cache
def strips_of(name: str) -> list[Strip]:
    return lane_strips(network_of(name))


def road(
    *,
    number="1",
    length="100",
    plan='<geometry s="0" x="0" y="0" hdg="0" length="100"><line/></geometry>',
    before_lanes="",
    offset="",
    right='<lane id="-1" type="driving"><width sOffset="0" a="3.5" b="0" c="0" d="0"/></lane>',
    left="",
    tail="",
    extra="",
):
    return (
        f'<road id="{number}" length="{length}" junction="-1" {extra}>\n{before_lanes}\n<planView>\n{plan}\n</planView>\n'
        f'<lanes>{offset}\n<laneSection s="0">\n<left>{left}</left>\n<center><lane id="0" type="none"/></center>\n'
        f"<right>{right}</right>\n</laneSection>\n</lanes>\n{tail}\n</road>\n"
    )


def document(*parts, head='<OpenDRIVE><header revMajor="1" revMinor="6"/>'):
    return f'<?xml version="1.0"?>\n{head}\n{"".join(parts)}</OpenDRIVE>\n'.encode()
