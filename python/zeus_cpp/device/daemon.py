"""The daemon that does for this process what it may not do itself, where the environment names one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from zeus_cpp._logger import logger_of
from zeus_cpp.device.common import has_sys_admin

if TYPE_CHECKING:
    from zeus_cpp.utils.zeusd import ZeusdClient

logger = logger_of(__name__)


_USUAL_SOCKET = "/run/zeusd/zeusd.sock"


def named_daemon() -> ZeusdClient | None:
    """The one that the environment names, or whose usual socket is there where this process may not set GPUs itself.

    Few have one, and its client takes long to import. One that does not answer is said, and is none.
    """
    is_named = "ZEUSD_SOCK_PATH" in os.environ or "ZEUSD_HOST_PORT" in os.environ
    if not is_named and (not os.path.exists(_USUAL_SOCKET) or has_sys_admin()):
        return None
    from zeus_cpp.utils.zeusd import ZeusdClient, ZeusdConfig, ZeusdConnectionError

    try:
        config = ZeusdConfig.from_env() if is_named else ZeusdConfig.uds(_USUAL_SOCKET)
        return None if config is None else ZeusdClient(config)
    except ZeusdConnectionError as error:
        # Reading takes no daemon: measuring goes on, and setting says what is wrong with this process's own rights.
        logger.warning("devices are used without the daemon: %s", error)
        return None
