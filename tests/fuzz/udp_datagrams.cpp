// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: datagrams of somebody without the job's key, in any number and order, to a context with
// one session that dials. What is taken for a datagram has the header that it was written with, and its other
// bytes are its rest. The dial goes on whatever comes; no session opens, and the host hears of nothing.
// No input has a valid proof, so none gets beyond the check of a hello or an answer: sessions that wait for
// their confirm or are open, and what is sealed for them, are left to tests/unit/udp/hostile.cpp.
#include "udp/sessions.h"

#include <asio/ip/address_v4.hpp>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <vector>

namespace {

using namespace plexus::udp;

void require(bool holds) {
    if (!holds) std::abort();
}

/// A host with a key that no input has.
struct Host {
    Host() {
        table.self = this;
        std::memset(table.id.bytes, 7, sizeof table.id.bytes);
        table.random = [](void* self, void* data, std::size_t size) {
            auto& own = static_cast<Host*>(self)->state;
            for (std::size_t i = 0; i < size; ++i) {
                own = own * 6364136223846793005U + 1442695040888963407U;
                static_cast<std::uint8_t*>(data)[i] = static_cast<std::uint8_t>(own >> 56);
            }
        };
        table.hmac = [](void*, plexus_view text, std::uint8_t proof[32]) -> std::int32_t {
            constexpr std::uint8_t kKey[32] = {1, 2, 3};
            unsigned size = 0;
            const auto* made = ::HMAC(::EVP_sha256(), kKey, sizeof kKey,
                                      static_cast<const unsigned char*>(text.data), text.size, proof, &size);
            return made != nullptr ? PLEXUS_OK : PLEXUS_UNSUPPORTED;
        };
    }
    plexus_host table{};
    std::uint64_t state = 1;
};

/// Loopback alone: what is sent goes to a port that nobody reads.
const Sockets& sockets() {
    static const Sockets made = [] {
        Sockets bound;
        std::string why;
        plexus::stream_link::Interface loopback;
        loopback.address = asio::ip::address_v4::loopback();
        loopback.prefix = 8;
        require(bound.bind({loopback}, {}, why) == 0);
        return bound;
    }();
    return made;
}

void check_codec(Bytes bytes) {
    const auto read = decode(bytes);
    if (!read) return;
    std::uint8_t written[Header::kBytes];
    encode(read->header, written);
    require(std::memcmp(written, bytes.data(), sizeof written) == 0);
    require(read->rest.data() == bytes.data() + sizeof written);
    require(read->rest.size() + sizeof written == bytes.size());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Host host;
    Options options;
    options.where.connect_timeout = std::chrono::seconds(5);
    options.keep_alive = std::chrono::seconds(1);
    options.silence = std::chrono::seconds(5);
    Sessions sessions(nullptr, host.table, options, sockets());
    const Path from{0, {asio::ip::address_v4::loopback(), sockets().port()}};
    int cookie = 0;
    plexus_id peer{};
    Session& dialed = sessions.dial(peer, {from}, &cookie);

    // A length of one byte, then so many: a head that a fuzzer finds, and the rest.
    while (size > 0) {
        const std::size_t length = std::min<std::size_t>(data[0], size - 1);
        std::vector<std::uint8_t> one(data + 1, data + 1 + length); // a copy of exactly that size
        data += 1 + length;
        size -= 1 + length;
        check_codec(one);
        if (one.size() >= Header::kBytes && one[2] == 0xff) { // to the session that dials
            one[2] = 0;
            for (int i = 0; i < 4; ++i) one[4 + i] = static_cast<std::uint8_t>(dialed.own >> (24 - 8 * i));
        }
        const Event event = sessions.take(from, one);
        require(event.what == Event::What::nothing);
    }
    require(dialed.state == Session::State::dialing);
    require(sessions.open() == 0);
    return 0;
}
