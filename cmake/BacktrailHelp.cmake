# Man pages and completions, made by the program itself from the tables that --help is
# printed from, laid out in the build directory as an installation has them.
if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
    message(STATUS "man pages, completions: skipped, the program cannot be run here")
    return()
endif()

set(share_dir ${PROJECT_BINARY_DIR}/share)
get_property(plugins GLOBAL PROPERTY BACKTRAIL_PLUGINS)
# The options of the plugins that were built are in backtrail-config(5).
add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/share.stamp
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${share_dir}
    COMMAND ${CMAKE_COMMAND} -E env --unset=BACKTRAIL_CONFIG
        BACKTRAIL_STATE=${PROJECT_BINARY_DIR}/share.state
        $<TARGET_FILE:backtrail_program> help --write ${share_dir}
        --plugin-path ${BACKTRAIL_PLUGIN_OUTPUT}
    COMMAND ${CMAKE_COMMAND} -E touch ${PROJECT_BINARY_DIR}/share.stamp
    DEPENDS backtrail_program ${plugins}
    COMMENT "Man pages and completions"
    VERBATIM)
add_custom_target(backtrail_pages ALL DEPENDS ${PROJECT_BINARY_DIR}/share.stamp)

install(DIRECTORY ${share_dir}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR})
foreach(shell bash-completion zsh fish)
    install(DIRECTORY ${share_dir}/${shell} DESTINATION ${CMAKE_INSTALL_DATADIR})
endforeach()
