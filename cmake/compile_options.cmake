# How all of our code is compiled. Presets choose the compiler and ZEUS_SANITIZE; nothing else changes code generation, so
# that every build computes the same decisions.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")

set(ZEUS_SANITIZE "" CACHE STRING "Sanitizers to build with, as for -fsanitize= (address,undefined or thread)")
option(ZEUS_FUZZ "Build the fuzzers with libFuzzer, and trace the modules that they feed (Clang)" OFF)
option(ZEUS_TESTS "Build tests, benchmarks and fuzzers, which take more of Debian's packages" ON)
option(ZEUS_PRECOMPILE "Precompile the standard headers and GoogleTest" ON)
set(ZEUS_PIECES 32 CACHE STRING "How many files of a target are compiled as one, because headers take most of the time; 1: each alone")

# A file count of 0: all of the target's.
function(zeus_in_pieces target files)
  if(ZEUS_PIECES GREATER 1)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${files})
  endif()
endfunction()

# Code that reads foreign bytes, some of it with rights that its users lack: a smashed stack, a buffer that the library can
# see is too short, or a changed table of functions ends the program. tests/packaging/hardening_test.py looks for all of it.
# Sanitizers check the same calls better, and glibc checks them only in optimized code.
add_compile_options(-fstack-protector-strong)
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT ZEUS_SANITIZE)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
  else()
    add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
  endif()
endif()
add_link_options(-Wl,-z,relro,-z,now $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-pie>)

# One kind of position-independent code for libraries, programs and tests alike, so that they can share precompiled headers.
add_compile_options(-fPIC -ffp-contract=off)
add_compile_options(
  $<$<COMPILE_LANGUAGE:CXX>:-Wall> $<$<COMPILE_LANGUAGE:CXX>:-Wextra> $<$<COMPILE_LANGUAGE:CXX>:-Wpedantic>
  $<$<COMPILE_LANGUAGE:CXX>:-Wshadow> $<$<COMPILE_LANGUAGE:CXX>:-Wconversion> $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>
  $<$<COMPILE_LANGUAGE:CXX>:-Woverloaded-virtual> $<$<COMPILE_LANGUAGE:C>:-Wall> $<$<COMPILE_LANGUAGE:C>:-Wextra>)
# GCC 14 of Debian 13 warns of uninitialized vectors in an empty std::optional, so newer compilers than the tested ones only warn.
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  add_compile_options(-Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 warns about the C++20 idiom {.first = 1} where the other members have defaults, and Clang does not.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-missing-field-initializers>)
endif()

if(ZEUS_SANITIZE)
  add_compile_options(-fsanitize=${ZEUS_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all -g1)
  add_link_options(-fsanitize=${ZEUS_SANITIZE})
endif()

find_program(ZEUS_CCACHE ccache)
if(ZEUS_CCACHE)
  # Without the two sloppiness settings, ccache refuses to cache files that use precompiled headers.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
               ${ZEUS_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  else()
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
  endif()
endif()
