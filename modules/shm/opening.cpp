// SPDX-License-Identifier: BSD-3-Clause
#include "shm/opening.h"

#include "common/system_text.h"
#include "shm/layout.h"

#include <algorithm>
#include <cerrno>

namespace plexus::shm {
namespace {

using module::Handshake;
using module::is_shortage;
using module::system_text;

template <class T>
std::uint8_t* put(std::uint8_t* to, const T& value) {
    std::memcpy(to, &value, sizeof value);
    return to + sizeof value;
}
template <class T>
const std::uint8_t* get(const std::uint8_t* from, T& value) {
    std::memcpy(&value, from, sizeof value);
    return from + sizeof value;
}

} // namespace

// In the byte order of the machine: both sides are on it.
std::array<std::uint8_t, kSetupBytes> encode(const Setup& setup) {
    std::array<std::uint8_t, kSetupBytes> bytes;
    std::uint8_t* to = put(bytes.data(), setup.version);
    to = put(to, setup.ring_lines);
    to = put(to, setup.mailbox_bit);
    to = put(to, setup.barrier);
    to = put(to, setup.cookie.address);
    to = put(to, setup.cookie.cookie);
    to = put(to, setup.start_time);
    put(to, setup.name);
    return bytes;
}

Setup decode_setup(std::span<const std::uint8_t, kSetupBytes> bytes) {
    Setup setup;
    const std::uint8_t* from = get(bytes.data(), setup.version);
    from = get(from, setup.ring_lines);
    from = get(from, setup.mailbox_bit);
    from = get(from, setup.barrier);
    from = get(from, setup.cookie.address);
    from = get(from, setup.cookie.cookie);
    from = get(from, setup.start_time);
    get(from, setup.name);
    return setup;
}

Opening::Opening(const plexus_host& host, UniqueFd socket, Clock::time_point until)
  : connecting_(false)
  , handshake_(Handshake::accepting(host))
  , socket_(std::move(socket))
  , until_(until) {}

Opening::Opening(const plexus_host& host, const SocketName& name, const plexus_id& peer, const Setup& mine,
                 Clock::time_point until)
  : connecting_(true)
  , handshake_(Handshake::connecting(host, peer))
  , until_(until)
  , name_(name)
  , mine_(mine) {}

std::int32_t Opening::fail(std::int32_t status, std::string why) {
    why_ = std::move(why);
    return status;
}

std::int32_t Opening::wait_for(std::string why) { return fail(PLEXUS_AGAIN, std::move(why)); }

std::int32_t Opening::step() {
    if (!started_) {
        const std::int32_t status = start();
        if (status != PLEXUS_OK) return status;
    }
    for (;;) {
        errno = 0;
        Packet packet = receive_packet(socket_.get(), room_, takes_fds());
        if (packet.is == Packet::Is::none) return PLEXUS_AGAIN;
        if (packet.is == Packet::Is::end) {
            // The kernel resets a connection whose other end is closed with something unread, as that of a
            // process that ends. One that is closed in order was closed by a peer who had read the greeting.
            cut_off_ = connecting_ && handshake_.wanted_bytes() > 0 && errno == 0;
            if (cut_off_)
                return fail(PLEXUS_DENIED,
                            "the peer took the greeting and closed the connection: it does not "
                            "hold this job's key (see job.key_file)");
            return fail(PLEXUS_LINK_LOST, "the peer closed the connection before the link was open");
        }
        const std::int32_t status = hear(packet);
        if (status != PLEXUS_AGAIN) return status;
    }
}

std::int32_t Opening::start() {
    if (connecting_) {
        socket_ = call(name_);
        const int error = errno;
        if (!socket_ && error == EAGAIN) return PLEXUS_AGAIN;
        if (!socket_ && error == ECONNREFUSED)
            return fail(PLEXUS_PEER_LOST, "the peer can't be called, it has ended: " + system_text(error));
        if (!socket_ && is_shortage(error))
            return wait_for("the peer can't be called: " + system_text(error));
        if (!socket_) return fail(PLEXUS_LINK_LOST, "the peer can't be called: " + system_text(error));
    }
    why_.clear();
    started_ = true;
    const Credentials who = peer_of(socket_.get());
    process_ = who.process;
    if (who.user != ::geteuid())
        return fail(PLEXUS_DENIED, "the peer's process is of another user: " + std::to_string(who.user));
    if (!connecting_) return PLEXUS_OK;
    const auto hello = handshake_.take_outgoing();
    if (send_packet(socket_.get(), hello)) return PLEXUS_OK;
    return fail(PLEXUS_LINK_LOST, "the peer can't be called: " + system_text(errno));
}

bool Opening::takes_fds() const noexcept {
    const std::size_t wanted = handshake_.wanted_bytes();
    return wanted == 0 || (!connecting_ && wanted == Handshake::kConfirmBytes);
}

std::int32_t Opening::hear(Packet& packet) {
    const std::span<const std::uint8_t> bytes(room_.data(), packet.size);
    const std::size_t wanted = handshake_.wanted_bytes();
    if (wanted == 0) return take_setup(packet, bytes);
    if (bytes.size() < wanted)
        return fail(PLEXUS_LINK_LOST, "the peer's shm method is of another version of Plexus");
    const std::int32_t status = handshake_.feed(bytes.first(wanted));
    const auto outgoing = handshake_.take_outgoing();
    switch (status) {
    case PLEXUS_OK: {
        if (!connecting_) return take_setup(packet, bytes.subspan(wanted));
        std::vector<std::uint8_t> more = outgoing;
        const auto setup = encode(mine_);
        more.insert(more.end(), setup.begin(), setup.end());
        if (send_packet(socket_.get(), more, my_fds_)) return PLEXUS_AGAIN;
        return fail(PLEXUS_LINK_LOST, "the peer left while the link was opened: " + system_text(errno));
    }
    case PLEXUS_AGAIN:
        heard_ = true;
        if (send_packet(socket_.get(), outgoing)) return PLEXUS_AGAIN;
        return fail(PLEXUS_LINK_LOST, "the peer left while the link was opened: " + system_text(errno));
    case PLEXUS_WRONG_PEER:
        if (!outgoing.empty()) (void)send_packet(socket_.get(), outgoing); // it learns why, or not
        return fail(PLEXUS_WRONG_PEER, "another context answers at this address: the peer was restarted");
    case PLEXUS_UNSUPPORTED:
        if (!outgoing.empty()) (void)send_packet(socket_.get(), outgoing); // it learns why, or not
        return fail(PLEXUS_LINK_LOST, "the peer speaks version " + std::to_string(handshake_.peer_version()) +
                                          " of the handshake, this side version " +
                                          std::to_string(Handshake::kVersion) +
                                          ": run the same release of Plexus on both sides");
    default:
        return fail(PLEXUS_DENIED, "the peer does not hold this job's key");
    }
}

std::int32_t Opening::take_setup(Packet& packet, std::span<const std::uint8_t> bytes) {
    const std::size_t fd_count = connecting_ ? 2 : 3;
    if (packet.fds_missing)
        return fail(PLEXUS_LINK_LOST, "this process has no descriptors left for a link: raise its limit "
                                      "(ulimit -n)");
    if (bytes.size() != kSetupBytes || packet.fd_count != fd_count)
        return fail(PLEXUS_LINK_LOST, "the peer's shm method is of another version");
    theirs_ = decode_setup(bytes.first<kSetupBytes>());
    if (theirs_.version != kVersion)
        return fail(PLEXUS_LINK_LOST, "the peer's shm method is of version " +
                                          std::to_string(theirs_.version) + ", this one of " +
                                          std::to_string(kVersion));
    std::move(packet.fds, packet.fds + fd_count, fds_.begin());
    return PLEXUS_OK;
}

bool Opening::welcome(int socket, const Setup& mine, std::array<int, 2> fds) {
    return send_packet(socket, encode(mine), fds);
}

} // namespace plexus::shm
