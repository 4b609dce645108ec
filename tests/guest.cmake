# SPDX-FileCopyrightText: The Burin developers
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The program on a real kernel, in a virtual machine whose drives are plugged and pulled. Here a few of these
# tests; `tests/run --guest` runs them all. The limit leaves time to build the virtual machine.
if(NOT BURIN_SANITIZE)
    add_test(NAME guest COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/guest/run --quick)
    set_tests_properties(guest PROPERTIES LABELS slow RUN_SERIAL ON TIMEOUT 1800
        ENVIRONMENT "BURIN=$<TARGET_FILE:burin>;FAULTFILE=$<TARGET_FILE:faultfile>;BURIN_GUEST_EVIDENCE=${CMAKE_BINARY_DIR}/guest")
endif()
