# SPDX-FileCopyrightText: The Burin developers
# SPDX-License-Identifier: GPL-3.0-or-later
burin_test(tst_mounttable platform burin_platform)
burin_test(tst_systemdiskguard platform burin_platform)
burin_test(tst_driveclassifier platform burin_platform)
burin_test(tst_driveopener platform burin_platform)
burin_test(tst_udisks platform burin_platform Qt6::DBus)
