"""Beats of a training, for servers that accept them: such a server takes the training for dead after two minutes of silence,
and otherwise has to wait for hours. A server announces by itself that it accepts beats; others get none.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping

from zeus_cpp._logger import logger_of
from zeus_cpp._http import Server, ServerError, ServerRefused

logger = logger_of(__name__)

# Header of the answer to a registration, of a request for a batch size, and of its answer: where beats go.
_TAKES = "Zeus-Takes"
GIVES_BEATS = {"Zeus-Gives": "beats"}
BEAT_PATH = "Zeus-Beat-Path"

# A quarter of the lease of an owner that sends beats.
BETWEEN_BEATS = 30.0

# For a recurrence that is over, or was forgotten with its job.
_OVER = (404, 409)


def takes_beats(told: Mapping[str, str]) -> bool:
    return told.get(_TAKES) == "beats"


class Beats:
    """Sends beats from a thread of its own, until it is stopped or the process ends."""

    def __init__(self, server: Server, path: str) -> None:
        self._server = server
        self._path = path
        self._stopped = threading.Event()
        threading.Thread(target=self._beat, name="zeus-beats", daemon=True).start()

    def stop(self) -> None:
        """May be called again. Does not wait for a beat that is being sent."""
        self._stopped.set()

    def _beat(self) -> None:
        while not self._stopped.wait(BETWEEN_BEATS):
            try:
                self._server.request("POST", self._path, body='{"gpus": []}', repeatable=True, attempts=1)
            except ServerError as error:
                if isinstance(error, ServerRefused) and error.status in _OVER:
                    logger.info("the server accepts no more beats of this training: %s", error)
                    return
                logger.info("the server did not receive a beat; the next one follows: %s", error)
