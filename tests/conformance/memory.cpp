// SPDX-License-Identifier: BSD-3-Clause
// Promise of modules with PLEXUS_CAP_REMOTE_MEMORY: what a peer has exposed can be read and
// written without its host; each transfer ends once, whatever happens to the link.
#include "support/address.h"
#include "support/catch.h"
#include "support/process.h"
#include "support/stream.h"

#include <csignal>
#include <cstring>

namespace memory_test {

using namespace plexus::testing;

namespace {

constexpr std::size_t kMemory = std::size_t{4} << 20;

/// Exposed at `host` for as long as it lives.
class Exposed {
  public:
    Exposed(BareHost& host, void* data, std::size_t size)
      : host_(host)
      , size_(size)
      , key_(PLEXUS_KEY_MAX) {
        plexus_text key{reinterpret_cast<char*>(key_.data()), key_.size(), 0};
        status = host.ops().register_memory(host.module(), &data, size, &key, &memory_);
        data_ = static_cast<std::byte*>(data);
        key_.resize(key.size);
    }
    ~Exposed() {
        if (status == PLEXUS_OK) host_.ops().deregister_memory(host_.module(), memory_);
    }
    Exposed(const Exposed&) = delete;
    Exposed& operator=(const Exposed&) = delete;

    std::int32_t status = PLEXUS_UNSUPPORTED;
    std::span<std::byte> bytes() const { return {data_, size_}; }
    ByteView key() const { return key_; }

  private:
    BareHost& host_;
    std::byte* data_ = nullptr;
    std::size_t size_;
    Bytes key_;
    plexus_memory_region* memory_ = nullptr;
};

Bytes pattern(std::size_t size, unsigned seed) {
    Bytes bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 251 + seed);
    return bytes;
}

bool in_place(std::int32_t status) { return status == PLEXUS_OK || status == PLEXUS_POSTED; }

bool moves_memory(BareHost& host) {
    return (host.ops().caps & PLEXUS_CAP_REMOTE_MEMORY) != 0 && host.query(PLEXUS_QUERY_REMOTE_BYTES) != 0;
}

/// A context that exposes some memory, tells its key, and polls until it is ended.
int owner(Channel& channel) {
    BareHost host(method_under_test());
    const Exposed memory(host, nullptr, kMemory);
    if (memory.status == PLEXUS_OK) std::memcpy(memory.bytes().data(), pattern(kMemory, 3).data(), kMemory);
    const bool told =
        channel.put(Address::of(host).pack()) && channel.put(Bytes(memory.key().begin(), memory.key().end()));
    while (told)
        if (host.poll() == 0) std::this_thread::yield();
    return 1;
}

} // namespace

#define NEEDS_REMOTE_MEMORY(host)                                                                            \
    if (!moves_memory(host)) SKIP_TEST("this module moves messages only (no remote memory access)")

TEST_CASE("exposed memory is read and written at any place, in any size") {
    Pair pair(method_under_test());
    NEEDS_REMOTE_MEMORY(pair.a);
    Bytes own(kMemory);
    const bool allocated = GENERATE(false, true);
    CAPTURE(allocated);
    const Exposed memory(pair.b, allocated ? nullptr : own.data(), kMemory);
    REQUIRE(memory.status == PLEXUS_OK);
    CHECK(reinterpret_cast<std::uintptr_t>(memory.bytes().data()) % (allocated ? 64 : 1) == 0);
    plexus_remote_key* remote = nullptr;
    REQUIRE(pair.a.attach(*pair.to_b, memory.key(), &remote) == PLEXUS_OK);
    const auto over = [&] { return pair.to_b->posted() == pair.to_b->completed(); };
    for (const std::size_t size : {std::size_t{1}, std::size_t{63}, std::size_t{4'097}, std::size_t{70'000},
                                   std::size_t{1'000'001}, kMemory}) {
        for (const std::size_t offset : {std::size_t{0}, std::size_t{1}, kMemory - size}) {
            if (offset + size > kMemory) continue;
            CAPTURE(size, offset);
            const Bytes sent = pattern(size, static_cast<unsigned>(size + offset));
            REQUIRE(in_place(pair.a.put(*pair.to_b, remote, offset, sent)));
            REQUIRE(pair.pump(20s, over));
            CHECK(std::memcmp(memory.bytes().data() + offset, sent.data(), size) == 0);
            Bytes back(size);
            REQUIRE(in_place(pair.a.get(*pair.to_b, remote, offset, back)));
            REQUIRE(pair.pump(20s, over));
            CHECK(back == sent);
        }
    }
    pair.a.detach(*pair.to_b, remote);
}

