"""tools/check_layers.py and cmake/layers.cmake refuse what layers.toml does not list."""

import subprocess
import unittest

from planted import PlantedTree


class LayersGuard(PlantedTree):
    def check(self):
        return self.run_tool("check_layers.py", "--root", self.tree)

    def test_the_project_itself_passes(self):
        done = self.check()
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_an_upward_include_is_refused_with_its_line_and_rule(self):
        self.append("src/base/random.cpp", '#include "records/energy.hpp"\n')
        number = len((self.tree / "src/base/random.cpp").read_text(encoding="utf-8").splitlines())
        self.assert_refused(self.check(), f"src/base/random.cpp:{number}: base may not use records",
                            "floor 1, not below base's floor 0", '#include "records/energy.hpp"')

    def test_an_undeclared_include_of_a_lower_floor_is_refused(self):
        self.plant("src/trace/power_trace.cpp", '#include "device/gpu.hpp"\n')
        self.assert_refused(self.check(), "trace may not use device: layers.toml does not list device")

    def test_what_stands_over_the_library_sees_public_headers_and_not_what_is_behind_them(self):
        self.append("src/job_library/live_devices.cpp", "#include <zeus/train.hpp>\n")
        self.assertEqual(self.check().returncode, 0)
        self.append("src/job_library/live_devices.cpp", '#include "measure/windows.hpp"\n')
        self.assert_refused(self.check(), "job_library may not use measure: layers.toml does not list measure")

    def test_an_external_library_that_is_not_listed_is_refused(self):
        self.append("src/base/random.cpp", "#include <nlohmann/json.hpp>\n")
        self.assert_refused(self.check(), "base does not list the external library json")

    def test_an_undeclared_library_is_refused(self):
        self.append("src/base/random.cpp", "#include <eigen3/Eigen/Dense>\n")
        self.assert_refused(self.check(), "belongs to no external library declared in layers.toml")

    def test_a_public_header_shows_no_foreign_type(self):
        self.append("include/zeus/error.hpp", "#include <fmt/format.h>\n")
        self.assert_refused(self.check(), "include/zeus/error.hpp", "public headers show no type from outside")

    def test_a_file_outside_every_module_is_refused(self):
        self.plant("src/utilities/text.cpp", "#include <string>\n")
        self.assert_refused(self.check(), "belongs to no module")

    def test_folders_of_one_module_may_not_include_one_another_in_a_circle(self):
        self.plant("src/records/a/first.hpp", '// A.\n#include "records/b/second.hpp"\n')
        self.plant("src/records/b/second.hpp", '// B.\n#include "records/a/first.hpp"\n')
        self.assert_refused(self.check(), "in a circle: records/a -> records/b -> records/a")

    def test_a_declaration_that_points_upward_is_refused(self):
        text = (self.tree / "layers.toml").read_text(encoding="utf-8")
        self.plant("layers.toml", text.replace("[modules.records]\nfloor = 1\n",
                                               '[modules.records]\nfloor = 1\nuses = ["store"]\n'))
        self.assert_refused(self.check(), "records (floor 1) uses store (floor 3): arrows go down only")

    def test_a_public_header_that_does_not_exist_is_refused(self):
        text = (self.tree / "layers.toml").read_text(encoding="utf-8")
        self.plant("layers.toml", text.replace('public = ["power.hpp"]', 'public = ["power.hpp", "gone.hpp"]'))
        self.assert_refused(self.check(), "records lists zeus/gone.hpp, which does not exist")

    def test_an_undeclared_link_is_refused_by_cmake(self):
        self.append("src/base/CMakeLists.txt", "target_link_libraries(zeus_base PRIVATE zeus_records)\n")
        done = subprocess.run(["cmake", "-G", "Ninja", "-S", self.tree, "-B", self.tree / "build"],
                              capture_output=True, text=True, check=False)
        self.assert_refused(done, "zeus_base links zeus_records, which layers.toml does not allow it")


if __name__ == "__main__":
    unittest.main()
