"""The results of the scripts beside this one, each run with either package: cases by name, and whether the observed values
are those promised by the existing package's documentation.

    with cases.scenario("window restart"):
        cases.expect("the old window is dropped", list(monitor.measurement_states), ["w"])
"""

import contextlib
import json
import os
import sys
import tempfile
import traceback
import warnings


def what_is_raised(function, *arguments, **more) -> list:
    """The names of the error's class and its bases; empty if nothing is raised."""
    try:
        function(*arguments, **more)
    except Exception as error:  # noqa: BLE001
        return [each.__name__ for each in type(error).__mro__]
    return []


class Cases:
    def __init__(self) -> None:
        self.found: list = []
        self._within = ""

    @contextlib.contextmanager
    def scenario(self, name: str):
        """An error that no case expects ends the scenario, not the script."""
        outer, self._within = self._within, f"{self._within}{name}: "
        try:
            with warnings.catch_warnings(), tempfile.TemporaryDirectory() as self.folder:
                warnings.simplefilter("ignore")
                yield
            self.expect("runs to its end", True, True)
        except Exception as error:  # noqa: BLE001
            self.expect("runs to its end", f"{type(error).__name__}: {error}", True)
            traceback.print_exc()
        finally:
            self._within = outer

    def expect(self, name: str, seen: object, promised: object) -> None:
        self.found.append([self._within + name, seen == promised, repr(seen)[:400], repr(promised)[:400]])

    def expect_near(self, name: str, seen: float, promised: float, tolerance: float) -> None:
        self.found.append([self._within + name, abs(seen - promised) <= tolerance, repr(seen), f"{promised} within {tolerance}"])

    def expect_error(self, name: str, kind: str, function, *arguments, **more) -> None:
        raised = what_is_raised(function, *arguments, **more)
        self.found.append([self._within + name, kind in raised, repr(raised[:3]), kind])

    def expect_error_with(self, name: str, kind: str, words: str, function, *arguments, **more) -> None:
        try:
            function(*arguments, **more)
            said, raised = "no error", []
        except Exception as error:  # noqa: BLE001
            said, raised = str(error), [each.__name__ for each in type(error).__mro__]
        self.found.append([self._within + name, kind in raised and words in said, repr((raised[:3], said))[:400],
                           f"{kind}: {words}"])

    def in_a_process_of_its_own(self, work, **environment: str) -> None:
        """The result of `work` in a fork with this environment, in which no device was used before."""
        sys.stdout.flush()
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            self.found = []
            os.environ.update(environment)
            try:
                work()
            except BaseException as error:  # noqa: BLE001
                self.expect("its process runs to its end", f"{type(error).__name__}: {error}", True)
            with os.fdopen(writer, "w") as pipe:
                json.dump(self.found, pipe)
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as pipe:
            said = pipe.read()
        os.waitpid(child, 0)
        self.found += json.loads(said) if said else [[f"{environment}: its process says something", False, "nothing", "cases"]]

    def print(self) -> None:
        print(json.dumps(self.found))
