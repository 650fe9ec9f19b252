# zeus_fuzzer(unit_text MODULES base)
#   fuzz/unit_text_fuzz.cpp, a file with LLVMFuzzerTestOneInput. In the fuzz preset it becomes bin/unit_text_fuzz, a libFuzzer
#   program. In every other preset it is linked with fuzz/replay.cpp and run over fuzz/corpus/unit_text as a test, so that
#   what was once found stays found. `fuzzers` builds them all.
add_custom_target(fuzzers)

function(zeus_fuzzer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "MODULES")
  add_executable(${name}_fuzz ${name}_fuzz.cpp)
  list(TRANSFORM arg_MODULES REPLACE "/" "_" OUTPUT_VARIABLE modules)
  list(TRANSFORM modules PREPEND zeus_)
  target_link_libraries(${name}_fuzz PRIVATE ${modules})
  add_dependencies(fuzzers ${name}_fuzz)
  set(corpus ${CMAKE_CURRENT_SOURCE_DIR}/corpus/${name})
  if(ZEUS_FUZZ)
    target_link_options(${name}_fuzz PRIVATE -fsanitize=fuzzer)
    set_property(TARGET ${name}_fuzz PROPERTY RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
  else()
    target_sources(${name}_fuzz PRIVATE replay.cpp)
    set_property(TARGET ${name}_fuzz PROPERTY RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    add_test(NAME fuzz.${name}.corpus COMMAND ${name}_fuzz ${corpus})
  endif()
endfunction()
