"""Makes dated tweets out of made-up words, in the format of Sentiment140's training file, for those who do not have it. What a mood is
said with changes by day: before --drift-day a few frequent words carry it, and after it many rare ones.

  generate.py TWEETS.csv [--rows 1600000] [--days 80] [--drift-day 40] [--seed 1]"""

import argparse
import datetime
import pathlib

import numpy

FIRST_DAY = datetime.date(2009, 4, 21)
WORDS = 20_000
LENGTH = 10  # words of a tweet
NEUTRAL = 4_000  # the most frequent ones carry no mood
FREQUENT, RARE = 200, 8_000  # words that carry it, before and after the drift
SPOKEN = 0.3  # of a tweet's words carry a mood
SINCERE = 0.8  # of those carry the tweet's own


def vocabulary() -> list[str]:
    syllables = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
    return [syllables[i % 70] + syllables[i // 70 % 70] + syllables[i // 4900] for i in range(WORDS)]


def main() -> None:
    parser = argparse.ArgumentParser(description="Makes dated tweets out of made-up words.")
    parser.add_argument("tweets", type=pathlib.Path)
    parser.add_argument("--rows", type=int, default=1_600_000)
    parser.add_argument("--days", type=int, default=80)
    parser.add_argument("--drift-day", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw = numpy.random.default_rng(options.seed)
    words = numpy.array(vocabulary(), dtype=object)
    share = 1 / numpy.arange(1, NEUTRAL + 1)  # Zipf's law
    often = numpy.cumsum(share / share.sum())
    written = 0
    with open(options.tweets, "w", encoding="latin-1", newline="") as file:
        for day in range(options.days):
            rows = options.rows * (day + 1) // options.days - options.rows * day // options.days
            moods = draw.integers(0, 2, rows)
            chosen = numpy.minimum(numpy.searchsorted(often, draw.random((rows, LENGTH))), NEUTRAL - 1)
            of_mood = draw.random((rows, LENGTH)) < SPOKEN
            spoken = numpy.where(draw.random((rows, LENGTH)) < SINCERE, moods[:, None], 1 - moods[:, None])
            # Half of the words that carry a mood carry a good one: those with odd numbers.
            kinds = FREQUENT if day < options.drift_day else RARE
            chosen = numpy.where(of_mood, NEUTRAL + 2 * draw.integers(0, kinds // 2, (rows, LENGTH)) + spoken, chosen)
            seconds = numpy.sort(draw.integers(0, 86_400, rows))
            date = FIRST_DAY + datetime.timedelta(days=day)
            begin, end = date.strftime("%a %b %d "), date.strftime(" PDT %Y")
            for mood, number, second, text in zip(moods.tolist(), range(written, written + rows), seconds.tolist(), words[chosen]):
                file.write(f'"{4 * mood}","{number}","{begin}{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}{end}",'
                           f'"NO_QUERY","user{number % 1000}","{" ".join(text)}"\n')
            written += rows


if __name__ == "__main__":
    main()
