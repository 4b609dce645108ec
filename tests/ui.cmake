# SPDX-FileCopyrightText: The Burin developers
# SPDX-License-Identifier: GPL-3.0-or-later

foreach(name formatting errortext chartscale drivelistmodel confirmsheet mainwindow)
    burin_test(tst_${name} ui burin_ui)
endforeach()

# Not a test: takes pictures of the window for people to look at (tests/ui/screenshots.cpp).
add_executable(burin_screenshots ui/screenshots.cpp)
target_link_libraries(burin_screenshots PRIVATE burin_ui)
