# The external libraries, all from Debian's packages (packaging/debian.txt). Which module may use which is in layers.toml.

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(LibLZMA REQUIRED)
find_package(OpenSSL 3.0 REQUIRED COMPONENTS Crypto SSL)
find_package(Boost 1.81 REQUIRED)  # headers alone
find_package(PkgConfig REQUIRED)
if(NOT ZEUS_TESTS)  # a wheel is built by the Python that it is for
  find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
else()
  find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)
  find_package(GTest REQUIRED)
  find_package(benchmark REQUIRED)
  pkg_check_modules(CLP REQUIRED IMPORTED_TARGET clp)
  add_library(Clp::Clp ALIAS PkgConfig::CLP)
endif()

# Not through its pkg-config file, which adds -pthread: the precompiled headers are compiled without it.
find_library(RE2_LIBRARY re2 REQUIRED)
find_path(RE2_FOLDER re2/re2.h REQUIRED)
add_library(re2::re2 UNKNOWN IMPORTED)
set_target_properties(re2::re2 PROPERTIES IMPORTED_LOCATION ${RE2_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${RE2_FOLDER})
find_library(YAML_LIBRARY yaml-cpp REQUIRED)
find_path(YAML_FOLDER yaml-cpp/yaml.h REQUIRED)
add_library(yaml::yaml UNKNOWN IMPORTED)
set_target_properties(yaml::yaml PROPERTIES IMPORTED_LOCATION ${YAML_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${YAML_FOLDER})
# Headers alone. Its pkg-config file would add a library that is needed at run time.
find_path(TOML_FOLDER toml++/toml.h REQUIRED)
add_library(toml::toml INTERFACE IMPORTED)
target_include_directories(toml::toml INTERFACE ${TOML_FOLDER})
# Debian's SOCI has no CMake package configuration. Its back-ends need the headers of their databases.
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(PQ REQUIRED IMPORTED_TARGET libpq)
find_path(SOCI_INCLUDE_DIR soci/soci.h REQUIRED)
find_library(SOCI_CORE_LIBRARY soci_core REQUIRED)
find_library(SOCI_SQLITE_LIBRARY soci_sqlite3 REQUIRED)
find_library(SOCI_POSTGRESQL_LIBRARY soci_postgresql REQUIRED)
add_library(SOCI::soci_core INTERFACE IMPORTED)
target_include_directories(SOCI::soci_core INTERFACE ${SOCI_INCLUDE_DIR})
target_link_libraries(SOCI::soci_core INTERFACE ${SOCI_CORE_LIBRARY} ${SOCI_SQLITE_LIBRARY} PkgConfig::SQLITE)
# SOCI's PostgreSQL back-end is loaded at run time, by its SONAME (store/libpq.hpp).
execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${SOCI_POSTGRESQL_LIBRARY} OUTPUT_VARIABLE soci_postgresql COMMAND_ERROR_IS_FATAL ANY)
if(NOT soci_postgresql MATCHES "SONAME +([^\n]+)")
  message(FATAL_ERROR "${SOCI_POSTGRESQL_LIBRARY} does not say its name")
endif()
set(ZEUS_SOCI_POSTGRESQL ${CMAKE_MATCH_1})
add_library(pq::headers INTERFACE IMPORTED)
target_include_directories(pq::headers INTERFACE ${PQ_INCLUDE_DIRS})
if(ZEUS_SANITIZE MATCHES "undefined")  # its library hides the type information that this check asks for
  target_compile_options(SOCI::soci_core INTERFACE -fno-sanitize=vptr)
endif()
