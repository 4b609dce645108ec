# SPDX-FileCopyrightText: The Burin developers
# SPDX-License-Identifier: GPL-3.0-or-later
burin_test(tst_flashjob engine burin_engine)
burin_test(tst_flashstate engine burin_engine)
burin_test(tst_throughput engine burin_engine)
