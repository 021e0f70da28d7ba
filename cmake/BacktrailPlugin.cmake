# What a plugin author compiles against: headers only, nothing to link.
add_library(backtrail_headers INTERFACE)
target_include_directories(backtrail_headers INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

set(BACKTRAIL_PLUGIN_OUTPUT ${PROJECT_BINARY_DIR}/plugins-built)
set(BACKTRAIL_PLUGIN_DIR ${CMAKE_INSTALL_LIBDIR}/backtrail/plugins)

# A plugin is read and hashed whole before it is loaded, its debug information too.
include(CheckLinkerFlag)
check_linker_flag(C -Wl,--compress-debug-sections=zlib BACKTRAIL_CAN_COMPRESS_DEBUG)

# trail_add_plugin(KIND NAME SOURCES file... [PACKAGES pkg...] [LIBRARIES lib...] [BUILT_IN])
# Builds one plugin, skips it with a message if a package is missing, installs it, and
# runs the contract test of its KIND over it. LIBRARIES are static ones of this tree that
# several plugins share (plugins/elf, plugins/dwarf). BUILT_IN compiles the plugin into
# libbacktrail as well, for places where nothing can be loaded.
function(trail_add_plugin kind name)
    cmake_parse_arguments(arg "BUILT_IN" "" "SOURCES;PACKAGES;LIBRARIES" ${ARGN})
    set(packages "")
    foreach(package IN LISTS arg_PACKAGES)
        pkg_check_modules(${package} IMPORTED_TARGET GLOBAL ${package})
        if(NOT ${package}_FOUND)
            message(STATUS "${kind} ${name}: skipped, no ${package}")
            return()
        endif()
        list(APPEND packages PkgConfig::${package})
    endforeach()
    foreach(library IN LISTS arg_LIBRARIES)
        if(NOT TARGET ${library})
            message(STATUS "${kind} ${name}: skipped, ${library} was not built")
            return()
        endif()
    endforeach()

    string(REPLACE "-" "_" identifier ${name})
    set(target trail_${kind}_${identifier})
    add_library(${target} MODULE ${arg_SOURCES})
    set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME ${name}
        LIBRARY_OUTPUT_DIRECTORY ${BACKTRAIL_PLUGIN_OUTPUT})
    target_link_libraries(${target} PRIVATE backtrail_headers ${packages}
        ${arg_LIBRARIES})
    if(BACKTRAIL_CAN_COMPRESS_DEBUG)
        target_link_options(${target} PRIVATE -Wl,--compress-debug-sections=zlib)
    endif()
    # The registry refuses what others can write to; a build under umask 002 would be.
    add_custom_command(TARGET ${target} POST_BUILD COMMAND chmod go-w
        $<TARGET_FILE_DIR:${target}> $<TARGET_FILE:${target}>)
    install(TARGETS ${target} LIBRARY DESTINATION ${BACKTRAIL_PLUGIN_DIR})
    set_property(GLOBAL APPEND PROPERTY BACKTRAIL_PLUGINS ${target})
    if(arg_BUILT_IN)
        list(TRANSFORM arg_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
        target_sources(backtrail_objects PRIVATE ${arg_SOURCES})
    endif()

    if(BACKTRAIL_TESTS)
        add_test(NAME contract.${kind}.${name}
            COMMAND contract_${kind} $<TARGET_FILE:${target}> ${name})
    endif()
endfunction()
