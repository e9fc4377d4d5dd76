"""OpenDRIVE texts, written by hand."""

from uavsim.maps.opendrive.model import Network, Road
from uavsim.maps.opendrive.read import read_network

WIDTH = '<width sOffset="0" a="{}" b="0" c="0" d="0"/>'


def lane(number, kind="driving", wide=3.5, *, before=None, after=None, mark="broken", inside=""):
    links = "".join(
        f'<{end} id="{other}"/>' for end, other in (("predecessor", before), ("successor", after)) if other is not None
    )
    width = "" if number == 0 else WIDTH.format(wide)
    paint = f'<roadMark sOffset="0" type="{mark}" color="white"/>'
    return f'<lane id="{number}" type="{kind}" level="false"><link>{links}</link>{width}{inside}{paint}</lane>'


def section(*lanes, s=0.0):
    ids = {text: int(text.split('id="')[1].split('"')[0]) for text in lanes}
    sides = {
        "left": [t for t, i in ids.items() if i > 0],
        "center": [t for t, i in ids.items() if i == 0] or [lane(0, "none", mark="solid")],
        "right": [t for t, i in ids.items() if i < 0],
    }
    return (
        f'<laneSection s="{s}">' + "".join(f"<{k}>{''.join(v)}</{k}>" for k, v in sides.items() if v) + "</laneSection>"
    )


def road(
    name,
    *sections,
    x=0.0,
    y=0.0,
    heading=0.0,
    length=100.0,
    shape="<line/>",
    junction=-1,
    link="",
    more="",
    offset="",
    elevation="",
    lateral="",
    rule="RHT",
):
    return (
        f'<road name="" id="{name}" length="{length}" junction="{junction}" rule="{rule}"><link>{link}</link>'
        f'<planView><geometry s="0" x="{x}" y="{y}" hdg="{heading}" length="{length}">{shape}</geometry></planView>'
        f"<elevationProfile>{elevation}</elevationProfile><lateralProfile>{lateral}</lateralProfile>"
        f"<lanes>{offset}{''.join(sections)}</lanes>{more}</road>"
    )


def text(*parts):
    return f'<?xml version="1.0"?><OpenDRIVE><header revMajor="1" revMinor="4"/>{"".join(parts)}</OpenDRIVE>'.encode()


def network(*parts) -> Network:
    return read_network(text(*parts), name="drawn.xodr")


def one(*args, **kwargs) -> Road:
    return network(road("1", *args, **kwargs)).roads["1"]


def crossing(orientation="+"):
    """Return a road from the west to a junction with roads east and north, a light, a crossing and a stop line."""
    both = section(lane(1, before=1, after=1), lane(-1, before=-1, after=-1), lane(-2, "sidewalk", 2.0))
    light = (
        '<signals><signal id="9" name="l" s="99" t="-5" zOffset="4" hOffset="0" orientation="+" dynamic="yes" type="1000001"'
        ' subtype="-1" width="0.5" height="1.2"><validity fromLane="0" toLane="0"/></signal></signals>'
    )
    walk = (
        '<objects><object id="7" type="crosswalk" name="Ladder" s="96" t="0" zOffset="0" hdg="0" length="3" width="7">'
        "<outline>"
        + "".join(
            f'<cornerLocal u="{u}" v="{v}" z="0"/>' for u, v in ((-1.5, -3.5), (1.5, -3.5), (1.5, 3.5), (-1.5, 3.5))
        )
        + "</outline></object></objects>"
    )
    referred = (
        f'<signals><signalReference id="9" s="0" t="0" orientation="{orientation}"><validity fromLane="-1" toLane="-1"/>'
        "</signalReference></signals>"
    )

    def link(before, after, kinds=("road", "road")):
        parts = []
        for end, other, kind, contact in (
            ("predecessor", before, kinds[0], "end"),
            ("successor", after, kinds[1], "start"),
        ):
            if other is not None:
                at = f' contactPoint="{contact}"' if kind == "road" else ""
                parts.append(f'<{end} elementType="{kind}" elementId="{other}"{at}/>')
        return "".join(parts)

    through = section(lane(1, before=1, after=1), lane(-1, before=-1, after=-1))
    turn = section(lane(-1, before=-1, after=-1))
    quarter = 20 * 3.141592653589793 / 2
    links = ((1, 10, "start", -1), (1, 11, "start", -1), (2, 10, "end", 1))
    connections = '<junction id="50" name="j">'
    for number, (incoming, connecting, contact, i) in enumerate(links):
        connections += f'<connection id="{number}" incomingRoad="{incoming}" connectingRoad="{connecting}"'
        connections += f' contactPoint="{contact}"><laneLink from="{i}" to="{i}"/></connection>'
    connections += "</junction>"
    return network(
        road("1", both, link=link(None, 50, ("road", "junction")), more=walk + light),
        road("2", both, x=140.0, link=link(50, None, ("junction", "road"))),
        road("3", both, x=120.0, y=20.0, heading=1.5707963267948966, link=link(50, None, ("junction", "road"))),
        road("10", through, x=100.0, length=40.0, junction=50, link=link(1, 2), more=referred),
        road(
            "11",
            turn,
            x=100.0,
            length=quarter,
            shape='<arc curvature="0.05"/>',
            junction=50,
            link=link(1, 3),
            more=referred,
        ),
        connections,
    )
