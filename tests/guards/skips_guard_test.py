"""tools/check_skips.py refuses a skipped test for which it knows no reason."""

import unittest

from planted import PlantedTree

RESULTS = """<testsuite><testcase name="Recurrence.IsDecided" status="{status}">{inside}</testcase>
<testcase name="python.wheel" status="notrun"><skipped message="none"/></testcase></testsuite>"""


class SkipsGuard(PlantedTree):
    KEPT = ("tools",)

    def check(self, status: str, inside: str):
        self.plant("results.xml", RESULTS.format(status=status, inside=inside))
        return self.run_tool("check_skips.py", self.tree / "results.xml")

    def test_a_skipped_test_of_the_core_is_refused(self):
        self.assert_refused(self.check("notrun", '<skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>'),
                            "skipped: Recurrence.IsDecided: refused")

    def test_tests_that_run_and_those_with_a_reason_pass(self):
        done = self.check("run", "")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stdout, "skipped: python.wheel: it needs packages from the registry\n")

    def test_published_traces_may_lack_and_not_be_left_out(self):
        results = RESULTS.format(status="notrun", inside='<skipped message="none"/>').replace(
            "Recurrence.IsDecided", "PublishedTraces.PolicyZeusReplaysThePublishedFigures")
        self.plant("results.xml", results)
        self.assertEqual(self.run_tool("check_skips.py", self.tree / "results.xml").returncode, 0)
        self.plant("../shared/traces/summary.csv", "")
        self.assert_refused(self.run_tool("check_skips.py", self.tree / "results.xml"), "PublishedTraces")


    def test_where_ci_runs_tests_that_need_the_registry_must_run_and_what_failed_is_quoted(self):
        output = "<system-out>skipped: cannot install it from the registry: no route</system-out>"
        self.plant("results.xml", f"""<testsuite><testcase name="python.wheel" status="notrun"><skipped message="none"/>{output}
</testcase></testsuite>""")
        self.assertEqual(self.run_tool("check_skips.py", self.tree / "results.xml").returncode, 0)
        self.assert_refused(self.run_tool("check_skips.py", "--ci", self.tree / "results.xml"),
                            "skipped: python.wheel: refused, no reason is known (cannot install it from the registry: no route)")

    def test_where_ci_runs_a_script_may_leave_out_no_test(self):
        output = "<system-out>.s\nRan 2 tests in 0.1s\n\nOK (skipped=1)\n</system-out>"
        self.plant("results.xml", f"""<testsuite><testcase name="python.wheel" status="run">{output}</testcase></testsuite>""")
        self.assertEqual(self.run_tool("check_skips.py", self.tree / "results.xml").returncode, 0)
        self.assert_refused(self.run_tool("check_skips.py", "--ci", self.tree / "results.xml"), "skipped: python.wheel: refused")

    def test_a_test_that_a_program_skips_by_itself_is_refused(self):
        self.plant("gtest/base_test.xml", """<testsuites><testsuite><testcase name="Goes" classname="ClockTest" result="skipped">
<skipped message="later"/></testcase><testcase name="Stands" classname="ClockTest" result="completed"/></testsuite></testsuites>""")
        self.assert_refused(self.run_tool("check_skips.py", self.tree / "gtest"), "skipped: ClockTest.Goes: refused")


if __name__ == "__main__":
    unittest.main()
