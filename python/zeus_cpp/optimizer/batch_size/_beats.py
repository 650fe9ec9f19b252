"""Signs of life of a training, for a server that takes them: one that hears them believes in its death after two minutes of
silence, and otherwise has to wait for hours. Which server does so it says by itself; no other is told anything.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping

from zeus_cpp._logger import logger_of
from zeus_cpp.optimizer._http import Server, ServerError, ServerRefused

logger = logger_of(__name__)

# In the answer to a registration, in a request for a batch size, and in its answer: where beats go.
_TAKES = "Zeus-Takes"
GIVES_BEATS = {"Zeus-Gives": "beats"}
BEAT_PATH = "Zeus-Beat-Path"

# A quarter of the lease that one who beats has.
BETWEEN_BEATS = 30.0

# Of a recurrence that is over, or was forgotten with its job.
_OVER = (404, 409)


def takes_beats(told: Mapping[str, str]) -> bool:
    return told.get(_TAKES) == "beats"


class Beats:
    """Beats from a thread of its own, from now on until it is stopped or the process ends."""

    def __init__(self, server: Server, path: str) -> None:
        self._server = server
        self._path = path
        self._stopped = threading.Event()
        threading.Thread(target=self._beat, name="zeus-beats", daemon=True).start()

    def stop(self) -> None:
        """May be called again. A beat that is under way is not waited for."""
        self._stopped.set()

    def _beat(self) -> None:
        while not self._stopped.wait(BETWEEN_BEATS):
            try:
                self._server.request("POST", self._path, body='{"gpus": []}', repeatable=True, attempts=1)
            except ServerError as error:
                if isinstance(error, ServerRefused) and error.status in _OVER:
                    logger.info("the server takes no more signs of life of this training: %s", error)
                    return
                logger.info("the server has not heard a sign of life; it will hear the next one: %s", error)
