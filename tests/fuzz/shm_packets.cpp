// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: what a caller sends to a context's listener, and what the other side of a call answers:
// hello, proof, Setup with descriptors. The proofs are replaced by zeros, so that the fuzzer gets behind
// them. Whatever comes ends in AGAIN, OK or a refusal with a reason; only 2 or 3 descriptors and a Setup of
// this version is OK, and is understood as it was sent, with the name of the peer's socket.
//
// The input: a byte that says which side this is, then packets: length, number of descriptors, bytes. The
// number may say that versions in the bytes are those of today, so that inputs outlive a new version.
#include "shm/layout.h"
#include "shm/opening.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace {

using namespace plexus::shm;
using plexus::UniqueFd;

void require(bool holds) {
    if (!holds) std::abort();
}

plexus_host make_host() {
    plexus_host host{};
    host.size = PLEXUS_HOST_SIZE;
    std::memset(host.id.bytes, 7, sizeof host.id.bytes);
    host.log = [](void*, plexus_level, const char*) {};
    host.random = [](void*, void* data, std::size_t size) { std::memset(data, 0, size); };
    host.hmac = [](void*, plexus_view, std::uint8_t proof[32]) {
        std::memset(proof, 0, 32);
        return std::int32_t{PLEXUS_OK};
    };
    return host;
}

int any_descriptor() {
    static const UniqueFd one(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    return one.get();
}

constexpr std::uint8_t kSetupOfToday = 0x80;    // the packet ends with a Setup of this version
constexpr std::uint8_t kGreetingOfToday = 0x40; // it begins with a hello, or an answer, of this version

/// The packets of the input.
struct Script {
    const std::uint8_t* data;
    std::size_t size;
    bool connects;
    std::vector<std::uint8_t> last; // that was sent

    // False: there is none any more.
    bool send_one(int to) {
        if (size < 2) return false;
        const std::size_t length = std::min<std::size_t>(data[0], size - 2);
        const std::uint8_t flags = data[1];
        last.assign(data + 2, data + 2 + length);
        data += 2 + length;
        size -= 2 + length;
        put_versions(flags);
        const int fds[kMostFds] = {any_descriptor(), any_descriptor(), any_descriptor(), any_descriptor()};
        if (length > 0) (void)send_packet(to, last, {fds, (flags & 0x3fu) % (kMostFds + 1)});
        return true;
    }
    void put_versions(std::uint8_t flags) {
        const std::size_t at = connects ? 1 : 6;
        if ((flags & kGreetingOfToday) != 0 && last.size() >= at + 2) {
            last[at] = plexus::module::Handshake::kVersion >> 8;
            last[at + 1] = plexus::module::Handshake::kVersion & 0xff;
        }
        if ((flags & kSetupOfToday) != 0 && last.size() >= kSetupBytes)
            std::memcpy(last.data() + last.size() - kSetupBytes, &kVersion, sizeof kVersion);
    }
};

void converse(Opening& opening, int to, Script script) {
    std::int32_t status = PLEXUS_AGAIN;
    while (status == PLEXUS_AGAIN && script.send_one(to)) status = opening.step();
    if (status == PLEXUS_AGAIN) {
        (void)::shutdown(to, SHUT_RDWR);
        status = opening.step();
        require(status != PLEXUS_OK && status != PLEXUS_AGAIN);
    }
    if (status != PLEXUS_OK) return require(!opening.why().empty());
    require(opening.theirs().version == kVersion);
    for (std::size_t i = 0; i < (script.connects ? 2u : 3u); ++i)
        require(static_cast<bool>(opening.take_fd(i)));
    const auto again = encode(opening.theirs());
    require(std::equal(again.rbegin(), again.rend(), script.last.rbegin()));
    require(std::equal(again.end() - sizeof(SocketName), again.end(), opening.theirs().name.begin()));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const plexus_host host = make_host();
    if (size == 0) return 0;
    const bool connects = data[0] % 2 == 1;
    const auto until = Clock::time_point::max();
    if (!connects) {
        int ends[2];
        require(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
        const UniqueFd theirs(ends[1]);
        Opening opening(host, UniqueFd(ends[0]), until);
        converse(opening, theirs.get(), {data + 1, size - 1, false, {}});
        return 0;
    }
    static SocketName name{};
    static const UniqueFd listener = [] {
        const pid_t process = ::getpid(); // several fuzzers may run at a time
        std::memcpy(name.data(), &process, sizeof process);
        return listen_at(name);
    }();
    require(static_cast<bool>(listener));
    plexus_id peer{};
    std::memset(peer.bytes, 9, sizeof peer.bytes);
    const std::array<int, 3> fds{any_descriptor(), any_descriptor(), any_descriptor()};
    Opening opening(host, name, peer, Setup{kVersion, 256, 0, 0, {}, 0, {}}, until);
    opening.offer(fds);
    require(opening.step() == PLEXUS_AGAIN); // it has called
    const UniqueFd theirs = accept_from(listener.get());
    require(static_cast<bool>(theirs));
    converse(opening, theirs.get(), {data + 1, size - 1, true, {}});
    return 0;
}
