// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: what a caller sends to a context's listener, and what the other side of a call answers:
// hello, proof, Setup with descriptors. The proofs are replaced by zeros, so that the fuzzer gets behind
// them. Whatever comes ends in AGAIN, OK or a refusal with a reason; only 2 or 3 descriptors and a Setup of
// this version is OK.
//
// The input: a byte that says which side this is, then packets: length, number of descriptors, bytes.
#include "shm/layout.h"
#include "shm/opening.h"

#include <cstdlib>
#include <cstring>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {

using namespace plexus::shm;
using plexus::module::OwnedFd;

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
    static const OwnedFd one(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    return one.get();
}

// Sends one packet of the input to `to`. False: there is none any more.
bool send_one(const std::uint8_t*& data, std::size_t& size, int to) {
    if (size < 2) return false;
    const std::size_t length = std::min<std::size_t>(data[0], size - 2);
    const std::size_t count = data[1] % (kMostFds + 1);
    const int fds[kMostFds] = {any_descriptor(), any_descriptor(), any_descriptor(), any_descriptor()};
    if (length > 0) (void)send_packet(to, {data + 2, length}, {fds, count});
    data += 2 + length;
    size -= 2 + length;
    return true;
}

void converse(Opening& opening, int to, bool connects, const std::uint8_t* data, std::size_t size) {
    std::int32_t status = PLEXUS_AGAIN;
    while (status == PLEXUS_AGAIN && send_one(data, size, to)) status = opening.step();
    if (status == PLEXUS_AGAIN) {
        (void)::shutdown(to, SHUT_RDWR);
        status = opening.step();
        require(status != PLEXUS_OK && status != PLEXUS_AGAIN);
    }
    if (status != PLEXUS_OK) return require(!opening.why().empty());
    require(opening.theirs().version == kVersion);
    for (std::size_t i = 0; i < (connects ? 2u : 3u); ++i) require(static_cast<bool>(opening.take_fd(i)));
    const auto again = decode_setup(encode(opening.theirs()));
    require(again.ring_lines == opening.theirs().ring_lines &&
            again.mailbox_bit == opening.theirs().mailbox_bit &&
            again.start_time == opening.theirs().start_time);
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
        const OwnedFd theirs(ends[1]);
        Opening opening(host, OwnedFd(ends[0]), until);
        converse(opening, theirs.get(), false, data + 1, size - 1);
        return 0;
    }
    static SocketName name{};
    static const OwnedFd listener = [] {
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
    const OwnedFd theirs = accept_from(listener.get());
    require(static_cast<bool>(theirs));
    converse(opening, theirs.get(), true, data + 1, size - 1);
    return 0;
}
