# SPDX-FileCopyrightText: The Burin developers
# SPDX-License-Identifier: GPL-3.0-or-later
burin_test(tst_mounttable platform burin_platform)
burin_test(tst_systemdiskguard platform burin_platform)
burin_test(tst_systemuses platform burin_platform)
burin_test(tst_driveclassifier platform burin_platform)
burin_test(tst_driveopener platform burin_platform)
burin_test(tst_udisks platform burin_platform Qt6::DBus)

# Sees a /sys and a /dev of its own; the wrapper preloads, which ASan does not stand.
pkg_check_modules(UMOCKDEV REQUIRED IMPORTED_TARGET umockdev-1.0)
find_program(UMOCKDEV_WRAPPER umockdev-wrapper REQUIRED)
burin_test(tst_drivewatcher platform burin_platform PkgConfig::UMOCKDEV)
set_property(TEST tst_drivewatcher PROPERTY LABELS platform umockdev)
set_property(TARGET tst_drivewatcher PROPERTY CROSSCOMPILING_EMULATOR ${UMOCKDEV_WRAPPER})

# A loop device that was given back may be taken by another test before it is attached again.
set_tests_properties(tst_driveopener tst_udisks tst_drivewatcher PROPERTIES RESOURCE_LOCK loops)
