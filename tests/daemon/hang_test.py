"""One GPU's driver hangs, in a setter, in putting back or in every call: clients of other GPUs do not wait, and each GPU is
put back as soon as possible.

  zeus virtual '4xA100@root-only@limit=300' --shared --load constant:200W -- hang_test.py ZEUSD
    [--rounds N] [--bound SECONDS] [--hang SECONDS] [--seed S] [-k NAME]

Without --bound, times are printed and not judged.
"""

import dataclasses
import fcntl
import os
import pathlib
import random
import tempfile
import time

import daemon_session
import fault_session
from daemon_session import Daemon, ask, connection_to, until
from fault_session import GPUS, Client, FaultCase, Point0, Process, Setter, options  # noqa: F401: Point0 is a test

HUNG = 0
OTHERS = range(1, GPUS)
PROBERS = 7
PAUSE = 0.010  # on average between two requests of one
LEAST = 2000  # requests while something hangs
PATIENCE_OF_CALLS = 2.0  # after which it is told
READS = ("/gpu/get_power?gpu_ids={all}", "/gpu/get_power?gpu_ids={one}", "/gpu/get_cumulative_energy?gpu_ids={all}",
         "/v1/readings?gpu_ids={one}", "/gpu/get_power_limit?gpu_ids={all}")
OF_THE_HUNG = (("GET", "/gpu/get_power?gpu_ids=0"), ("GET", "/gpu/get_cumulative_energy?gpu_ids=0,1"),
               ("POST", "/gpu/set_power_limit?gpu_ids=0&block=true&power_limit_mw=200000"),
               ("POST", "/v1/leases/take?gpu_ids=0&term_s=60"), ("GET", "/gpu/get_power_limit"))


@dataclasses.dataclass
class Request:
    begun: float
    took: float
    status: int  # 0: there was no answer
    target: str


class Notebook:
    """Requests and answers of client processes, written as they happen, so that they are not lost with the process."""

    def __init__(self) -> None:
        self.file = tempfile.TemporaryFile(buffering=0)
        fcntl.fcntl(self.file, fcntl.F_SETFL, os.O_APPEND)  # each line is appended in one piece, from any process

    def ask(self, who: int, where, connection, method: str, target: str) -> daemon_session.Answer:
        begun = time.monotonic()
        os.write(self.file.fileno(), f"{who} {begun!r} begun {target}\n".encode())
        answer = ask(where, method, target, connection=connection)
        os.write(self.file.fileno(), f"{who} {time.monotonic()!r} {answer.status} {target}\n".encode())
        return answer

    def requests(self, over: float) -> list[Request]:
        """Requests begun since the last call of this; an unanswered one `over` has lasted at least until then."""
        self.file.seek(0)
        told, open_ones = [], {}
        for line in self.file.read().decode().splitlines():
            who, at, what, target = line.split(" ", 3)
            if what == "begun":
                open_ones[who] = (float(at), target)
            else:
                begun, target = open_ones.pop(who)
                told.append(Request(begun, float(at) - begun, int(what), target))
        told += [Request(begun, over - begun, 0, target) for begun, target in open_ones.values()]
        self.file.truncate(0)
        return sorted(told, key=lambda one: one.begun)


def probe(where, book: Notebook, number: int, seed: int, readable: str) -> None:
    """Reads until it is killed; the first three also set a GPU that they lease, a different one each."""
    chance = random.Random(seed)
    connection = connection_to(where)
    lease = None
    if number < len(OTHERS):
        taken = ask(where, "POST", f"/v1/leases/take?gpu_ids={OTHERS[number]}&term_s=60", connection=connection)
        lease = taken.json["id"]
    while True:
        if lease is not None and chance.random() < 0.5:
            book.ask(number, where, connection, "POST", f"/v1/leases/set_power_limit?lease={lease}&gpu_ids={OTHERS[number]}"
                     f"&power_limit_mw={chance.randrange(150, 290)}000")
        else:
            one = chance.choice(readable.split(","))
            book.ask(number, where, connection, "GET", chance.choice(READS).format(all=readable, one=one))
        time.sleep(chance.uniform(0, 2 * PAUSE))


def insist(where, book: Notebook, number: int) -> None:
    """Repeatedly asks for the GPU that is to hang; the first of these has set it, and goes on setting it."""
    connection = connection_to(where)
    while True:
        for method, target in OF_THE_HUNG:
            if number == 0 or method == "GET":
                book.ask(number, where, connection, method, target)
                time.sleep(PAUSE)


