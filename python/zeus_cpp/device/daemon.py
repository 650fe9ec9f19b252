"""The daemon that does for this process what it may not do itself, where the environment names one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from zeus_cpp._logger import logger_of

if TYPE_CHECKING:
    from zeus_cpp.utils.zeusd import ZeusdClient

logger = logger_of(__name__)


def named_daemon() -> ZeusdClient | None:
    """Few have one, and its client takes long to import. One that does not answer is said, and is none."""
    if "ZEUSD_SOCK_PATH" not in os.environ and "ZEUSD_HOST_PORT" not in os.environ:
        return None
    from zeus_cpp.utils.zeusd import ZeusdClient, ZeusdConnectionError

    try:
        return ZeusdClient()
    except ZeusdConnectionError as error:
        # Reading takes no daemon: measuring goes on, and setting says what is wrong with this process's own rights.
        logger.warning("devices are used without the daemon: %s", error)
        return None
