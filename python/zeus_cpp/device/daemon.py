"""The daemon that does for this process what it may not do itself, if the environment names one."""

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
    """The daemon that the environment names; or that on the usual socket, if it exists and this process may not set GPUs itself.

    Few machines have one, and its client takes long to import. If it does not answer, that is logged, and there is none.
    """
    is_named = "ZEUSD_SOCK_PATH" in os.environ or "ZEUSD_HOST_PORT" in os.environ
    if not is_named and (not os.path.exists(_USUAL_SOCKET) or has_sys_admin()):
        return None
    from zeus_cpp.utils.zeusd import ZeusdClient, ZeusdConfig, ZeusdConnectionError

    try:
        config = ZeusdConfig.from_env() if is_named else ZeusdConfig.uds(_USUAL_SOCKET)
        return None if config is None else ZeusdClient(config)
    except ZeusdConnectionError as error:
        # Reading needs no daemon: measuring goes on, and setters report that this process lacks the rights.
        logger.warning("devices are used without the daemon: %s", error)
        return None
