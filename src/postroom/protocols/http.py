"""HTTP, whatever its version."""

from postroom.protocols.protocol import Option, Wire

HTTP = Wire(
    name="HTTP",
    spellings=("HTTP", "HTTP/1.1", "HTTP/2", "HTTP/3"),
    options=(
        Option("method"),
        Option("path", "uritemplate", channel=True),
        Option("query", shape="named"),
        Option("headers", shape="named"),
        Option("status"),
    ),
    headers="headers",
    prefixes=("ce-",),
    contenttype=("headers", "content-type"),
    contentencoding=("headers", "content-encoding"),
    channel=("path",),
    sent=("headers", "date"),
    headers_ignore_case=True,
    percent_encoded=True,
)
