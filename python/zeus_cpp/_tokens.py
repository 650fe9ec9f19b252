"""Tokens and keys that are sent in a header."""

from __future__ import annotations


def sendable(token: str, what: str) -> str:
    """The token without blanks around it, such as the end of a file's line. One that a header cannot hold is a ValueError, which
    does not show it.
    """
    token = token.strip()
    if not (token.isascii() and token.isprintable()):
        raise ValueError(f"{what} contains characters that cannot be sent: a token has printable ASCII characters only")
    return token
