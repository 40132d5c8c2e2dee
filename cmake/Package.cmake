# What an installation holds: header, static and shared library, pkg-config and CMake package files, the
# command with man page and completions, scenes, the page; and the Debian package made of it (cpack).
include(GNUInstallDirs)

# The static library stands on ODE's collision half and on meshoptimizer, which come along under names of their own.
get_target_property(KL_ODE_ARCHIVE kl_ode IMPORTED_LOCATION)
get_target_property(KL_MESHOPTIMIZER_ARCHIVE kl_meshoptimizer IMPORTED_LOCATION)

# The shared library exports what kl.h declares, and nothing else.
file(READ ${PROJECT_SOURCE_DIR}/src/kl.h KL_HEADER)
string(REGEX MATCHALL "[ *]kl_[a-z0-9_]+\\(" KL_NAMES "${KL_HEADER}")
list(TRANSFORM KL_NAMES REPLACE "[ *(]" "")
list(REMOVE_DUPLICATES KL_NAMES)
list(SORT KL_NAMES)
list(JOIN KL_NAMES ";\n    " KL_EXPORTS)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/kl.map CONTENT "{\nglobal:\n    ${KL_EXPORTS};\nlocal:\n    *;\n};\n" @ONLY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/kl.h)

# Version 0.y promises nothing between minor versions, so the soname carries both numbers.
add_library(kl_shared SHARED ${KL_SOURCES})
target_include_directories(kl_shared PRIVATE src)
target_link_libraries(kl_shared PRIVATE kl_flags kl_jansson kl_expat kl_yaml ${KL_ODE_ARCHIVE} ${KL_MESHOPTIMIZER_ARCHIVE} m)
target_include_directories(kl_shared SYSTEM PRIVATE $<TARGET_PROPERTY:kl_ode,INTERFACE_INCLUDE_DIRECTORIES>
                           $<TARGET_PROPERTY:kl_meshoptimizer,INTERFACE_INCLUDE_DIRECTORIES>)
target_compile_definitions(kl_shared PRIVATE dIDEDOUBLE)
target_link_options(kl_shared PRIVATE -Wl,--version-script=${PROJECT_BINARY_DIR}/kl.map -Wl,--no-undefined)
set_target_properties(kl_shared PROPERTIES OUTPUT_NAME kl VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} LINKER_LANGUAGE CXX
    LINK_DEPENDS ${PROJECT_BINARY_DIR}/kl.map EXCLUDE_FROM_ALL ON)

add_custom_target(package_parts DEPENDS kl kl_shared kinloop)

install(FILES src/kl.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kinloop COMPONENT library)
install(TARGETS kl ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
install(FILES $<TARGET_FILE:kl_shared> $<TARGET_SONAME_FILE:kl_shared> $<TARGET_LINKER_FILE:kl_shared>
        DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
install(FILES ${KL_ODE_ARCHIVE} DESTINATION ${CMAKE_INSTALL_LIBDIR} RENAME libkl_ode.a COMPONENT library)
install(FILES ${KL_MESHOPTIMIZER_ARCHIVE} DESTINATION ${CMAKE_INSTALL_LIBDIR} RENAME libkl_meshoptimizer.a
        COMPONENT library)

configure_file(cmake/kinloop.pc.in kinloop.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/kinloop.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)
include(CMakePackageConfigHelpers)
configure_package_config_file(cmake/kinloop-config.cmake.in kinloop-config.cmake
    PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/kinloop)
write_basic_package_version_file(kinloop-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/kinloop-config.cmake ${PROJECT_BINARY_DIR}/kinloop-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/kinloop COMPONENT library)

# The command writes its own man page and completions from its option table.
install(TARGETS kinloop RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
set(texts ${PROJECT_BINARY_DIR}/texts)
foreach(text "kinloop.1;--man" "kinloop;--completion;bash" "_kinloop;--completion;zsh")
    list(POP_FRONT text name)
    add_custom_command(OUTPUT ${texts}/${name} DEPENDS kinloop
        COMMAND ${CMAKE_COMMAND} -E make_directory ${texts}
        COMMAND kinloop ${text} >${texts}/${name})
    list(APPEND KL_TEXTS ${texts}/${name})
endforeach()
add_custom_target(kinloop_texts DEPENDS ${KL_TEXTS})
add_dependencies(package_parts kinloop_texts)
install(FILES ${texts}/kinloop.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command)
install(FILES ${texts}/kinloop DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT command)
install(FILES ${texts}/_kinloop DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT command)
install(DIRECTORY scenes/ DESTINATION ${CMAKE_INSTALL_DATADIR}/kinloop/scenes COMPONENT command
        FILES_MATCHING PATTERN "*.json" PATTERN "*.stl" PATTERN "*.obj" PATTERN generators EXCLUDE)
install(DIRECTORY web/dist/ DESTINATION ${CMAKE_INSTALL_DATADIR}/kinloop/web COMPONENT command OPTIONAL)
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT command)

set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_NAME kinloop)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "simulate mechanisms with kinematic loops and compare their solvers")
set(CPACK_PACKAGE_CONTACT "kinloop developers")
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
include(CPack)
