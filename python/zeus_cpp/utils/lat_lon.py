"""Where this machine is, roughly."""

from __future__ import annotations

import json
import urllib.request


def get_ip_lat_long() -> tuple[float, float]:
    """Latitude and longitude as ipinfo.io has them for this machine's address; an OSError when it cannot be asked."""
    with urllib.request.urlopen("https://ipinfo.io/json", timeout=10) as answer:
        latitude, longitude = json.load(answer)["loc"].split(",")
    return float(latitude), float(longitude)
