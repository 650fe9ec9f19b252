"""A hook for schemathesis: how a body of lines is sent."""

from typing import Any

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def lines(_context: Any, value: Any) -> bytes:
    return str(value).encode("utf-8", "replace")
