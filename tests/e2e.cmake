# SPDX-FileCopyrightText: The Burin developers
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The program as people run it, against loop devices and files that behave like bad drives.
enable_language(C)
pkg_check_modules(FUSE REQUIRED IMPORTED_TARGET fuse3)
add_executable(faultfile support/faultfile.c)
target_link_libraries(faultfile PRIVATE PkgConfig::FUSE Threads::Threads)
target_compile_options(faultfile PRIVATE -Wall)

find_package(Python3 REQUIRED COMPONENTS Interpreter)
foreach(name cli flash badimages formats sources baddrives guard usedblocks)
    add_test(NAME e2e_${name} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/e2e/test_${name}.py)
    set_tests_properties(e2e_${name} PROPERTIES LABELS e2e TIMEOUT 1500 RESOURCE_LOCK loops
        ENVIRONMENT "BURIN=$<TARGET_FILE:burin>;FAULTFILE=$<TARGET_FILE:faultfile>")
endforeach()
