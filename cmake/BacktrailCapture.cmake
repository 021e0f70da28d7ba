# libbacktrail-capture and its tests, without what the rest of the project needs.
add_library(backtrail_headers INTERFACE)
target_include_directories(backtrail_headers INTERFACE ${PROJECT_SOURCE_DIR}/include)
add_subdirectory(core)
add_subdirectory(preload)
install(TARGETS backtrail_capture LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/backtrail DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

if(BACKTRAIL_TESTS)
    enable_testing()
    # cmocka is rarely there for another machine or C library.
    add_library(tiny_cmocka STATIC tests/tiny/cmocka.c)
    target_include_directories(tiny_cmocka PUBLIC tests/tiny)
    add_library(PkgConfig::cmocka ALIAS tiny_cmocka)
    include(cmake/BacktrailTest.cmake)
    foreach(folder capture pack robust targets unwind)
        add_subdirectory(tests/${folder})
    endforeach()
endif()
