# The external libraries, all from Debian's packages (packaging/debian.txt). Which module may use which is in layers.toml.

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(LibLZMA REQUIRED)
find_package(GTest REQUIRED)
find_package(benchmark REQUIRED)
find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)
find_package(PkgConfig REQUIRED)

pkg_check_modules(CLP REQUIRED IMPORTED_TARGET clp)
add_library(Clp::Clp ALIAS PkgConfig::CLP)
