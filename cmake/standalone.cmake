# Programs and libraries that need nothing but the C library at run time, of version ZEUS_GLIBC or newer: what is in Python's
# package. Everything else is inside them.
#
#   zeus_standalone(target [SHARES_UNWINDER])   links libstdc++ and libgcc into it, for that glibc; what has to survive an
#                                               unwinding of its threads shares libgcc with its process (decision 0359)
#   zeus_standalone_program(target program)     another program of the parts of `program`
#   zeus_standalone_driver(target name version module folder)     a virtual driver of the parts of `module`, in `folder`
set(ZEUS_GLIBC "" CACHE STRING "The oldest glibc with which Python's package runs, such as 2.28; empty: this system's")

# The functions of fmt and spdlog, which Debian has only as shared libraries.
add_library(zeus_inside OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/cmake/fmt.cpp ${PROJECT_SOURCE_DIR}/cmake/spdlog.cpp)
target_compile_definitions(zeus_inside PRIVATE SPDLOG_COMPILED_LIB SPDLOG_FMT_EXTERNAL)

if(ZEUS_GLIBC)
  cmake_host_system_information(RESULT system QUERY DISTRIB_PRETTY_NAME)
  if(NOT system MATCHES "^Debian GNU/Linux 12")
    message(STATUS "Python's package is built for this system's glibc: only Debian 12 is known to build it for ${ZEUS_GLIBC}")
    set(ZEUS_GLIBC "")
  endif()
endif()
if(ZEUS_GLIBC)
  set(stubs ${PROJECT_BINARY_DIR}/glibc-${ZEUS_GLIBC})
  set(maker ${PROJECT_SOURCE_DIR}/packaging/older_glibc.py)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${maker})
  execute_process(COMMAND ${Python3_EXECUTABLE} ${maker} ${ZEUS_GLIBC} ${stubs} COMMAND_ERROR_IS_FATAL ANY)
  foreach(part older_glibc older_glibc_start)
    add_library(zeus_${part} OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/packaging/${part}.c)
  endforeach()
endif()

function(zeus_standalone target)
  set(needed Threads::Threads ${CMAKE_DL_LIBS})
  target_link_options(${target} PRIVATE -static-libstdc++ $<$<CONFIG:Release>:LINKER:--strip-all>)
  if(NOT SHARES_UNWINDER IN_LIST ARGN)
    target_link_options(${target} PRIVATE -static-libgcc)
  endif()
  if(ZEUS_GLIBC)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:zeus_older_glibc>)
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "EXECUTABLE")
      target_sources(${target} PRIVATE $<TARGET_OBJECTS:zeus_older_glibc_start>)
      target_link_options(${target} PRIVATE LINKER:--wrap=__libc_start_main)
    endif()
    # An older glibc has threads and dlopen in libraries of their own.
    target_link_options(${target} PRIVATE -L${stubs}
      LINKER:--no-as-needed ${stubs}/libpthread.so.0 ${stubs}/libdl.so.2 LINKER:--as-needed)
  endif()
  target_link_libraries(${target} PRIVATE ${needed})
endfunction()

function(zeus_standalone_program target program)
  set(archives "")
  foreach(name soci_sqlite3 soci_core sqlite3 re2 yaml-cpp lzma ssl crypto)
    find_library(ZEUS_ARCHIVE_${name} NAMES lib${name}.a REQUIRED)
    list(APPEND archives ${ZEUS_ARCHIVE_${name}})
  endforeach()
  zeus_all_below(parts ${program})
  add_executable(${target} $<TARGET_OBJECTS:zeus_inside>)
  set_property(TARGET ${target} PROPERTY LINKER_LANGUAGE CXX)
  foreach(part IN LISTS parts)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${part}>)
  endforeach()
  target_link_libraries(${target} PRIVATE ${archives})
  zeus_standalone(${target})
endfunction()

function(zeus_standalone_driver target name version module folder)
  zeus_all_below(parts ${module})
  add_library(${target} MODULE $<TARGET_OBJECTS:zeus_inside>)
  foreach(part IN LISTS parts)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${part}>)
  endforeach()
  set(file lib${name}.so.${version})
  set(exports ${PROJECT_SOURCE_DIR}/drivers/session/exports.map)
  target_link_options(${target} PRIVATE LINKER:-z,nodelete LINKER:-soname,${file} LINKER:--version-script=${exports})
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME ${file} SUFFIX "" LINKER_LANGUAGE CXX
    LINK_DEPENDS ${exports} LIBRARY_OUTPUT_DIRECTORY ${folder})
  zeus_standalone(${target})
  if(name STREQUAL "amd_smi")  # whose clients open it without a version
    add_custom_command(TARGET ${target} POST_BUILD
      COMMAND ${CMAKE_COMMAND} -E copy ${folder}/${file} ${folder}/lib${name}.so VERBATIM)
  endif()
endfunction()