TEST_CASE("many transfers are under way at once, both ways, and each ends once") {
    Pair pair(method_under_test());
    NEEDS_REMOTE_MEMORY(pair.a);
    const Exposed at_a(pair.a, nullptr, kMemory);
    const Exposed at_b(pair.b, nullptr, kMemory);
    REQUIRE((at_a.status == PLEXUS_OK && at_b.status == PLEXUS_OK));
    plexus_remote_key* there = nullptr;
    plexus_remote_key* here = nullptr;
    REQUIRE(pair.a.attach(*pair.to_b, at_b.key(), &there) == PLEXUS_OK);
    REQUIRE(pair.b.attach(*pair.to_a, at_a.key(), &here) == PLEXUS_OK);
    constexpr std::size_t kParts = 128;
    constexpr std::size_t kPart = kMemory / kParts;
    const Bytes forth = pattern(kMemory, 1);
    const Bytes back = pattern(kMemory, 2);
    bool good = true;
    for (std::size_t i = 0; i < kParts; ++i) {
        const std::size_t at = i * kPart;
        good &= in_place(pair.a.put(*pair.to_b, there, at, ByteView(forth).subspan(at, kPart)));
        good &= in_place(pair.b.put(*pair.to_a, here, at, ByteView(back).subspan(at, kPart)));
    }
    CHECK(good);
    CHECK(pair.pump(20s, [&] {
        return pair.to_b->posted() == pair.to_b->completed() && pair.to_a->posted() == pair.to_a->completed();
    }));
    CHECK(std::memcmp(at_b.bytes().data(), forth.data(), kMemory) == 0);
    CHECK(std::memcmp(at_a.bytes().data(), back.data(), kMemory) == 0);
}

TEST_CASE("transfers and messages go side by side") {
    Pair pair(method_under_test());
    NEEDS_REMOTE_MEMORY(pair.a);
    const Exposed memory(pair.b, nullptr, kMemory);
    plexus_remote_key* remote = nullptr;
    REQUIRE(pair.a.attach(*pair.to_b, memory.key(), &remote) == PLEXUS_OK);
    const std::uint64_t messages = kSanitized ? 100 : 1'000;
    Receiver receiver(pair.b, mixed(at_most(300'000)));
    Stream stream(*pair.to_b, mixed(at_most(300'000)), messages);
    Bytes back(100'000);
    bool good = true;
    CHECK(pair.pump(60s, [&] {
        stream.step();
        good &= in_place(pair.a.get(*pair.to_b, remote, 0, back));
        return receiver.received() == messages || !receiver.fault().empty();
    }));
    CHECK(good);
    CHECK(receiver.fault() == "");
    CHECK(pair.pump(20s, [&] { return pair.to_b->posted() == pair.to_b->completed(); }));
}

TEST_CASE("a key that is none is refused") {
    Pair pair(method_under_test());
    NEEDS_REMOTE_MEMORY(pair.a);
    plexus_remote_key* remote = nullptr;
    for (const std::size_t size : {std::size_t{0}, std::size_t{3}, std::size_t{PLEXUS_KEY_MAX + 1}})
        CHECK_FALSE(in_place(pair.a.attach(*pair.to_b, Bytes(size), &remote)));
}

TEST_CASE("transfers of a link that is given up end") {
    Pair pair(method_under_test());
    NEEDS_REMOTE_MEMORY(pair.a);
    const Exposed memory(pair.b, nullptr, kMemory);
    plexus_remote_key* remote = nullptr;
    REQUIRE(pair.a.attach(*pair.to_b, memory.key(), &remote) == PLEXUS_OK);
    std::vector<Bytes> backs(8, Bytes(kMemory));
    bool good = true;
    for (Bytes& back : backs) good &= in_place(pair.a.get(*pair.to_b, remote, 0, back));
    CHECK(good);
    pair.a.disconnect(*pair.to_b);
    CHECK(pair.pump(20s, [&] { return pair.to_b->posted() == pair.to_b->completed(); }));
}

TEST_CASE("memory of another process is reached, and its end ends the transfers") {
    Process process(owner);
    const auto record = process.channel().take(10s);
    REQUIRE(record);
    const Address at = Address::unpack(*record);
    BareHost host(method_under_test());
    NEEDS_REMOTE_MEMORY(host);
    const auto key = process.channel().take(10s);
    REQUIRE(key);
    End* end = host.connect(at.descriptor, at.id);
    REQUIRE(end != nullptr);
    REQUIRE(pump({&host}, 10s, [&] { return end->is_open() || end->is_lost(); }));
    REQUIRE(end->is_open());
    plexus_remote_key* remote = nullptr;
    REQUIRE(host.attach(*end, *key, &remote) == PLEXUS_OK);
    const auto over = [&] { return end->posted() == end->completed(); };
    Bytes back(kMemory);
    REQUIRE(in_place(host.get(*end, remote, 0, back)));
    REQUIRE(pump({&host}, 20s, over));
    CHECK(back == pattern(kMemory, 3));
    process.kill(SIGKILL);
    std::int32_t status = PLEXUS_OK;
    CHECK(pump({&host}, 10s, [&] {
        if (in_place(status) && !end->is_lost() && over()) status = host.put(*end, remote, 0, back);
        return end->is_lost();
    }));
    CHECK(over());
}

} // namespace memory_test
