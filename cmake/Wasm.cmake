# kinloop.mjs and kinloop.wasm: one build for the page, its workers and Node (which hands the module
# `wasmBinary`). wasm/exports.txt lists what it exports.
if(NOT EXISTS ${PROJECT_SOURCE_DIR}/wasm/exports.c)
    return()
endif()

file(GLOB KL_WASM_SOURCES CONFIGURE_DEPENDS wasm/*.c)
add_executable(kinloop_wasm ${KL_WASM_SOURCES})
target_link_libraries(kinloop_wasm PRIVATE kl kl_jansson)
set_target_properties(kinloop_wasm PROPERTIES OUTPUT_NAME kinloop SUFFIX .mjs
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
target_link_options(kinloop_wasm PRIVATE -O3 --no-entry
    -sWASM_BIGINT=1 -sMODULARIZE=1 -sEXPORT_ES6=1 -sENVIRONMENT=web,worker -sALLOW_MEMORY_GROWTH=1
    -sFILESYSTEM=0 -sEXPORTED_FUNCTIONS=@${PROJECT_SOURCE_DIR}/wasm/exports.txt)
set_property(TARGET kinloop_wasm APPEND PROPERTY LINK_DEPENDS ${PROJECT_SOURCE_DIR}/wasm/exports.txt)

# emcc's optimiser needs the npm package acorn; Debian keeps it where Node does not look by itself.
set_target_properties(kinloop_wasm PROPERTIES
    RULE_LAUNCH_LINK "${CMAKE_COMMAND} -E env NODE_PATH=$ENV{NODE_PATH}:/usr/share/nodejs")
