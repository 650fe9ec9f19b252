# CMake's side of layers.toml: a module's links come from there and from nowhere else.
#
#   zeus_module(measure [PARALLEL] [COMPUTES] SOURCES a.cpp TESTS a_test.cpp)
#                          in the module's folder: the static library zeus_measure, and measure_test. PARALLEL, for modules
#                          that use several threads, labels their tests `parallel`: of interest under the thread sanitizer.
#                          COMPUTES, for modules whose tests compute for long: optimized in sanitized builds, too.
#                          APART names sources that the programs with rights need of a module that has many others: they are
#                          a piece of their own, so that these programs do not link the others
#   zeus_program(zeus)     bin/zeus from its source in layers.toml
#   zeus_check_links()     call it last: refuses a link that layers.toml does not list

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/layers.toml ${PROJECT_SOURCE_DIR}/tools/check_layers.py ${PROJECT_SOURCE_DIR}/tools/source_tree.py)
execute_process(
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/check_layers.py --root ${PROJECT_SOURCE_DIR} --cmake
  OUTPUT_FILE ${PROJECT_BINARY_DIR}/layers.generated.cmake COMMAND_ERROR_IS_FATAL ANY)
include(${PROJECT_BINARY_DIR}/layers.generated.cmake)
include(GoogleTest)

# Parsing headers takes most of the compiler's time, so that it is done once for many files: in pieces of ZEUS_PIECES files, and
# with precompiled headers that nearly every file needs: the standard library for all, GoogleTest for tests. The code of tests
# is compiled more often than run, so it is not optimized, which halves its build time.
function(zeus_quick_build target test)
  if(test)
    target_compile_options(${target} PRIVATE -O0 -U_FORTIFY_SOURCE)
  endif()
  zeus_in_pieces(${target} ${ZEUS_PIECES})
  if(ZEUS_SANITIZE AND ARGN)
    target_compile_options(${target} PRIVATE -O1)  # which the precompiled headers are not
    return()
  endif()
  if(NOT ZEUS_PRECOMPILE)
    return()
  endif()
  if(test)
    set(holder zeus_precompiled_test)
  else()
    set(holder zeus_precompiled)
  endif()
  if(NOT TARGET ${holder})
    add_library(${holder} OBJECT ${PROJECT_SOURCE_DIR}/cmake/precompiled.cpp)
    target_precompile_headers(${holder} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/precompiled.hpp)
    target_link_libraries(${holder} PRIVATE fmt::fmt)
    if(test)
      target_link_libraries(${holder} PRIVATE GTest::gtest GTest::gmock)
      target_compile_options(${holder} PRIVATE -O0 -U_FORTIFY_SOURCE)
      target_precompile_headers(${holder} PRIVATE <gtest/gtest.h>)
    endif()
  endif()
  target_precompile_headers(${target} REUSE_FROM ${holder})
endfunction()

# Reduces a list of our targets to those whose folders exist in this tree.
function(zeus_present_targets result)
  set(present "")
  foreach(target IN LISTS ARGN)
    if(TARGET ${target})
      list(APPEND present ${target})
    endif()
  endforeach()
  set(${result} ${present} PARENT_SCOPE)
endfunction()

# `target` and all of our targets that it links, directly or indirectly.
function(zeus_all_below result target)
  set(found ${target})
  set(next 0)
  list(LENGTH found count)
  while(next LESS count)
    list(GET found ${next} current)
    get_target_property(links ${current} LINK_LIBRARIES)
    list(FILTER links INCLUDE REGEX "^zeus_")
    list(APPEND found ${links})
    list(REMOVE_DUPLICATES found)
    list(LENGTH found count)
    math(EXPR next "${next} + 1")
  endwhile()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

function(zeus_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "PARALLEL;COMPUTES" "" "SOURCES;APART;TESTS")
  string(REPLACE "/" "_" flat ${name})
  if(NOT DEFINED ZEUS_MODULE_${flat}_FOLDER)
    message(FATAL_ERROR "layers.toml has no module '${name}'")
  endif()
  zeus_present_targets(links ${ZEUS_MODULE_${flat}_LINKS})
  add_library(zeus_${flat} STATIC ${arg_APART} ${arg_SOURCES})
  zeus_quick_build(zeus_${flat} FALSE ${arg_COMPUTES})
  if(arg_APART AND ZEUS_PIECES GREATER 1)
    set_target_properties(zeus_${flat} PROPERTIES UNITY_BUILD_MODE GROUP)
    set_source_files_properties(${arg_APART} PROPERTIES UNITY_GROUP apart)
    set_source_files_properties(${arg_SOURCES} PROPERTIES UNITY_GROUP others)
  endif()
  target_include_directories(zeus_${flat} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>)
  target_link_libraries(zeus_${flat} PUBLIC ${links} ${ZEUS_MODULE_${flat}_EXTERNAL} Threads::Threads)
  set_property(GLOBAL APPEND PROPERTY ZEUS_CHECKED_TARGETS zeus_${flat})
  set_property(TARGET zeus_${flat} PROPERTY ZEUS_ALLOWED ${links} ${ZEUS_MODULE_${flat}_EXTERNAL} Threads::Threads)
  if(arg_TESTS)
    if(arg_PARALLEL)
      set(parallel PARALLEL)
    endif()
    zeus_test(${flat}_test ${parallel} SOURCES ${arg_TESTS}
      LINKS ${ZEUS_MODULE_${flat}_TEST_LINKS} ${ZEUS_MODULE_${flat}_TEST_EXTERNAL})
  endif()
