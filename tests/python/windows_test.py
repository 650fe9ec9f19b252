"""ZeusMonitor on two virtual V100s that draw 180 W each."""

import unittest

from zeus.monitor import ZeusMonitor


class Windows(unittest.TestCase):
    def test_a_name_that_is_open_is_taken(self):
        monitor = ZeusMonitor()
        monitor.begin_window("one", sync_execution=False)
        with self.assertRaisesRegex(ValueError, "already exists"):
            monitor.begin_window("one", sync_execution=False)


if __name__ == "__main__":
    unittest.main()