def set_once(where) -> None:
    connection = connection_to(where)
    ask(where, "POST", f"/gpu/set_power_limit?gpu_ids={HUNG}&block=true&power_limit_mw=200000", connection=connection)
    time.sleep(600)


def share(times: list[float], part: float) -> float:
    return sorted(times)[min(len(times) - 1, int(part * len(times)))] if times else 0.0


class Hangs(FaultCase):
    def setUp(self):
        super().setUp()
        self.book, self.quiet, self.hanging = Notebook(), [], []
        self.addCleanup(self.book.file.close)
        self.slowest_of_hung = 0.0

    def probers(self, daemon: Daemon, readable: str = "0,1,2,3") -> None:
        for number in range(PROBERS):
            self.clients.append(Process(probe, daemon.socket, self.book, number, self.random.getrandbits(32), readable))

    def before(self) -> tuple[float, float]:
        """A period in which nothing hangs."""
        time.sleep(0.3)
        begin = time.monotonic()
        time.sleep(0.4 * options.hang)
        return begin, time.monotonic()

    def rounds(self):
        """Until as many as asked for were in time, which on a busy machine not each is."""
        self.in_time = 0
        for _ in range(options.rounds + 5):
            if self.in_time < options.rounds:
                yield
        self.assertEqual(self.in_time, options.rounds, "rounds in time")

    def until_shortly_before(self, end: float) -> None:
        time.sleep(max(0.0, end - time.monotonic() - self.random.uniform(0.1, 0.3) * options.hang))

    def kill_all(self) -> float:
        self.changed += self.driver.settings(OTHERS) != self.found[1:]
        killed = time.monotonic()
        self.end_clients()
        self.expect_put_back(killed, OTHERS)
        return killed

    def struck(self, since: float) -> Setter:
        """The setter call that hung."""
        hung = until(lambda: [one for one in self.log.all() if one.gpu == HUNG and one.begun >= since
                              and one.took >= 0.5 * options.hang], "the hang has struck")  # the log knows only the least
        return max(hung, key=lambda one: one.took)

    def expect_hung_put_back(self, end: float) -> None:
        until(lambda: self.driver.settings() == self.found, "the one that hung is put back as well")
        took = time.monotonic() - end
        self.slowest_of_hung = max(self.slowest_of_hung, took)
        if options.bound:
            self.assertLessEqual(took, options.bound)

    def note_requests(self, before: tuple[float, float], hang: float, killed: float) -> None:
        all_of_them = self.book.requests(killed)
        self.quiet += [one for one in all_of_them if before[0] <= one.begun < before[1]]
        self.hanging += [one for one in all_of_them if hang <= one.begun < killed]

    def judge_requests(self) -> None:
        quiet, hanging = ([one.took for one in requests if one.status] for requests in (self.quiet, self.hanging))
        self.assertLessEqual({one.status for one in self.hanging}, {0, 200})
        if not options.bound and not (quiet and hanging):
            return  # in a single round on a busy machine, the clients may have asked too late
        if options.bound:
            self.assertGreaterEqual(len(hanging), LEAST)
            self.assertTrue(quiet, "there is nothing to compare with")
        longest = max(one.took for one in self.hanging)
        p50, p99 = (share(hanging, part) / share(quiet, part) for part in (0.5, 0.99))
        print(f"  {len(hanging)} requests in hangs: p50 {1e3 * share(hanging, 0.5):.2f} ms, p99 {1e3 * share(hanging, 0.99):.2f} ms, "
              f"longest {1e3 * longest:.1f} ms; {p50:.2f} and {p99:.2f} times those of {len(quiet)} requests without, whose longest "
              f"is {1e3 * max(quiet):.1f} ms", flush=True)
        if options.bound:
            self.assertLessEqual(p50, 1.5)
            self.assertLessEqual(p99, 2.0)
            self.assertLessEqual(longest, 0.1 * options.hang)

    def report(self, what: str, rounds: int | None = None):
        super().report(what, rounds)
        print(f"  the hung GPU within {self.slowest_of_hung:.3f} s of the hang's end", flush=True)

    def test_a_setter_hangs(self):
        daemon = self.start()
        for _ in self.rounds():
            self.probers(daemon)
            self.clients.append(Client(daemon.socket, self.random.getrandbits(32), True, gpus=[HUNG]))
            before = self.before()
            begun = time.monotonic()
            self.driver.fault(f"slow delay={options.hang}s call=nvmlDeviceSet* gpu={HUNG} times=1")
            self.until_shortly_before(begun + options.hang)
            killed = self.kill_all()
            self.expect_hung_put_back(begun + options.hang)
            hung = self.struck(begun)
            self.in_time += killed < hung.begun + options.hang
            self.note_requests(before, hung.begun, killed)
        self.report("a setter hangs")
        self.judge_requests()
        self.expect_nothing_left(daemon)
        self.expect_audited(daemon)

    def test_the_putting_back_hangs(self):
        daemon = self.start()
        for _ in self.rounds():
            self.probers(daemon)
            holder = Process(set_once, daemon.socket)
            self.clients.append(holder)
            until(lambda: self.driver.limit(HUNG) == 200_000, "it is set")
            before = self.before()
            self.driver.fault(f"slow delay={options.hang}s call=nvmlDeviceSet* gpu={HUNG} times=1")
            begun = time.monotonic()
            holder.kill()
            self.clients.remove(holder)
            self.until_shortly_before(begun + options.hang)
            limit, asked = self.driver.limit(HUNG), time.monotonic()
            killed = self.kill_all()
            self.expect_hung_put_back(begun + options.hang)
            hung = self.struck(begun)
            self.assertEqual((hung.process, hung.what), (daemon.setter(), "power_limit"))
            if asked < hung.begun + options.hang:
                self.assertEqual(limit, 200_000, "it hangs")
                self.in_time += 1
            self.note_requests(before, hung.begun, killed)
        self.report("the putting back hangs")
        self.judge_requests()
        self.expect_nothing_left(daemon)
        self.expect_audited(daemon)

    def test_the_guardians_putting_back_hangs(self):
        daemon = self.start()
        for _ in range(options.rounds):
            self.crowd(daemon)
            until(lambda: self.driver.settings()[HUNG] != self.found[HUNG], "it is set")
            self.at_a_random_moment()
            setter = daemon.setter()
            os.kill(setter, daemon_session.signal.SIGSTOP)  # so that the hang affects the guardian
            until(lambda setter=setter: "T (stopped)" in pathlib.Path(f"/proc/{setter}/status").read_text(), "it is stopped")
            # Clocks are put back by another call than the one that hangs.
            is_changed = self.driver.settings()[HUNG][:2] != self.found[HUNG][:2]
            begun = time.monotonic()
            self.driver.fault(f"slow delay={options.hang}s call=nvmlDeviceSet* gpu={HUNG} times=1")
            daemon.kill_whole()
            self.expect_put_back(begun, OTHERS)
            self.end_clients()
            self.expect_hung_put_back(begun + options.hang)
            if is_changed:
                self.assertNotEqual(self.struck(begun).process, setter)
            self.driver.clear_faults()
            until(lambda: not daemon_session.guardians_of(daemon.state), "no guardian is left")
            daemon.start()
        self.report("the guardian's putting back hangs")
        self.expect_nothing_left(daemon)
        self.expect_audited(daemon)

    def test_every_call_hangs(self):
        daemon = self.start()
        hang = max(options.hang, PATIENCE_OF_CALLS + 0.5)
        answers: list[Request] = []
        for _ in self.rounds():
            self.probers(daemon, "1,2,3")
            asked = Notebook()
            self.clients += [Process(insist, daemon.socket, asked, number) for number in range(2)]
            until(lambda: self.driver.limit(HUNG) == 200_000, "it is set")
            before = self.before()
            self.driver.fault(f"slow delay={hang}s gpu={HUNG}")
            begun = time.monotonic()
            self.until_shortly_before(begun + hang)
            killed = self.kill_all()
            self.driver.clear_faults()
            cleared = time.monotonic()
            self.expect_hung_put_back(cleared + hang)
            self.note_requests(before, begun, killed)
            hanging = [one for one in asked.requests(killed) if one.begun >= begun]
            self.in_time += bool(hanging)
            answers += hanging
            asked.file.close()
        self.report("every call hangs")
        self.judge_requests()
        longest = max(one.took for one in answers)
        print(f"  {len(answers)} requests of the hung GPU: longest {longest:.3f} s, "
              f"{sum(one.status == 504 for one in answers)} times 504, {sum(one.status == 503 for one in answers)} times 503",
              flush=True)
        self.assertLessEqual({one.status for one in answers}, {0, 503, 504})
        if options.bound:
            self.assertLessEqual(longest, 3.0)
        self.expect_nothing_left(daemon)
        self.expect_audited(daemon)


if __name__ == "__main__":
    fault_session.main(hang=3.0)
