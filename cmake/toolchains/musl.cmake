# musl instead of glibc, linked statically; for this machine.
set(CMAKE_C_COMPILER musl-gcc)
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(CMAKE_POSITION_INDEPENDENT_CODE OFF)
