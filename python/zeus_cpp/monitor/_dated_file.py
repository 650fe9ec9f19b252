"""Files of dated values: one for each hour, or for each other stretch of time."""

from __future__ import annotations

import csv
import os
from datetime import datetime, timedelta, timezone, tzinfo
from typing import Any

from zeus_cpp.exception import ZeusBaseError


class ZeusDatedFileError(ZeusBaseError, ValueError):
    """A file of dated values cannot be read; the message names the line or the time."""


def moment_of(text: str) -> datetime:
    """ISO 8601, with or without a zone; a ValueError otherwise."""
    return datetime.fromisoformat(text[:-1] + "+00:00" if text.endswith("Z") else text)


def read_dated(path: str | os.PathLike[str], zone: tzinfo | None, negative: bool) -> dict[datetime, float]:
    """The values of a CSV file with the columns `time` and `value`, or of a TOML file with a table `values`.

    A time without a zone is local time of `zone`; one that the clock shows twice is first the earlier, then the later.
    """
    path = os.fspath(path)
    try:
        rows = _rows_of_toml(path) if path.endswith(".toml") else _rows_of_csv(path)
    except (OSError, UnicodeDecodeError) as error:
        raise ZeusDatedFileError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
    found: dict[datetime, float] = {}
    for place, text, value in rows:
        try:
            moment = moment_of(text) if isinstance(text, str) else text
            if not isinstance(moment, datetime):
                raise ValueError
        except ValueError:
            raise ZeusDatedFileError(f"{path}, {place}: {text!r} is not a time like 2026-10-25T02:00+02:00") from None
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = float("nan")
        if isinstance(value, bool) or not (abs(number) < float("inf")) or (number < 0.0 and not negative):
            raise ZeusDatedFileError(f"{path}, {place}: {value!r} is not a number{'' if negative else ' from 0'}")
        try:
            if moment.tzinfo is None:
                moment = _in_zone(moment, zone, found, f"{path}, {place}")
            moment = moment.astimezone(timezone.utc)
        except OverflowError:
            raise ZeusDatedFileError(f"{path}, {place}: {text} is not within the years 1 to 9999 of UTC") from None
        if found.get(moment, number) != number:
            raise ZeusDatedFileError(f"{path}, {place}: {text} has two values, {found[moment]:g} and {number:g}")
        found[moment] = number
    if not found:
        raise ZeusDatedFileError(f"{path} has no values")
    return found


def period_of(values: dict[datetime, float], given: timedelta | None) -> timedelta:
    """How long each value holds: as given, or the shortest distance of two times, or an hour if there is one time."""
    if given is not None:
        if not given > timedelta(0):
            raise ValueError(f"update_period must be above 0, not {given}; leave it out for the shortest distance of two times")
        return given
    times = sorted(values)
    return min((later - earlier for earlier, later in zip(times, times[1:])), default=timedelta(hours=1))


def _in_zone(moment: datetime, zone: tzinfo | None, found: dict[datetime, float], place: str) -> datetime:
    if zone is None:
        raise ZeusDatedFileError(f"{place}: {moment.isoformat()} has no time zone; write its offset, or pass timezone=")
    first, second = moment.replace(tzinfo=zone), moment.replace(tzinfo=zone, fold=1)
    if first.astimezone(timezone.utc).astimezone(zone).replace(tzinfo=None) != moment:
        raise ZeusDatedFileError(f"{place}: the clock of {zone} does not show {moment.isoformat()}, because it is set forward then")
    return second if first.astimezone(timezone.utc) in found else first


def _rows_of_csv(path: str) -> list[tuple[str, Any, Any]]:
    with open(path, encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file)
        try:
            lines = [(number, row) for number, row in enumerate(reader, 1) if row and not row[0].startswith("#")]
        except csv.Error as error:
            raise ZeusDatedFileError(f"{path}, line {reader.line_num}: {error}") from None
    if not lines or [cell.strip() for cell in lines[0][1]] != ["time", "value"]:
        raise ZeusDatedFileError(f"{path}: the first line must be time,value")
    for number, row in lines[1:]:
        if len(row) != 2:
            raise ZeusDatedFileError(f"{path}, line {number}: {len(row)} cells, not 2")
    return [(f"line {number}", row[0].strip(), row[1].strip()) for number, row in lines[1:]]


def _rows_of_toml(path: str) -> list[tuple[str, Any, Any]]:
    import importlib

    try:
        tomllib = importlib.import_module("tomllib")
    except ModuleNotFoundError:
        raise ZeusDatedFileError(f"cannot read {path}: TOML needs Python 3.11; write it as CSV") from None
    with open(path, "rb") as file:
        try:
            values = tomllib.load(file).get("values")
        except ValueError as error:
            raise ZeusDatedFileError(f"{path} is not TOML: {error}") from None
    if not isinstance(values, dict):
        raise ZeusDatedFileError(f"{path} has no table [values]")
    return [("[values]", time, value) for time, value in values.items()]
