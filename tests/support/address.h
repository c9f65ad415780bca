// SPDX-License-Identifier: BSD-3-Clause
// Who a context is and where: what one test process tells another.
#pragma once

#include "support/bare_host.h"

#include <cstring>

namespace plexus::testing {

struct Address {
    plexus_id id{};
    Bytes descriptor;

    static Address of(BareHost& host) { return {host.id(), host.descriptor()}; }

    static Address unpack(ByteView record) {
        Address address;
        if (record.size() < sizeof address.id)
            throw std::runtime_error("an address came in too short a record");
        std::memcpy(address.id.bytes, record.data(), sizeof address.id);
        address.descriptor.assign(record.begin() + sizeof address.id, record.end());
        return address;
    }

    Bytes pack() const {
        Bytes record(sizeof id + descriptor.size());
        std::memcpy(record.data(), id.bytes, sizeof id);
        std::memcpy(record.data() + sizeof id, descriptor.data(), descriptor.size());
        return record;
    }
};

} // namespace plexus::testing
