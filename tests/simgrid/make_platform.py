# SPDX-License-Identifier: BSD-3-Clause
"""Writes a platform for SimGrid, and the host files of its ranks.

Usage: make_platform.py FOLDER HOSTS CLUSTERS SEED

Each cluster is one switch with a full-duplex port for each host at 1 Gb/s. Each two clusters have a link of their own,
with one latency and one rate for both directions. FOLDER gets platform.xml, hosts.by_cluster and hosts.scattered.
"""
import math
import os
import random
import sys

LAN_LATENCY_S = (26.9e-6, 60.1e-6)  # from host to host; the least and the greatest of the paper's Table 2
LAN_BYTES_PER_S = 125e6             # 1 Gb/s
WAN_LATENCY_S = (1e-3, 20e-3)
WAN_BYTES_PER_S = (1.25e6, 125e6)   # 10 Mb/s to 1 Gb/s
SIZE_WEIGHTS = (0.2, 1.8)           # sizes of clusters are in proportion to these
LEAST_HOSTS = 2

HEAD = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
<zone id="grid" routing="Full">"""


def sizes(generator, hosts, clusters):
    """Uneven parts of `hosts`."""
    weights = [generator.uniform(*SIZE_WEIGHTS) for _ in range(clusters)]
    out = [max(LEAST_HOSTS, int(hosts * weight / sum(weights))) for weight in weights]
    while sum(out) != hosts:
        place = generator.randrange(clusters)
        step = 1 if sum(out) < hosts else -1
        if out[place] + step >= LEAST_HOSTS:
            out[place] += step
    return out


def between(generator, bounds):
    """Evenly distributed over the logarithm."""
    return math.exp(generator.uniform(math.log(bounds[0]), math.log(bounds[1])))


def main(folder, hosts, clusters, seed):
    if hosts < LEAST_HOSTS * clusters:
        sys.exit(f"{clusters} clusters have {LEAST_HOSTS * clusters} hosts or more, not {hosts}")
    generator = random.Random(f"{hosts} {clusters} {seed}")
    os.makedirs(folder, exist_ok=True)
    lines = [HEAD]
    names = []
    for cluster, size in enumerate(sizes(generator, hosts, clusters)):
        latency = between(generator, LAN_LATENCY_S) / 2  # of a port: a message passes two
        lines.append(f'<cluster id="c{cluster}" prefix="c{cluster}-" suffix="" radical="0-{size - 1}" speed="1Gf" '
                     f'bw="{LAN_BYTES_PER_S:.6g}Bps" lat="{latency:.6g}s" router_id="r{cluster}"/>')
        names += [f"c{cluster}-{host}" for host in range(size)]
    pairs = [(one, other) for one in range(clusters) for other in range(one + 1, clusters)]
    routes = []
    for one, other in pairs:
        rate = between(generator, WAN_BYTES_PER_S)
        latency = between(generator, WAN_LATENCY_S)
        link = f"w{one}-{other}"
        lines.append(f'<link id="{link}" bandwidth="{rate:.6g}Bps" latency="{latency:.6g}s" '
                     'sharing_policy="SPLITDUPLEX"/>')
        routes.append(f'<zoneRoute src="c{one}" dst="c{other}" gw_src="r{one}" gw_dst="r{other}" symmetrical="YES">'
                      f'<link_ctn id="{link}" direction="UP"/></zoneRoute>')
    lines += routes + ["</zone>", "</platform>", ""]
    with open(os.path.join(folder, "platform.xml"), "w") as file:
        file.write("\n".join(lines))
    scattered = names[1:]
    generator.shuffle(scattered)
    for name, order in (("by_cluster", names), ("scattered", names[:1] + scattered)):
        with open(os.path.join(folder, "hosts." + name), "w") as file:
            file.write("\n".join(order) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(sys.argv[1], *map(int, sys.argv[2:]))
