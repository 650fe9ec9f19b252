"""Makes the Debian packages of a build folder, as `make packages` does for a build configured for /usr, and inspects them.

  deb_test.py BUILD_FOLDER VERSION SOVERSION
"""

import functools
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import hardening

ROOT = pathlib.Path(__file__).resolve().parents[2]
build = pathlib.Path()
version = ""
soversion = ""


def run(*command) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


class Package:
    """One unpacked package: its control file's fields, and its files by their paths from the root."""

    def __init__(self, deb: pathlib.Path, folder: pathlib.Path):
        self.content = folder / deb.stem
        run("dpkg-deb", "--raw-extract", deb, self.content)
        fields = run("dpkg-deb", "--field", deb)
        self.fields = {name: value for name, value in re.findall(r"^(\S+): ((?:.*)(?:\n .*)*)", fields, re.MULTILINE)}
        everything = [path for path in self.content.rglob("*") if path.is_symlink() or not path.is_dir()]
        self.files = {str(path.relative_to(self.content)): path for path in everything
                      if path.relative_to(self.content).parts[0] != "DEBIAN"}
        self.control = {path.name: path.read_text(encoding="utf-8") for path in (self.content / "DEBIAN").iterdir()}

    def needs(self) -> dict[str, str]:
        """Name and condition of each package it depends on."""
        return dict((re.split(r" ?\(", word.rstrip(")"), maxsplit=1) + [""])[:2] for word in self.fields.get("Depends", "").split(", "))


@functools.cache
def folder() -> tempfile.TemporaryDirectory:
    return tempfile.TemporaryDirectory()


@functools.cache
def packages() -> dict[str, Package]:
    made = pathlib.Path(folder().name)
    run("cpack", "--config", build / "CPackConfig.cmake", "-B", made, "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=none")
    found = [Package(deb, made) for deb in sorted(made.glob("*.deb"))]
    return {package.fields["Package"]: package for package in found}


