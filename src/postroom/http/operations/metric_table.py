"""Every metric of the service, as data: what is measured, the reference page and the dashboard's test all use it."""

from __future__ import annotations

from postroom.prometheus_text import MetricFamily

REQUEST_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)

REQUEST_SECONDS = MetricFamily(
    name="postroom_http_request_duration_seconds",
    type="histogram",
    help="Time from the head of a request to the end of its answer (of a stream: to the head of its answer).",
    labels=("method", "route", "status"),
    buckets=REQUEST_BUCKETS,
)
REQUESTS_IN_PROGRESS = MetricFamily(
    name="postroom_http_requests_in_progress", type="gauge", help="Requests being answered.", labels=("pid",)
)
CACHE_REQUESTS = MetricFamily(
    name="postroom_cache_requests_total",
    type="counter",
    help="GETs by whether their answer was kept (hit) or had to be made (miss).",
    labels=("result",),
)
STORE_SECONDS = MetricFamily(
    name="postroom_store_transaction_duration_seconds",
    type="histogram",
    help="Time of a transaction from its begin to its end, waiting for other writers included.",
    labels=("operation", "outcome"),
    buckets=REQUEST_BUCKETS,
)
WRITE_WAIT_SECONDS = MetricFamily(
    name="postroom_store_begin_duration_seconds",
    type="histogram",
    help="Time until a transaction has begun: for a connection, and for other writers.",
    labels=("operation",),
    buckets=REQUEST_BUCKETS,
)
CHANGE_LOG_SEQUENCE = MetricFamily(
    name="postroom_change_log_sequence", type="gauge", help="Sequence of the newest change in the change log."
)
CHANGE_LOG_TIME = MetricFamily(
    name="postroom_change_log_newest_timestamp_seconds", type="gauge", help="Time of the newest change (Unix time)."
)
SUBSCRIPTIONS = MetricFamily(
    name="postroom_subscriptions",
    type="gauge",
    help="Subscriptions by the state of their delivery.",
    labels=("status",),
)
DELIVERED_EVENTS = MetricFamily(
    name="postroom_delivered_events_total",
    type="counter",
    help="Events that sinks have taken, of the subscriptions that exist.",
    labels=("subscription",),
)
DELIVERY_LAG_CHANGES = MetricFamily(
    name="postroom_delivery_lag_changes",
    type="gauge",
    help="Changes that a subscription has not settled yet; the hundred subscriptions that are furthest behind.",
    labels=("subscription",),
)
DELIVERY_LAG_SECONDS = MetricFamily(
    name="postroom_delivery_lag_seconds",
    type="gauge",
    help="Age of the oldest change that a subscription has not settled yet.",
    labels=("subscription",),
)
LINKS = MetricFamily(
    name="postroom_links", type="gauge", help="Links that the service runs, by their state.", labels=("status",)
)
LINK_LAG_SECONDS = MetricFamily(
    name="postroom_link_lag_seconds",
    type="gauge",
    help="Time since a link last had everything that its source had, or was told that nothing changed.",
    labels=("link",),
)
DISPATCHER_ALIVE = MetricFamily(
    name="postroom_dispatcher_alive",
    type="gauge",
    help="1 where the threads for deliveries and links of a process run, else 0.",
    labels=("pid",),
)
POOL_WAITING = MetricFamily(
    name="postroom_pool_waiting_requests",
    type="gauge",
    help="Requests that wait for a thread, by pool.",
    labels=("pool", "pid"),
)
POOL_BUSY = MetricFamily(
    name="postroom_pool_busy_threads", type="gauge", help="Threads that are at work, by pool.", labels=("pool", "pid")
)
STREAMS = MetricFamily(
    name="postroom_streams", type="gauge", help="Clients that follow changes as a stream.", labels=("pid",)
)
MEMORY = MetricFamily(
    name="process_resident_memory_bytes", type="gauge", help="Resident memory in bytes.", labels=("pid",)
)
CPU_SECONDS = MetricFamily(
    name="process_cpu_seconds_total", type="counter", help="Processor time, user and system.", labels=("pid",)
)
START_TIME = MetricFamily(
    name="process_start_time_seconds", type="gauge", help="When the process started (Unix time).", labels=("pid",)
)
OPEN_FILES = MetricFamily(name="process_open_fds", type="gauge", help="Open file descriptors.", labels=("pid",))
BUILD = MetricFamily(
    name="postroom_build_info", type="gauge", help="1, with the version as a label.", labels=("version",)
)

FAMILIES = (
    REQUEST_SECONDS,
    REQUESTS_IN_PROGRESS,
    CACHE_REQUESTS,
    STORE_SECONDS,
    WRITE_WAIT_SECONDS,
    CHANGE_LOG_SEQUENCE,
    CHANGE_LOG_TIME,
    SUBSCRIPTIONS,
    DELIVERED_EVENTS,
    DELIVERY_LAG_CHANGES,
    DELIVERY_LAG_SECONDS,
    LINKS,
    LINK_LAG_SECONDS,
    DISPATCHER_ALIVE,
    POOL_WAITING,
    POOL_BUSY,
    STREAMS,
    MEMORY,
    CPU_SECONDS,
    START_TIME,
    OPEN_FILES,
    BUILD,
)
