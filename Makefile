# The front door. Each target does its own set-up; `make test` and `make demo` are all a newcomer needs.

.PHONY: build test demo bench results format check guards golden nightly packages setup clean

build: setup
	cmake --preset release
	cmake --build build

# One more at a time than there are processors: some tests mostly wait.
test: build
	ctest --preset release -j $$(($$(nproc) + 1)) --output-junit results.xml

# The program alone, which is about half of what there is to compile.
demo:
	@echo "The program is built first, in 5 to 20 minutes; then the demo prints a line for each of its nights."
	@packaging/set_up.sh
	cmake --preset release
	cmake --build build --target zeus_program_zeus
	build/bin/zeus demo --html build/demo.html

bench: setup
	tools/run_benches.py $(NAMES)

# The tables of docs/results, which take some minutes; read the diff before it is committed.
results: setup
	cmake --preset release
	cmake --build build --target measure_accuracy
	build/bench/measure_accuracy 2000 > docs/results/measurement.txt

# The Debian packages, into build-packages/packages.
packages: setup
	rm -rf build-packages/packages
	cmake --preset packages
	cmake --build build-packages
	cpack --config build-packages/CPackConfig.cmake

# Everything that refuses: the guards, without building the project.
check: setup guards
	tools/check_headers.py --changed
	tools/check_tidy.py
	tools/check_source.py --longest

# Those that take seconds.
guards:
	tools/check_layers.py
	tools/check_source.py
	tools/check_references.py
	tools/check_words.py
	tools/check_format.py
	tools/draw_layers.py --check

format: setup
	tools/check_format.py --fix

# Writes the golden files anew; read the diff before it is committed.
golden: build
	ZEUS_UPDATE_GOLDEN=1 ctest --preset release -j $$(nproc)
	git --no-pager diff --stat -- tests/golden

nightly: test packages
	ctest --preset release -C Nightly -R '^(cli.hostile_many|daemon.*_(many|full)$$|packaging.fresh_debian|run.truth|run.recurring|run.one_story|run.server_many|server[.](decisions|processes)_full|python.clone|python.examples|python.ranks|python.user_scripts_all)'
	tools/check_headers.py
	tools/check_tidy.py --all
	cmake --preset asan-ubsan && cmake --build build-asan-ubsan && ctest --preset asan-ubsan
	build/bin/zeus virtual '2xA100@root-only@limit=300' --shared --load constant:200W -- python3 tests/daemon/cut_streams_test.py \
	  build-asan-ubsan/bin/zeusd --streams 100000 --growth 32
	cmake --preset tsan && cmake --build build-tsan && ctest --preset tsan
	tools/mutate.py --count 300
	tools/run_fuzzers.py --seconds 7200
	tools/run_benches.py

setup:
	@packaging/set_up.sh

clean:
	rm -rf build build-*
