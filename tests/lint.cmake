# SPDX-FileCopyrightText: The Burin developers
# SPDX-License-Identifier: GPL-3.0-or-later
foreach(lint imports shape format)
    add_test(NAME lint_${lint} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/lint/${lint})
    set_tests_properties(lint_${lint} PROPERTIES LABELS lint)
endforeach()
# The same tests again under the sanitizers, in builds of their own; only from the plain build.
if(NOT BURIN_SANITIZE)
    foreach(preset asan tsan)
        add_test(NAME sanitizer_${preset} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/sanitizer ${preset})
        set_tests_properties(sanitizer_${preset} PROPERTIES LABELS slow RUN_SERIAL ON TIMEOUT 2400)
    endforeach()
    add_test(NAME fuzz COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/run 30)
    set_tests_properties(fuzz PROPERTIES LABELS slow RUN_SERIAL ON TIMEOUT 1200)
endif()
