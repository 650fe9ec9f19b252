"""Makes the slices of Capriccio from the training file of Sentiment140 (training.1600000.processed.noemoticon.csv), by the rules of
the published generator: tweets in the order of their dates, from 1 May 2009; a slice for each day that has tweets, of the 500,000
tweets from that day's first one on, as long as there are so many; shuffled, 85 % to train on and the rest to validate.

  slices.py TWEETS.csv FOLDER [--rows 500000] [--first-day 2009-05-01]      writes FOLDER/1_train.json, FOLDER/1_val.json, ...

TWEETS.csv has no header, is in Latin-1, and has six columns: mood (0 or 4), number, date, query, user, text. Other tweets in this
format do as well: generate.py makes some."""

import argparse
import array
import csv
import datetime
import json
import pathlib
import sys
from collections.abc import Iterator

import numpy

MONTHS = {name: month for month, name in enumerate(("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"), 1)}
TRAINED_ON = 0.85
SECONDS_PER_DAY = 86_400


class BadTweets(Exception):
    """Says in one sentence what is wrong, with file and line."""


def seconds_of(date: str) -> int:
    """Of 'Mon Apr 06 22:19:45 PDT 2009', in the time zone that it names, since the beginning of year 1; otherwise a ValueError."""
    _, month, day, time, _, year = date.split(" ")
    hour, minute, second = map(int, time.split(":"))
    if not (0 <= hour < 24 and 0 <= minute < 60 and 0 <= second < 60 and month in MONTHS):
        raise ValueError(date)
    return datetime.date(int(year), MONTHS[month], int(day)).toordinal() * SECONDS_PER_DAY + 3600 * hour + 60 * minute + second


def check_encoding(path: pathlib.Path) -> None:
    """Any bytes are Latin-1. So text in another encoding would not fail, and become other words."""
    foreign = None
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            if b"\0" in line:
                raise BadTweets(f"{path}:{number}: this is not Latin-1 text, but perhaps UTF-16; convert it with iconv")
            if not line.isascii():
                try:
                    line.decode("utf-8")
                    foreign = foreign or number
                except UnicodeDecodeError:
                    return
    if foreign:
        raise BadTweets(f"{path}:{foreign}: this is UTF-8, and the file is expected in Latin-1; convert it with iconv")


def read(path: pathlib.Path) -> Iterator[tuple[int, bytes]]:
    """The time of each tweet, and its line for a slice."""
    check_encoding(path)
    with open(path, encoding="latin-1", newline="") as file:
        rows = csv.reader(file, strict=True)
        try:
            for row in rows:
                if len(row) != 6:
                    raise BadTweets(f"{path}:{rows.line_num}: a row has 6 columns, and this one {len(row)}")
                mood, _, date, _, _, text = row
                if mood not in ("0", "4"):
                    raise BadTweets(f"{path}:{rows.line_num}: the mood is 0 or 4, and not '{mood[:20]}'")
                try:
                    time = seconds_of(date)
                except ValueError:
                    raise BadTweets(f"{path}:{rows.line_num}: '{date[:40]}' is not a date such as 'Mon Apr 06 22:19:45 PDT 2009'") from None
                yield time, json.dumps({"date": date, "text": text, "label": int(mood)}).encode() + b"\n"
        except csv.Error as problem:
            raise BadTweets(f"{path}:{rows.line_num}: this is not CSV ({problem})") from None


def slice_starts(times: numpy.ndarray, first_day: int, rows: int) -> list[int]:
    """Where slices begin in tweets that are in order: with the first tweet of each day that has any."""
    first = int(numpy.searchsorted(times, first_day * SECONDS_PER_DAY))
    days = times[first:] // SECONDS_PER_DAY
    starts = first + numpy.flatnonzero(numpy.diff(days, prepend=-1))
    return [int(start) for start in starts if start + rows <= len(times)]


def main() -> int:
    parser = argparse.ArgumentParser(description="Makes the slices of Capriccio.")
    parser.add_argument("tweets", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--rows", type=int, default=500_000, help="tweets of a slice")
    parser.add_argument("--first-day", type=datetime.date.fromisoformat, default=datetime.date(2009, 5, 1))
    options = parser.parse_args()
    if options.rows < 2:
        parser.error("--rows is at least 2, one tweet to train on and one to validate")
    try:
        times, lines = array.array("q"), []
        for time, line in read(options.tweets):
            times.append(time)
            lines.append(line)
    except (BadTweets, OSError) as problem:
        print(f"slices.py: {problem}", file=sys.stderr)
        return 1
    in_order = numpy.array(times)
    order = numpy.argsort(in_order, kind="stable")
    in_order = in_order[order]
    starts = slice_starts(in_order, options.first_day.toordinal(), options.rows)
    if not starts:
        print(f"slices.py: {options.tweets}: no day from {options.first_day} on is followed by {options.rows} tweets; "
              "give more tweets, or fewer --rows", file=sys.stderr)
        return 1
    options.folder.mkdir(parents=True, exist_ok=True)
    shuffled = numpy.random.default_rng(42).permutation(options.rows)
    trained_on = int(TRAINED_ON * options.rows)
    for number, start in enumerate(starts, 1):
        chosen = order[start + shuffled]
        for part, places in (("train", chosen[:trained_on]), ("val", chosen[trained_on:])):
            (options.folder / f"{number}_{part}.json").write_bytes(b"".join([lines[place] for place in places.tolist()]))
    print(f"{len(starts)} slices of {options.rows} tweets")
    return 0


if __name__ == "__main__":
    sys.exit(main())
