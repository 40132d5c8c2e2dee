# make run    builds everything, compares solvers in the terminal, serves the page on localhost
# make test   all tests; make test-all adds the slow and exhaustive ones
# make npm    packs build/npm/kinloop-VERSION.tgz, the core for Node and browsers with types
# make docs   builds build/docs/index.html: guides and the reference of src/kl.h
# make setup  installs what is missing, fetches the sources of third-party libraries
# CMake, Ninja, emcc and npm do the work; here is only their order.
.DEFAULT_GOAL := help
SHELL := /bin/bash
JOBS ?= $(shell nproc)
PORT ?= 8000

# Tools that scripts/setup.sh has put into the cache come first; emcc finds acorn by NODE_PATH.
CACHE := $(or $(KL_DEPS_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/kinloop)
export PATH := $(CACHE)/node/bin:$(PATH)
export NODE_PATH ?= /usr/share/nodejs

WEB_SOURCES := $(shell find web wasm/loader scenes -type f -not -path '*/node_modules/*' -not -path 'web/dist/*' \
                 -not -path 'web/src/generated/*' 2>/dev/null)

.PHONY: help setup native native-tests fast wasm web npm docs run compare serve test test-all sanitize-memory sanitize-thread bench reproduce clean

help:
	@sed -n 's/^# //p' $(firstword $(MAKEFILE_LIST)) | head -5

setup: build/.setup-test

build/.setup: scripts/setup.sh scripts/deps.sh
	@scripts/setup.sh run
	@scripts/deps.sh >/dev/null
	@mkdir -p build && touch $@

build/native/build.ninja: | build/.setup
	@cmake -S . -B build/native -G Ninja -DCMAKE_BUILD_TYPE=Release $(CMAKE_ARGS)

build/native-fast/build.ninja: | build/.setup
	@cmake -S . -B build/native-fast -G Ninja -DCMAKE_BUILD_TYPE=Release -DKL_FAST=ON -DBUILD_TESTING=OFF

build/wasm/build.ninja: | build/.setup
	@emcmake cmake -S . -B build/wasm -G Ninja -DCMAKE_BUILD_TYPE=Release

native: build/native/build.ninja
	@cmake --build build/native -j$(JOBS) --target kinloop

native-tests: build/native/build.ninja
	@cmake --build build/native -j$(JOBS)

fast: build/native-fast/build.ninja
	@cmake --build build/native-fast -j$(JOBS)

wasm: build/wasm/build.ninja
	@cmake --build build/wasm -j$(JOBS)

web/node_modules/.package-lock.json: web/package-lock.json | build/.setup
	@cd web && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

# The stamp, not dist/index.html: vite empties dist before it builds.
build/.web: web/node_modules/.package-lock.json $(WEB_SOURCES) build/wasm/kinloop.wasm build/wasm/kinloop.mjs
	@cd web && npm run --silent build
	@touch $@

build/wasm/kinloop.wasm build/wasm/kinloop.mjs: wasm ;

web: build/.web

npm: wasm web/node_modules/.package-lock.json
	@node wasm/npm/pack.mjs

docs:
	@command -v doxygen >/dev/null || scripts/setup.sh docs
	@rm -rf build/docs && mkdir -p build && doxygen docs/Doxyfile && echo build/docs/index.html

run: native fast web compare serve

compare:
	@scripts/compare.sh

serve:
	@build/native/kinloop serve --dir web/dist --port $(PORT)

test: build/.setup-test
	@scripts/test.sh

test-all: build/.setup-test
	@scripts/test.sh --all

build/.setup-test: scripts/setup.sh scripts/deps.sh
	@scripts/setup.sh run test
	@scripts/deps.sh >/dev/null
	@mkdir -p build && touch build/.setup $@

# The quick tests under MemorySanitizer (the core, with what it stands on) and under ThreadSanitizer.
sanitize-memory sanitize-thread: sanitize-%: | build/.setup-test
	@cmake -S . -B build/sanitize-$* -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DKL_SANITIZE=$* \
	    -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ >build/sanitize-$*.log
	@cmake --build build/sanitize-$* -j$(JOBS) >>build/sanitize-$*.log || { tail -30 build/sanitize-$*.log; exit 1; }
	@cd build/sanitize-$* && ctest -L quick -j$(JOBS) --output-on-failure

bench: native fast
	@build/native/kinloop bench

# The report's claims, measured again, into docs/reproduction.md.
reproduce: native
	@scripts/reproduce.py

clean:
	rm -rf build web/dist web/node_modules
