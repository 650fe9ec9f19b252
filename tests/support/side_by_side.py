"""For scripts whose tests mostly wait: `side_by_side.main(4)` in place of `unittest.main()` runs each test in a process of its own,
so many at a time. With names of tests, or flags, it is `unittest.main()`.
"""

import concurrent.futures
import subprocess
import sys
import unittest
from collections.abc import Iterator


def names_in(tests: unittest.TestSuite | unittest.TestCase) -> Iterator[str]:
    if isinstance(tests, unittest.TestCase):
        yield tests.id().removeprefix("__main__.")
    else:
        for some in tests:
            yield from names_in(some)


def main(at_a_time: int) -> None:
    """`sys.argv` has the names of tests alone, as unittest takes it."""
    if len(sys.argv) > 1:
        unittest.main(module="__main__")

    def run(name: str) -> subprocess.CompletedProcess:
        return subprocess.run([sys.executable, *sys.orig_argv[1:], name], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)

    failed = False
    names = list(names_in(unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])))
    with concurrent.futures.ThreadPoolExecutor(at_a_time) as pool:
        for name, done in zip(names, pool.map(run, names)):
            failed |= done.returncode != 0
            print(f"{name}\n{done.stdout}", file=sys.stderr, flush=True)
    sys.exit("tests failed" if failed else 0)
