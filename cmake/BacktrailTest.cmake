include(CheckSymbolExists)
check_symbol_exists(__GLIBC__ features.h BACKTRAIL_GLIBC)

# trail_add_test(MODULE SOURCES file... [LIBRARIES lib...] [DEFINITIONS def...])
# Builds one cmocka program and registers each of its tests under MODULE.test_name, so
# that every one can be run alone: ctest -R '^MODULE.test_name$'.
function(trail_add_test module)
    if(NOT BACKTRAIL_TESTS)
        return()
    endif()
    cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES;DEFINITIONS" ${ARGN})
    string(REPLACE "." "_" target test_${module})
    add_executable(${target} ${arg_SOURCES})
    target_compile_definitions(${target} PRIVATE
        TEST_SOURCE_DIR="${PROJECT_SOURCE_DIR}" TEST_BINARY_DIR="${PROJECT_BINARY_DIR}"
        TEST_PLUGIN_DIR="${BACKTRAIL_PLUGIN_OUTPUT}"
        TEST_EMULATED=$<BOOL:${CMAKE_CROSSCOMPILING_EMULATOR}> ${arg_DEFINITIONS})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/tests)
    target_link_libraries(${target} PRIVATE backtrail_static PkgConfig::cmocka ${arg_LIBRARIES})

    foreach(source IN LISTS arg_SOURCES)
        get_filename_component(source ${source} ABSOLUTE)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
        # A long name stands on a line of its own.
        file(READ ${source} text)
        string(REGEX MATCHALL "cmocka_unit_test[a-z_]*\\([ \n]*[A-Za-z0-9_]+" calls "${text}")
        foreach(call IN LISTS calls)
            string(REGEX REPLACE ".*[( \n]" "" test "${call}")
            add_test(NAME ${module}.${test} COMMAND ${target} ${test}
                WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
            set_tests_properties(${module}.${test} PROPERTIES TIMEOUT 120
                ENVIRONMENT BACKTRAIL_TEST_PRODUCED=${PROJECT_BINARY_DIR}/produced/${module}.${test})
        endforeach()
    endforeach()
endfunction()
