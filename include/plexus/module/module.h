// SPDX-License-Identifier: BSD-3-Clause
// Small C++ help for authors of modules. The contract itself is abi.h: nothing here crosses the border.
#pragma once

#include "plexus/module/abi.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

/// Opens the definition of a module's passport: PLEXUS_PASSPORT(tcp) = {...};
/// In a shared object it has the loader's symbol; built in, plexus_passport_tcp.
#if defined(PLEXUS_BUILTIN)
#define PLEXUS_PASSPORT(name)                                                                                \
    extern "C" const struct plexus_passport plexus_passport_##name;                                          \
    const struct plexus_passport plexus_passport_##name
#else
#define PLEXUS_PASSPORT(name)                                                                                \
    extern "C" PLEXUS_EXPORT const struct plexus_passport plexus_passport;                                   \
    const struct plexus_passport plexus_passport
#endif

namespace plexus::module {

inline plexus_view view(const void* data, std::size_t size) { return {data, size}; }
inline plexus_view view(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view text_of(plexus_view bytes) {
    return {static_cast<const char*>(bytes.data), bytes.size};
}

/// Copies what fits into `out`.
inline void write(plexus_text& out, std::string_view text) {
    out.size = std::min(text.size(), out.capacity);
    if (out.size > 0) std::memcpy(out.data, text.data(), out.size);
}

/// Appends a row to `rows`. @return PLEXUS_TOO_LARGE if it does not fit.
inline std::int32_t add_row(plexus_rows& rows, std::string_view label, plexus_view descriptor) {
    if (rows.size == rows.capacity) return PLEXUS_TOO_LARGE;
    plexus_row& row = rows.data[rows.size];
    if (label.size() > row.label.capacity || descriptor.size > row.descriptor.capacity)
        return PLEXUS_TOO_LARGE;
    write(row.label, label);
    write(row.descriptor, text_of(descriptor));
    ++rows.size;
    return PLEXUS_OK;
}

/// The configured value of a parameter, as text; empty if the passport has no such key.
inline std::string setting(const plexus_host& host, const char* key) {
    char room[4096];
    plexus_text text{room, sizeof room, 0};
    if (host.setting(host.self, key, &text) != PLEXUS_OK) return {};
    return {room, text.size};
}

} // namespace plexus::module
