"""Requests to a server: JSON over HTTP by the standard library, with timeouts, retries and one kind of error.

Any thread may make requests; each has a connection of its own. What the request does decides whether to try again: one that
never reached the server may always be sent again; one that the server may have carried out, only if doing it twice has the
same effect as once. Messages leave out the query, which may hold a key.
"""

from __future__ import annotations

import base64
import errno
import http.client
import json
import socket
import ssl
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from zeus_cpp._logger import logger_of
from zeus_cpp._tokens import sendable

logger = logger_of(__name__)

_LARGEST_ANSWER = 16 * 1024 * 1024
_BUSY = (502, 503, 504)


class ServerError(Exception):
    """No answer, or a useless one."""


class ServerUnreachable(ServerError):
    """No answer came: the server is down, elsewhere, or too slow."""


class ServerRefused(ServerError):
    """The server refused; `status`, and its own message in `reason`."""

    def __init__(self, message: str, status: int, reason: str) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason


class Answer(NamedTuple):
    """The answer: its content, parsed as JSON, and its headers."""

    value: Any
    headers: Mapping[str, str]


class Server:
    """The server of requests; each of up to `attempts` tries may take `timeout` seconds, with growing pauses between tries.

    With a name and a password in the URL (`http://ann:TOKEN@host`), with a `token`, or with `secret` headers, each request has
    credentials; `url` is then without them, fit for messages. They are not sent on to where a server redirects. `authorities` is
    the file of certificate authorities to trust, with https://, in place of the system's.
    """

    def __init__(
        self, url: str, *, timeout: float = 10.0, attempts: int = 5, pause: float = 0.25, token: str | None = None,
        secret: Mapping[str, str] | None = None, authorities: str | None = None,
    ) -> None:
        parts = urllib.parse.urlsplit(url if isinstance(url, str) else "")
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ValueError(f"the server's URL must begin with http:// or https:// and name a host, not {url!r}")
        if timeout <= 0 or attempts < 1:
            raise ValueError(f"timeout must be above 0 and attempts at least 1, not {timeout} and {attempts}")
        said, _, host = parts.netloc.rpartition("@")
        self.url = parts._replace(netloc=host).geturl().rstrip("/")
        authorization = _authorization(said, token)
        self._secret = {} if authorization is None else {"Authorization": authorization}
        self._secret.update((name, sendable(value, f"the value of {name}")) for name, value in (secret or {}).items())
        self._tls = _tls(authorities) if parts.scheme == "https" else None
        self.timeout = timeout
        self.attempts = attempts
        self.pause = pause

    def request(self, method: str, path: str, **what: Any) -> Any:
        """The answer of `ask`, without its headers."""
        return self.ask(method, path, **what).value

    def ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: str | None = None,
        headers: Mapping[str, str] | None = None,
        repeatable: bool,
        timeout: float | None = None,
        attempts: int | None = None,
    ) -> Answer:
        """`repeatable`: doing it twice has the same effect as doing it once."""
        url = self.url + path + ("?" + urllib.parse.urlencode(query) if query else "")
        attempts = attempts or self.attempts
        for attempt in range(1, attempts + 1):
            try:
                return _once(method, url, body, headers or {}, self._secret, self._tls, timeout or self.timeout)
            except _Failure as failure:
                if attempt == attempts or not (failure.unsent or (repeatable and failure.passing)):
                    raise failure.error from failure.__cause__
                pause = self.pause * 2 ** (attempt - 1)
                logger.warning("%s; trying again in %.2g s (%d of %d)", failure.error, pause, attempt, attempts)
                time.sleep(pause)
        raise AssertionError("unreachable")


class _Failure(Exception):
    """How one try ended: `unsent` if the server cannot have seen it, `passing` if another try may succeed."""

    def __init__(self, error: ServerError, *, unsent: bool, passing: bool) -> None:
        super().__init__(str(error))
        self.error = error
        self.unsent = unsent
        self.passing = passing


def _authorization(said: str, token: str | None) -> str | None:
    """The authorization header; `said` is the part of a URL before its host."""
    if said:
        name, _, password = said.partition(":")
        pair = f"{urllib.parse.unquote(name)}:{urllib.parse.unquote(password)}"
        return f"Basic {base64.b64encode(pair.encode()).decode()}"
    token = sendable(token, "the token") if token else None
    return f"Bearer {token}" if token else None


def _tls(authorities: str | None) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=authorities or None)
    except OSError as error:  # that of a file without certificates too
        why = error.reason if isinstance(error, ssl.SSLError) else error.strerror
        raise ValueError(f"the certificates in {authorities!r} cannot be read: {why}") from error
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


