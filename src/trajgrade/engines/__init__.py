"""Engines: where the work runs. A name is imported only when it is chosen."""

from trajgrade.registry import Entry

BUILTINS: dict[str, Entry] = {
    "event_loop": Entry("trajgrade.engines.event_loop:EventLoop", "this process, one job by one"),
    "process_pool": Entry(
        "trajgrade.engines.process_pool:ProcessPool", "all cores of this machine"
    ),
    "ray": Entry("trajgrade.engines.ray_cluster:RayCluster", "the machines of a Ray cluster"),
}
