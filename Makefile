# Start here. Each target sets up what it needs; `make test` and `make demo` are enough for a first look.

.PHONY: build test demo bench results format check guards golden nightly packages setup clean wheels

build: setup
	cmake --preset release
	cmake --build build

# The Python environments of tests are made while the compiler has the processors. Three tests run at a time for each processor,
# because the long ones mostly wait. Their whole output is kept, so that tools/check_skips.py sees what was skipped.
test: setup
	@python3 tests/python/environment.py build >/dev/null 2>&1 & $(MAKE) build
	ctest --preset release -j $$((3 * $$(nproc))) --output-junit results.xml --test-output-size-passed 100000

# Builds only the program, which is about half of the code.
demo:
	@echo "The program is built first, in 4 to 10 minutes on two processors; then the demo prints a line for each of its nights."
	@packaging/set_up.sh
	cmake --preset release
	cmake --build build --target zeus_program_zeus
	build/bin/zeus demo --html build/demo.html

bench: setup
	tools/run_benches.py $(NAMES)

# Writes the tables of docs/results, which takes some minutes; read the diff before you commit it.
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

# One wheel of the Python package, into build/wheels: for all CPythons from 3.9 on and glibc from 2.28 on, with the program `zeus`.
# pip fetches what makes wheels.
wheels: setup
	cmake --preset release
	cmake --build build --target zeus_wheel_parts
	python3 -m venv --clear build/wheel-maker
	_PYTHON_HOST_PLATFORM=manylinux_2_28_x86_64 build/wheel-maker/bin/pip wheel --quiet --no-deps --wheel-dir build/wheels \
	  --config-settings=build-dir=build/wheel-maker/made --config-settings=cmake.define.ZEUS_BUILT=$(CURDIR)/build .
	@ls build/wheels/*.whl

# All checks that need no build of the project.
check: setup guards
	tools/check_alone.py --changed
	tools/check_tidy.py
	tools/check_source.py --longest

# The checks that take seconds.
guards:
	tools/check_layers.py
	tools/check_source.py
	tools/check_references.py
	tools/check_words.py
	tools/check_format.py
	tools/draw_layers.py --check

format: setup
	tools/check_format.py --fix

# Writes the golden files again; read the diff before you commit it.
golden: build
	ZEUS_UPDATE_GOLDEN=1 ctest --preset release -j $$(nproc)
	git --no-pager diff --stat -- tests/golden

nightly: test packages wheels
	ctest --preset release -C Nightly -R '^(.*_(all|full|many|several|whole|population|when_busy)$$|sweep.population|demo.seeds|packaging.(fresh_debian|wheel_in_debians)|run.(followed|quick_start|ways|truth|recurring|one_story)|python.(clone|examples|ranks))'
	LD_PRELOAD="$(CURDIR)/build/lib/libzeus_starved_threads.so" ctest --preset release -j 16 -R '^[A-Z]'
	tools/check_alone.py
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