class _Deadline:
    """Cuts a request's connection when its time is up: a socket's own timeout begins again with each byte that comes."""

    def __init__(self, seconds: float) -> None:
        self.passed = False
        self._socket: socket.socket | None = None
        self._timer = threading.Timer(seconds, self._cut)
        self._timer.daemon = True

    def __enter__(self) -> None:
        # CPython 3.12 starts no thread in an exit handler. Each wait of the socket still has its timeout.
        with suppress(RuntimeError):
            self._timer.start()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        if self._timer.ident is not None:
            self._timer.join()

    def watch(self, connected: socket.socket) -> None:
        self._socket = connected
        if self.passed:
            self._cut()

    def _cut(self) -> None:
        self.passed = True
        if self._socket is not None:
            with suppress(OSError):
                # Not that of an SSLSocket, which takes its state from under the thread that reads.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


def _opener(deadline: _Deadline, tls: ssl.SSLContext | None) -> urllib.request.OpenerDirector:
    class Plain(http.client.HTTPConnection):
        def connect(self) -> None:
            super().connect()
            deadline.watch(self.sock)

    class Secure(http.client.HTTPSConnection):
        def connect(self) -> None:
            super().connect()
            deadline.watch(self.sock)

    class OpenPlain(urllib.request.HTTPHandler):
        def http_open(self, request: urllib.request.Request) -> Any:
            return self.do_open(Plain, request)

    class OpenSecure(urllib.request.HTTPSHandler):
        def https_open(self, request: urllib.request.Request) -> Any:
            return self.do_open(Secure, request, context=tls)

    return urllib.request.build_opener(OpenPlain, OpenSecure)


def _once(
    method: str, url: str, body: str | None, headers: Mapping[str, str], secret: Mapping[str, str], tls: ssl.SSLContext | None,
    timeout: float,
) -> Answer:
    request = urllib.request.Request(url, data=None if body is None else body.encode(), headers=dict(headers), method=method)
    for name, value in secret.items():
        request.add_unredirected_header(name, value)  # to this host only
    request.add_header("Accept", "application/json")
    if body is not None and not request.has_header("Content-type"):
        request.add_header("Content-Type", "application/json")
    what = f"{method} {url.partition('?')[0]}"
    deadline = _Deadline(timeout)
    try:
        with deadline, _opener(deadline, tls).open(request, timeout=timeout) as answer:
            content = answer.read(_LARGEST_ANSWER + 1)
            told = answer.headers
            if deadline.passed:
                raise TimeoutError
    except urllib.error.HTTPError as error:
        raise _refused(what, error) from error
    except (OSError, http.client.HTTPException) as error:
        raise _unreachable(what, TimeoutError() if deadline.passed else error, timeout) from error
    if len(content) > _LARGEST_ANSWER:
        raise _Failure(ServerError(f"{what}: the answer is longer than 16 MiB"), unsent=False, passing=False)
    try:
        return Answer(json.loads(content) if content.strip() else None, told)
    except (ValueError, RecursionError) as error:
        shown = content[:200].decode(errors="replace")
        message = f"{what}: the answer is not JSON (is this the right server?); it begins {shown!r}"
        raise _Failure(ServerError(message), unsent=False, passing=False) from error


def _refused(what: str, error: urllib.error.HTTPError) -> _Failure:
    try:
        content = error.read(4096).decode(errors="replace")
    except (OSError, http.client.HTTPException):
        content = ""
    message = f"{what}: the server answered {error.code}: {_reason(content) or error.reason}"
    return _Failure(ServerRefused(message, error.code, _reason(content)), unsent=False, passing=error.code in _BUSY)


def _reason(content: str) -> str:
    """The server's own message from {"message": ..} or {"detail": ..}, or the whole content."""
    try:
        values = json.loads(content)
    except ValueError:
        return content.strip()
    if isinstance(values, dict):
        for key in ("message", "detail", "error"):
            if values.get(key):
                return values[key] if isinstance(values[key], str) else json.dumps(values[key])
    return content.strip()


def _unreachable(what: str, error: Exception, timeout: float) -> _Failure:
    cause = error.reason if isinstance(error, urllib.error.URLError) and isinstance(error.reason, Exception) else error
    unsent = isinstance(cause, (ConnectionRefusedError, socket.gaierror)) or _unroutable(cause)
    if isinstance(cause, socket.gaierror):
        text = f"the host's name is unknown ({cause.strerror})"
    elif isinstance(cause, ConnectionRefusedError):
        text = "nothing listens there; is the server running?"
    elif isinstance(cause, (socket.timeout, TimeoutError)):
        text = f"no answer within {timeout:g} s"
    elif isinstance(cause, ssl.SSLCertVerificationError):
        text = f"no secure connection (its certificate is refused: {cause.verify_message})"
    elif isinstance(cause, ssl.SSLError):
        text = f"no secure connection ({cause.reason or cause})"
    else:
        text = f"the connection broke ({cause})"
    passing = not isinstance(cause, (ssl.SSLError, http.client.InvalidURL))
    return _Failure(ServerUnreachable(f"{what}: {text}"), unsent=unsent, passing=passing)


def _unroutable(cause: Exception) -> bool:
    codes: tuple[int, ...] = (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN)
    return isinstance(cause, OSError) and cause.errno in codes