endfunction()

# For ctest entries that run many tests of a GoogleTest program: gtest/ENTRY.xml then lists them, for tools/check_skips.py.
function(zeus_list_tests)
  foreach(entry IN LISTS ARGN)
    set_property(TEST ${entry} APPEND PROPERTY ENVIRONMENT "GTEST_OUTPUT=xml:${PROJECT_BINARY_DIR}/gtest/${entry}.xml")
  endforeach()
endfunction()

# A GoogleTest program; ctest runs each of its tests separately, except in sanitized builds, where processes take long to start.
# LINKS may name modules that are added later. With WHOLE, the caller adds the ctest tests itself, and decides which tests run
# together.
add_custom_target(parallel_tests)

function(zeus_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "PARALLEL;WHOLE" "" "SOURCES;LINKS")
  add_executable(${name} ${arg_SOURCES})
  if(NOT ZEUS_TESTS)  # never built: its libraries are missing
    set_property(TARGET ${name} PROPERTY EXCLUDE_FROM_ALL ON)
    return()
  endif()
  zeus_quick_build(${name} TRUE)
  set_property(GLOBAL APPEND PROPERTY ZEUS_TEST_PROGRAMS ${name})
  set_property(TARGET ${name} PROPERTY ZEUS_WANTED_LINKS ${arg_LINKS})
  set_property(TARGET ${name} PROPERTY RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_link_libraries(${name} PRIVATE zeus_test_support GTest::gtest_main GTest::gmock)
  if(ZEUS_SANITIZE)
    target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/quiet_fork.cpp)
  endif()
  set(label "")
  if(arg_PARALLEL)
    add_dependencies(parallel_tests ${name})
    set(label LABELS parallel)
  endif()
  if(ZEUS_SANITIZE AND NOT arg_WHOLE)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES TIMEOUT 900 ${label})
    zeus_list_tests(${name})
  elseif(NOT arg_WHOLE)
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 120 PROPERTIES TIMEOUT 300 ${label})
  endif()
endfunction()

# Tests of a program, as a pattern of GoogleTest, that compute for long and can show a sanitizer nothing that others do not:
# left out where the build has that sanitizer.
function(zeus_leave_out program sanitizer tests)
  if(ZEUS_TESTS AND ZEUS_SANITIZE MATCHES "${sanitizer}")
    set_property(TEST ${program} APPEND PROPERTY ENVIRONMENT "GTEST_FILTER=-${tests}")
  endif()
endfunction()

function(zeus_program name)
  # The target has another name than the program, since the library is called zeus too.
  set(target zeus_program_${name})
  add_executable(${target} ${PROJECT_SOURCE_DIR}/${ZEUS_PROGRAM_${name}_SOURCE})
  set_property(TARGET ${target} PROPERTY OUTPUT_NAME ${name})
  zeus_quick_build(${target} FALSE)
  zeus_present_targets(links ${ZEUS_PROGRAM_${name}_LINKS})
  target_link_libraries(${target} PRIVATE ${links} ${ZEUS_PROGRAM_${name}_EXTERNAL})
  set_property(GLOBAL APPEND PROPERTY ZEUS_CHECKED_TARGETS ${target})
  set_property(TARGET ${target} PROPERTY ZEUS_ALLOWED ${links} ${ZEUS_PROGRAM_${name}_EXTERNAL})
endfunction()

function(zeus_check_links)
  get_property(tests GLOBAL PROPERTY ZEUS_TEST_PROGRAMS)
  foreach(test IN LISTS tests)
    get_property(wanted TARGET ${test} PROPERTY ZEUS_WANTED_LINKS)
    foreach(link IN LISTS wanted)
      if(TARGET ${link} OR NOT link MATCHES "^zeus_")
        target_link_libraries(${test} PRIVATE ${link})
      endif()
    endforeach()
  endforeach()
  get_property(targets GLOBAL PROPERTY ZEUS_CHECKED_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(allowed ${target} ZEUS_ALLOWED)
    get_target_property(linked ${target} LINK_LIBRARIES)
    foreach(link IN LISTS linked)
      if(NOT link IN_LIST allowed AND NOT link MATCHES "^\\$<LINK_LIBRARY:|^::@")
        message(FATAL_ERROR "${target} links ${link}, which layers.toml does not allow it: "
                            "list it there (and say why in the change), or do without")
      endif()
    endforeach()
  endforeach()
endfunction()
