"""Runs a command as a user without rights, in a mount namespace in which it can read its program, wherever that is.

  another_user.py [--user N] [--group N ...] [--readable PATH ...] [--mount FOLDER=AT ...] -- COMMAND ...

If other users may not enter a folder on the way to a PATH, it is covered by an empty one with only the PATH in it. Needs
root (and keeps it with --user 0). Nothing is visible outside, and nothing is left behind.
"""

import argparse
import ctypes
import os
import pathlib
import sys

NOBODY = 65_534
NEW_MOUNTS = 0x00020000  # CLONE_NEWNS
BIND, RECURSIVE, PRIVATE = 1 << 12, 1 << 14, 1 << 18
libc = ctypes.CDLL(None, use_errno=True)


def words(*command: object, user: int = NOBODY, groups=(), readable=(), mounts: dict | None = None) -> list[str]:
    """The command that runs `command` that way; `mounts` says where each folder appears."""
    options = ["--user", user, *(word for group in groups for word in ("--group", group)),
               *(word for path in readable for word in ("--readable", path)),
               *(word for folder, at in (mounts or {}).items() for word in ("--mount", f"{folder}={at}"))]
    return [str(word) for word in [sys.executable, __file__, *options, "--", *command]]


def mount(what: str, at: pathlib.Path, kind: str, flags: int, data: str) -> None:
    if libc.mount(what.encode(), str(at).encode(), kind.encode(), ctypes.c_ulong(flags), data.encode()):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(at))


def cover(folder: pathlib.Path) -> int:
    """By an empty folder, whose device this is."""
    mount("none", folder, "tmpfs", 0, "mode=755")
    return folder.stat().st_dev


def closed(path: pathlib.Path) -> pathlib.Path | None:
    """The first folder on the way to it that other users may not enter."""
    return next((each for each in reversed(path.parents) if not each.stat().st_mode & 1), None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--user", type=int, default=NOBODY)
    parser.add_argument("--group", type=int, action="append", default=[])
    parser.add_argument("--readable", type=pathlib.Path, action="append", default=[])
    parser.add_argument("--mount", action="append", default=[])
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    if libc.unshare(NEW_MOUNTS):
        raise OSError(ctypes.get_errno(), "another mount namespace cannot be made")
    mount("none", pathlib.Path("/"), "none", RECURSIVE | PRIVATE, "")
    # Opened before anything is covered.
    shown = [(path, path) for path in options.readable if closed(path)]
    shown += [tuple(pathlib.Path(part) for part in each.split("=")) for each in options.mount]
    opened = [(os.open(folder, os.O_PATH), at) for folder, at in shown]
    empty = [cover(folder) for folder in {closed(path) for path in options.readable} - {None}]
    for descriptor, at in opened:
        if not at.exists():
            there = next(each for each in at.parents if each.exists())
            if there.stat().st_dev not in empty:
                empty.append(cover(there))
            at.mkdir(parents=True)
        mount(f"/proc/self/fd/{descriptor}", at, "none", BIND | RECURSIVE, "")
    os.setgroups(options.group)
    os.setresgid(options.user, options.user, options.user)
    os.setresuid(options.user, options.user, options.user)
    os.execvp(options.command[0], options.command)


if __name__ == "__main__":
    main()
