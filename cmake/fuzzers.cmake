# zeus_fuzzer(units MODULES base [LINKS ...])
#   Adds fuzz/units_fuzz.cpp, a file with LLVMFuzzerTestOneInput. If ZEUS_FUZZ is on, the target `fuzzers` builds it as
#   the libFuzzer program fuzz/units_fuzz, and MODULES are traced to guide libFuzzer; LINKS are not traced. Every build
#   links it into tests/fuzz_replay, which a test runs over fuzz/corpus/units, so that old findings stay tested.
# zeus_fuzz_replay()   call it last: builds the program that replays all corpora
add_custom_target(fuzzers)

function(zeus_fuzzer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "MODULES;LINKS")
  list(TRANSFORM arg_MODULES REPLACE "/" "_" OUTPUT_VARIABLE traced)
  list(TRANSFORM traced PREPEND zeus_)
  list(TRANSFORM arg_LINKS REPLACE "/" "_" OUTPUT_VARIABLE modules)
  list(TRANSFORM modules PREPEND zeus_)
  list(APPEND modules ${traced})
  set_property(GLOBAL APPEND PROPERTY ZEUS_FUZZERS ${name})
  set_property(GLOBAL APPEND PROPERTY ZEUS_FUZZED_MODULES ${modules})
  add_test(NAME fuzz.${name}.corpus COMMAND fuzz_replay ${name} ${CMAKE_CURRENT_SOURCE_DIR}/corpus/${name})
  # fuzz_replay links all of them, so each function needs a unique name.
  set_property(SOURCE ${name}_fuzz.cpp PROPERTY COMPILE_DEFINITIONS LLVMFuzzerTestOneInput=fuzz_${name})
  if(ZEUS_FUZZ)
    add_executable(${name}_fuzz EXCLUDE_FROM_ALL ${name}_fuzz.cpp)
    target_link_libraries(${name}_fuzz PRIVATE ${modules})
    target_link_options(${name}_fuzz PRIVATE -fsanitize=fuzzer LINKER:--defsym=LLVMFuzzerTestOneInput=fuzz_${name})
    set_property(TARGET ${name}_fuzz PROPERTY RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
    add_dependencies(fuzzers ${name}_fuzz)
    # As with -fsanitize=fuzzer-no-link, but for the traced modules alone: elsewhere it would slow the tests.
    foreach(module IN LISTS traced)
      target_compile_options(${module} PRIVATE
        -fsanitize-coverage=inline-8bit-counters,indirect-calls,pc-table,stack-depth,trace-cmp)
    endforeach()
  endif()
endfunction()

function(zeus_fuzz_replay)
  get_property(names GLOBAL PROPERTY ZEUS_FUZZERS)
  get_property(modules GLOBAL PROPERTY ZEUS_FUZZED_MODULES)
  list(REMOVE_DUPLICATES modules)
  list(TRANSFORM names REPLACE "(.+)" "ZEUS_FUZZER(\\1)" OUTPUT_VARIABLE listed)
  string(JOIN "\n" listed ${listed})
  file(CONFIGURE OUTPUT fuzzers.inc CONTENT "${listed}\n")
  list(TRANSFORM names APPEND _fuzz.cpp OUTPUT_VARIABLE sources)
  add_executable(fuzz_replay replay.cpp ${sources})
  target_include_directories(fuzz_replay PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
  target_link_libraries(fuzz_replay PRIVATE ${modules})
  set_property(TARGET fuzz_replay PROPERTY RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  zeus_precompile(fuzz_replay FALSE)
endfunction()
