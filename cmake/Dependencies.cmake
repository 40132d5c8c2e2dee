# Third-party libraries: Debian's jansson, expat and libyaml natively; ODE and meshoptimizer always, and for
# WebAssembly and MemorySanitizer the other three too, built from pinned sources (scripts/deps.sh). What is built
# stays in a cache that worktrees and clean clones share: $KL_DEPS_CACHE, or kinloop/ in the user's cache folder.

# Builds and installs the CMake project in `source` once per compiler and set of `inputs` (files);
# `prefix` becomes the folder with include/ and lib/. Further arguments go to its configure step.
function(kl_build_dependency name source inputs prefix)
    set(text "${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION} ${CMAKE_SYSTEM_NAME}")
    string(APPEND text " ${CMAKE_SYSTEM_PROCESSOR} ${CMAKE_TOOLCHAIN_FILE} ${name} ${KL_INSTRUMENT} ${ARGN}")
    foreach(input ${inputs})
        file(SHA256 ${input} sum)
        string(APPEND text " ${sum}")
    endforeach()
    string(SHA256 key "${text}")
    string(SUBSTRING ${key} 0 12 key)
    set(install ${KL_CACHE}/built/${name}-${key})
    set(${prefix} ${install} PARENT_SCOPE)

    file(LOCK ${KL_CACHE}/built/${name}-${key}.lock GUARD FUNCTION)
    if(EXISTS ${install}/.complete)
        return()
    endif()
    message(STATUS "Building ${name} into ${install}")
    set(work ${CMAKE_BINARY_DIR}/dependencies/${name})
    set(toolchain)
    if(CMAKE_TOOLCHAIN_FILE)  # WebAssembly: small, because a page waits for it
        set(toolchain -DCMAKE_TOOLCHAIN_FILE=${CMAKE_TOOLCHAIN_FILE}
            -DCMAKE_C_FLAGS_RELEASE=-Os -DCMAKE_CXX_FLAGS_RELEASE=-Os)
    else()
        set(toolchain -DCMAKE_C_COMPILER=${CMAKE_C_COMPILER} -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER})
        list(JOIN KL_INSTRUMENT " " flags)
        list(APPEND toolchain "-DCMAKE_C_FLAGS=${flags}" "-DCMAKE_CXX_FLAGS=${flags}")
    endif()
    foreach(command
            "-S;${source};-B;${work};-G;${CMAKE_GENERATOR};${toolchain};-DCMAKE_BUILD_TYPE=Release;-DCMAKE_INSTALL_PREFIX=${install};-DCMAKE_INSTALL_LIBDIR=lib;-DBUILD_SHARED_LIBS=OFF;${ARGN}"
            "--build;${work};--parallel;2" "--install;${work}")
        execute_process(COMMAND ${CMAKE_COMMAND} ${command} RESULT_VARIABLE failed
                        OUTPUT_VARIABLE output ERROR_VARIABLE output)
        if(failed)
            message(FATAL_ERROR "${name} did not build:\n${output}")
        endif()
    endforeach()
    file(WRITE ${install}/.complete "")
    file(REMOVE_RECURSE ${work})
endfunction()

# An imported static library `target` = ${prefix}/lib/lib${file}.a
function(kl_import target prefix file)
    add_library(${target} STATIC IMPORTED GLOBAL)
    set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${prefix}/lib/lib${file}.a
        INTERFACE_INCLUDE_DIRECTORIES ${prefix}/include)
endfunction()

if(NOT EMSCRIPTEN)
    find_package(PkgConfig REQUIRED)
endif()
execute_process(COMMAND ${PROJECT_SOURCE_DIR}/scripts/deps.sh RESULT_VARIABLE failed
                OUTPUT_VARIABLE sources OUTPUT_STRIP_TRAILING_WHITESPACE)
if(failed)
    message(FATAL_ERROR "scripts/deps.sh could not provide the sources of ODE, meshoptimizer, jansson, expat and libyaml")
endif()
get_filename_component(KL_CACHE ${sources} DIRECTORY)

set(ode ${PROJECT_SOURCE_DIR}/cmake/ode)
kl_build_dependency(ode ${ode} "${ode}/CMakeLists.txt;${ode}/config.h;${ode}/own_trig.h" prefix
    -DODE_SOURCE_DIR=${sources}/ode-0.16.2)
kl_import(kl_ode ${prefix} ode)
set_target_properties(kl_ode PROPERTIES IMPORTED_LINK_INTERFACE_LANGUAGES CXX
    INTERFACE_COMPILE_DEFINITIONS dIDEDOUBLE
    INTERFACE_LINK_LIBRARIES kl)  # for kl_atan2 and its like, see cmake/ode/own_trig.h

kl_build_dependency(meshoptimizer ${PROJECT_SOURCE_DIR}/cmake/meshoptimizer
    ${PROJECT_SOURCE_DIR}/cmake/meshoptimizer/CMakeLists.txt prefix
    -DMESHOPTIMIZER_SOURCE_DIR=${sources}/meshoptimizer-0.18)
kl_import(kl_meshoptimizer ${prefix} meshoptimizer)
set_target_properties(kl_meshoptimizer PROPERTIES IMPORTED_LINK_INTERFACE_LANGUAGES CXX)

if(EMSCRIPTEN OR KL_SANITIZE STREQUAL "memory")  # all that the core touches is instrumented
    if(EMSCRIPTEN)  # there is no file system
        set(no_urandom -DUSE_URANDOM=OFF)
        set(entropy -DEXPAT_DEV_URANDOM=OFF -DCMAKE_C_FLAGS=-DXML_POOR_ENTROPY)
    else()  # by read(), which MemorySanitizer knows
        set(entropy -DHAVE_ARC4RANDOM_BUF=OFF -DHAVE_ARC4RANDOM=OFF -DHAVE_GETRANDOM=OFF
            -DHAVE_SYSCALL_GETRANDOM=OFF)
    endif()
    kl_build_dependency(jansson ${sources}/jansson-2.14 "" prefix
        -DJANSSON_BUILD_DOCS=OFF -DJANSSON_WITHOUT_TESTS=ON -DJANSSON_EXAMPLES=OFF ${no_urandom})
    kl_import(kl_jansson ${prefix} jansson)
    kl_build_dependency(expat ${sources}/libexpat-R_2_5_0/expat "" prefix
        -DEXPAT_BUILD_TOOLS=OFF -DEXPAT_BUILD_EXAMPLES=OFF -DEXPAT_BUILD_TESTS=OFF
        -DEXPAT_BUILD_DOCS=OFF -DEXPAT_SHARED_LIBS=OFF ${entropy})
    kl_import(kl_expat ${prefix} expat)
    kl_build_dependency(yaml ${sources}/libyaml-0.2.5 "" prefix
        -DBUILD_TESTING=OFF -DYAML_STATIC_LIB_NAME=yaml)
    kl_import(kl_yaml ${prefix} yaml)
    set_property(TARGET kl_yaml APPEND PROPERTY INTERFACE_COMPILE_DEFINITIONS YAML_DECLARE_STATIC)
else()
    pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET GLOBAL jansson)
    pkg_check_modules(EXPAT REQUIRED IMPORTED_TARGET GLOBAL expat)
    add_library(kl_jansson ALIAS PkgConfig::JANSSON)
    pkg_check_modules(YAML REQUIRED IMPORTED_TARGET GLOBAL yaml-0.1)
    add_library(kl_expat ALIAS PkgConfig::EXPAT)
    add_library(kl_yaml ALIAS PkgConfig::YAML)
endif()
