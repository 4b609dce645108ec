# SPDX-FileCopyrightText: The Burin developers
# SPDX-License-Identifier: GPL-3.0-or-later
burin_test(tst_fdblockdevice engine burin_engine)
