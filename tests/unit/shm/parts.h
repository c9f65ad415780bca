// SPDX-License-Identifier: BSD-3-Clause
// What the cases of this folder share: hosts with their parameters, and messages with known content.
#pragma once

#include "support/bare_host.h"
#include "support/process.h"

#include <cstring>

namespace plexus::testing {

inline const Method& shm() { return find_method("shm"); }

inline std::shared_ptr<const Bytes> numbered(std::size_t size, std::uint8_t first) {
    auto bytes = std::make_shared<Bytes>(size);
    for (std::size_t i = 0; i < size; ++i) (*bytes)[i] = static_cast<std::byte>(first + i * 7 + i / 251);
    return bytes;
}

/// Tells another process how to reach `host`: its id, then its descriptor.
inline void introduce(BareHost& host, Channel& to) {
    Bytes record(sizeof(plexus_id));
    std::memcpy(record.data(), &host.id(), sizeof(plexus_id));
    const Bytes descriptor = host.descriptor();
    record.insert(record.end(), descriptor.begin(), descriptor.end());
    to.put(record);
}

/// Connects `host` to the one that introduced itself; null if that does not come about in time.
inline End* meet(BareHost& host, Channel& from) {
    const auto record = from.take(10s);
    if (!record || record->size() <= sizeof(plexus_id)) return nullptr;
    plexus_id id{};
    std::memcpy(&id, record->data(), sizeof id);
    End* const end = host.connect(ByteView(*record).subspan(sizeof id), id);
    const bool up = end != nullptr && pump({&host}, 10s, [&] { return end->is_opened() || end->is_lost(); });
    return up && end->is_open() ? end : nullptr;
}

/// One byte to the other process, which waits for it.
inline void signal_to(Channel& other) {
    const std::byte one{1};
    other.put({&one, 1});
}

} // namespace plexus::testing
