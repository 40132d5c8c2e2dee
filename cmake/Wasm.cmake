# kinloop.mjs and kinloop.wasm: one build for the page, its workers and Node (which hands the module
# `wasmBinary`); kinloop-import.* reads robots and comes when one is opened. wasm/*exports.txt list what they export.
if(NOT EXISTS ${PROJECT_SOURCE_DIR}/wasm/exports.c)
    return()
endif()

function(kl_add_wasm target name exports)
    add_executable(${target} ${ARGN})
    target_link_libraries(${target} PRIVATE kl kl_jansson)
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} SUFFIX .mjs
        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
    # -Os is for binaryen, which passes over code that clang has optimised for speed: as fast, and 2 % smaller.
    # Once more, since it finds more then: 2 kB less.
    # emmalloc is half as long as the usual malloc; no step allocates, and nobody jumps.
    set(clock ${PROJECT_SOURCE_DIR}/wasm/clock.js)
    target_link_options(${target} PRIVATE -Os --no-entry "SHELL:--js-library ${clock}"
        -sWASM_BIGINT=1 -sMODULARIZE=1 -sEXPORT_ES6=1 -sENVIRONMENT=web,worker -sALLOW_MEMORY_GROWTH=1 -sMEMORY_GROWTH_LINEAR_STEP=2MB
        -sFILESYSTEM=0 -sMALLOC=emmalloc -sSUPPORT_LONGJMP=0 -sBINARYEN_EXTRA_PASSES=-Os
        -sEXPORTED_FUNCTIONS=@${PROJECT_SOURCE_DIR}/wasm/${exports})
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${PROJECT_SOURCE_DIR}/wasm/${exports} ${clock})
    # emcc's optimiser needs the npm package acorn; Debian keeps it where Node does not look by itself.
    set_target_properties(${target} PROPERTIES
        RULE_LAUNCH_LINK "${CMAKE_COMMAND} -E env NODE_PATH=$ENV{NODE_PATH}:/usr/share/nodejs")
endfunction()

kl_add_wasm(kinloop_wasm kinloop exports.txt wasm/exports.c wasm/file_store.c)
kl_add_wasm(kinloop_import_wasm kinloop-import import_exports.txt wasm/import.c wasm/file_store.c)
