# zeus_bench(random MODULES base)
#   Builds bench/random_bench.cpp, a Google Benchmark program, in the build folder's bench/. Its benchmarks come in pairs,
#   NAME/ours and NAME/yardstick (the source says what the yardstick is), and `make bench` prints their ratio.
#   The target `benches` builds all of them; they are not part of `all`.
add_custom_target(benches)

function(zeus_bench name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "MODULES")
  add_executable(${name}_bench EXCLUDE_FROM_ALL ${name}_bench.cpp)
  add_dependencies(benches ${name}_bench)
  list(TRANSFORM arg_MODULES REPLACE "/" "_" OUTPUT_VARIABLE modules)
  list(TRANSFORM modules PREPEND zeus_)
  target_link_libraries(${name}_bench PRIVATE ${modules} benchmark::benchmark_main)
  set_property(TARGET ${name}_bench PROPERTY RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
endfunction()