class DebianPackages(unittest.TestCase):
    def test_programs_and_libraries_are_hardened(self) -> None:
        found = {f"{name}: {path}": file for name, package in packages().items() for path, file in package.files.items()
                 if file.is_file() and not file.is_symlink() and hardening.is_elf(file)}
        self.assertGreater(len(found), 5)
        self.assertEqual({path: faults for path, file in found.items() if (faults := hardening.faults_of(file))}, {})

    def package(self, name: str) -> Package:
        if name == "python3-zeus-cpp" and name not in packages():
            self.skipTest("skipped: no Python package in this build")
        return packages()[name]

    def has(self, name: str, *patterns: str) -> None:
        for pattern in patterns:
            self.assertTrue([file for file in self.package(name).files if re.fullmatch(pattern, file)],
                            f"{name} lacks {pattern}; it has {sorted(self.package(name).files)}")

    def test_each_has_the_version_the_licence_and_the_changelog(self):
        newest = (ROOT / "packaging/debian/changelog").read_text(encoding="utf-8").splitlines()[0]
        self.assertTrue(newest.startswith(f"zeus ({version}) "), f"packaging/debian/changelog begins with: {newest}")
        for name, package in packages().items():
            with self.subTest(name):
                self.assertEqual((package.fields["Version"], package.fields["Architecture"]), (version, "amd64"))
                self.assertLess({f"usr/share/doc/{name}/copyright", f"usr/share/doc/{name}/changelog.gz"}, set(package.files))

    def test_what_is_installed_is_in_exactly_one_of_them(self):
        places: dict[str, list[str]] = {}
        for name, package in packages().items():
            for file in package.files:
                places.setdefault(file, []).append(name)
        self.assertEqual({file: names for file, names in places.items() if len(names) > 1}, {})
        prefix = pathlib.Path(folder().name) / "installed"
        run("cmake", "--install", build, "--prefix", prefix)
        installed = [path for path in prefix.rglob("*") if path.is_symlink() or not path.is_dir()]
        self.assertEqual([path for path in installed if f"usr/{path.relative_to(prefix)}" not in places], [])

    def test_the_program_and_its_completions(self):
        self.has("zeus", "usr/bin/zeus", "usr/share/bash-completion/completions/zeus", "usr/share/zsh/.*/_zeus")
        self.assertEqual(self.package("zeus").needs()["zeus-guardian"], f"= {version}")
        self.assertNotIn("python3", self.package("zeus").needs())

    def test_the_guardian_is_where_programs_and_the_library_look_for_it(self):
        self.has("zeus-guardian", "usr/libexec/zeus/zeus_guardian")

    def test_the_setters_are_where_zeusd_looks_for_them(self):
        self.has("zeusd", "usr/bin/zeusd", "usr/libexec/zeus/zeus_setter", "usr/libexec/zeus/zeus_command_setter")

    def test_the_virtual_drivers_are_out_of_the_way(self):
        self.has("zeus-virtual", "usr/lib/.*zeus/virtual/libnvidia-ml[.]so[.]1")
        self.assertEqual(self.package("zeus-virtual").needs()["zeus"], f"= {version}")
        # Programs linked to the vendor's library must not depend on this package.
        self.assertNotIn("shlibs", self.package("zeus-virtual").control)

    def test_the_library_by_its_soname(self):
        name = f"libzeus{soversion}"
        self.has(name, rf"usr/lib/.*libzeus[.]so[.]{soversion}")
        self.assertEqual(self.package(name).control["shlibs"], f"libzeus {soversion} {name} (>= {version})\n")
        self.assertIn("ldconfig", self.package(name).control["triggers"])
        self.assertIn("libstdc++6", self.package(name).needs())

    def test_headers_and_what_finds_them(self):
        self.has("libzeus-dev", "usr/include/zeus/zeus.hpp", "usr/include/zeus/zeus.h", "usr/include/zeus/virtual.h",
                 "usr/lib/.*libzeus[.]so", "usr/lib/.*pkgconfig/zeus.pc", "usr/lib/.*cmake/zeus/zeus-config.cmake")
        self.assertEqual(self.package("libzeus-dev").needs(), {f"libzeus{soversion}": f"= {version}", f"libzeus-jobs{soversion}": f"= {version}"})

    def test_the_python_package_and_its_front(self):
        packages_folder = "usr/lib/python3/dist-packages"
        self.has("python3-zeus-cpp", f"{packages_folder}/zeus_cpp/_native.*[.]so", f"{packages_folder}/zeus_cpp/zeus_guardian",
                 f"{packages_folder}/zeus_cpp/front/zeus/__init__.py", f"{packages_folder}/zeus_cpp/front/zeus/monitor/energy.py",
                 f"{packages_folder}/zeus_cpp.pth", f"{packages_folder}/zeus_cpp-{version}.dist-info/METADATA")
        self.assertEqual([file for file in self.package("python3-zeus-cpp").files if "__pycache__" in file], [])
        self.assertEqual(set(self.package("python3-zeus-cpp").needs()), {"python3", "libc6", "libgcc-s1"})

    def test_programs_and_libraries_are_stripped(self):
        for name, package in packages().items():
            for file, path in package.files.items():
                if path.is_symlink() or path.read_bytes()[:4] != b"\x7fELF":
                    continue
                with self.subTest(f"{name}: {file}"):
                    self.assertNotIn(".symtab", run("readelf", "--section-headers", "--wide", path))

    def test_nothing_names_the_folder_it_was_built_in(self):
        for name, package in packages().items():
            for file, path in package.files.items():
                if not path.is_symlink():
                    with self.subTest(f"{name}: {file}"):
                        self.assertNotIn(str(build).encode(), path.read_bytes())


if __name__ == "__main__":
    build = pathlib.Path(sys.argv[1]).resolve()
    version, soversion = sys.argv[2:4]
    del sys.argv[1:]
    unittest.main()
