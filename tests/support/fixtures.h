// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/error.h"
#include "engine/imagesource.h"

#include <QByteArray>
#include <QCryptographicHash>
#include <QMetaType>
#include <QString>

#include <span>
#include <string>
#include <vector>

Q_DECLARE_METATYPE(burin::ErrorCode)

namespace burin::fixtures {

inline std::string path(const char* name)
{
    return std::string(BURIN_TEST_DATA "/") + name;
}

/// The bytes that tests/data/make-fixtures calls noise().
inline QByteArray noise(const QByteArray& seed, qsizetype size)
{
    QByteArray all;
    for (int i = 0; all.size() < size; ++i) {
        all += QCryptographicHash::hash(seed + ' ' + QByteArray::number(i), QCryptographicHash::Sha256);
    }
    return all.first(size);
}

/// The bytes that tests/data/make-fixtures calls payload().
inline QByteArray payload(const QByteArray& seed, qsizetype zeros)
{
    return noise(seed, 1500) + QByteArray(zeros, '\0') + noise(seed + "-end", 777);
}
inline QByteArray payloadA()
{
    return payload("a", 300'000);
}
inline QByteArray payloadB()
{
    return payload("b", 500'000);
}

/// Everything that a source delivers, read in spans of `step`, and the error that ended it.
struct Outcome {
    QByteArray data;
    std::optional<FlashError> error;
};
inline Outcome readAll(ImageSource& source, std::size_t step)
{
    Outcome outcome;
    std::vector<std::byte> buffer(step);
    for (;;) {
        const auto got = source.read(buffer);
        if (!got) {
            outcome.error = got.error();
            return outcome;
        }
        outcome.data.append(reinterpret_cast<const char*>(buffer.data()), static_cast<qsizetype>(*got));
        if (*got < step) {
            return outcome;
        }
    }
}

} // namespace burin::fixtures
