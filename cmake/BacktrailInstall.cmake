# What others build against: headers, libraries, the program, and how pkg-config and
# find_package(backtrail) find them. Everything is found from where these files lie, so
# an installed tree can be moved. Plugins are installed by trail_add_plugin.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/backtrail)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(DIRECTORY include/backtrail DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.h")
install(DIRECTORY docs/schema/ DESTINATION ${CMAKE_INSTALL_DATADIR}/backtrail/schema
    FILES_MATCHING PATTERN "*.schema.json")
install(DIRECTORY packaging/systemd DESTINATION ${CMAKE_INSTALL_DATADIR}/backtrail)
install(TARGETS backtrail_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
include(cmake/BacktrailHelp.cmake)

set_target_properties(backtrail_headers PROPERTIES EXPORT_NAME headers)
set_target_properties(backtrail_capture PROPERTIES EXPORT_NAME capture)
install(TARGETS backtrail_headers backtrail_capture backtrail EXPORT backtrail
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT backtrail NAMESPACE backtrail:: FILE backtrailTargets.cmake
    DESTINATION ${package_dir})

set(BACKTRAIL_PACKAGE_PLUGIN_DIR ${BACKTRAIL_PLUGIN_DIR})
configure_package_config_file(cmake/backtrailConfig.cmake.in
    ${PROJECT_BINARY_DIR}/backtrailConfig.cmake
    INSTALL_DESTINATION ${package_dir}
    PATH_VARS BACKTRAIL_PACKAGE_PLUGIN_DIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/backtrailConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/backtrailConfig.cmake
    ${PROJECT_BINARY_DIR}/backtrailConfigVersion.cmake DESTINATION ${package_dir})

# trail_install_pc(NAME DESCRIPTION) writes NAME.pc for library NAME. What the library
# itself links is in the library: a plugin author needs none of it, not even to be there.
function(trail_install_pc name description)
    file(RELATIVE_PATH up /${pkgconfig_dir} /)
    set(PC_PREFIX "\${pcfiledir}/${up}")
    set(PC_NAME ${name})
    set(PC_DESCRIPTION ${description})
    configure_file(cmake/backtrail.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${pkgconfig_dir})
endfunction()
trail_install_pc(backtrail "${PROJECT_DESCRIPTION}")
trail_install_pc(backtrail-capture "Stack traces of native programs: capture alone")
