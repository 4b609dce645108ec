# SPDX-FileCopyrightText: The Burin developers
# SPDX-License-Identifier: GPL-3.0-or-later
burin_test(tst_flashjob engine burin_engine)
burin_test(tst_flashstate engine burin_engine)
burin_test(tst_usedblocks engine burin_engine)
burin_test(tst_sharedsource engine burin_engine)
burin_test(tst_bmapfile engine burin_engine)
burin_test(tst_freemap engine burin_engine)
burin_test(tst_throughput engine burin_engine)
# image side
burin_test(tst_compressedsource engine burin_engine BZip2::BZip2 PkgConfig::LZ4 PkgConfig::LZMA PkgConfig::ZSTD PkgConfig::ZLIB)
burin_test(tst_gzipdecoder engine burin_engine PkgConfig::ISAL PkgConfig::ZLIB)
burin_test(tst_unwrap engine burin_engine)
burin_test(tst_httpsource engine burin_engine Qt6::Network)
burin_test(tst_imageprobe engine burin_engine PkgConfig::ZLIB)
burin_test(tst_imagesums engine burin_engine OpenSSL::Crypto)
burin_test(tst_virtualdisk engine burin_engine PkgConfig::LZMA)
burin_test(tst_fdblockdevice engine burin_engine)
set_tests_properties(tst_fdblockdevice PROPERTIES RESOURCE_LOCK loops)
