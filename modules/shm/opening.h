// SPDX-License-Identifier: BSD-3-Clause
// How two contexts become peers, over one Unix socket: the handshake of plexus/module/handshake.h,
// then both sides hand over what the link lives on.
//
//   connecting -> accepting   hello
//   accepting -> connecting   answer
//   connecting -> accepting   confirm + Setup, with segment, mailbox, eventfd
//   accepting -> connecting   Setup, with mailbox, eventfd
//
// Nothing that a side sends is mapped before it has proved to hold the job's key, and
// before the kernel has said that it is of the same user. @thread progress
#pragma once

#include "base/process_memory.h"
#include "plexus/module/handshake.h"
#include "shm/descriptor.h"
#include "shm/socket.h"

#include <chrono>
#include <string>

namespace plexus::shm {

using Clock = std::chrono::steady_clock;

/// What a side says about itself.
struct Setup {
    std::uint32_t version = 0;
    std::uint32_t ring_lines = 0;  ///< of the segment, said by the side that connects
    std::uint32_t mailbox_bit = 0; ///< the bit in my mailbox that stands for this link
    std::uint32_t barrier = 0;     ///< 1: I have joined the barrier, and use it
    CookieAt cookie;               ///< try to read this
    std::uint64_t start_time = 0;  ///< of my process, see start_time_of()
    SocketName name{};             ///< of my descriptor; for enquiries only, nobody checks it
};
inline constexpr std::size_t kSetupBytes = 4 * 4 + 8 + 16 + 8 + 16;
std::array<std::uint8_t, kSetupBytes> encode(const Setup& setup);
Setup decode_setup(std::span<const std::uint8_t, kSetupBytes> bytes);

/// One side of an opening under way. step() returns AGAIN until the other side's Setup is
/// there (OK), or it is over: DENIED, WRONG_PEER, LINK_LOST, PEER_LOST, and why() says how.
class Opening {
  public:
    /// The side that accepts.
    Opening(const plexus_host& host, UniqueFd socket, Clock::time_point until);
    /// The side that connects; `mine` is sent once the other has proved itself.
    Opening(const plexus_host& host, const SocketName& name, const plexus_id& peer, const Setup& mine,
            Clock::time_point until);
    /// What is sent with `mine` (segment, mailbox, eventfd), before the first step. The descriptors must stay
    /// open until then.
    void offer(const std::array<int, 3>& fds) noexcept { my_fds_ = fds; }

    std::int32_t step();
    /// AGAIN: this process has not what the opening needs just now. why() says it until that has passed.
    std::int32_t wait_for(std::string why);
    /// Also ends it.
    std::int32_t fail(std::int32_t status, std::string why);

    /// The last word of the side that accepts.
    static bool welcome(int socket, const Setup& mine, std::array<int, 2> fds);

    const std::string& why() const noexcept { return why_; }
    /// DENIED because the peer closed the connection after the greeting. A peer that was killed just then
    /// does so too.
    bool is_cut_off() const noexcept { return cut_off_; }
    /// The side that accepts: no hello has come yet.
    bool is_silent() const noexcept { return !heard_; }
    Clock::time_point until() const noexcept { return until_; }
    /// Below 0 as long as the other side has too many callers, or this one no descriptor: step() tries again.
    int socket() const noexcept { return socket_.get(); }
    UniqueFd take_socket() noexcept { return std::move(socket_); }
    pid_t process() const noexcept { return process_; }
    const plexus_id& peer() const noexcept { return handshake_.peer(); }
    /// The other side's, after OK. Descriptors: (segment,) mailbox, eventfd.
    const Setup& theirs() const noexcept { return theirs_; }
    UniqueFd take_fd(std::size_t index) noexcept { return std::move(fds_[index]); }

  private:
    std::int32_t start();
    std::int32_t hear(Packet& packet);
    std::int32_t answer(std::size_t said);
    std::int32_t take_setup(Packet& packet, std::span<const std::uint8_t> bytes);
    bool takes_fds() const noexcept;

    const bool connecting_;
    module::Handshake handshake_;
    UniqueFd socket_;
    Clock::time_point until_;
    SocketName name_{};
    Setup mine_;
    std::array<int, 3> my_fds_{};
    bool started_ = false;
    bool heard_ = false;
    bool cut_off_ = false;
    pid_t process_ = 0;
    Setup theirs_;
    std::array<UniqueFd, 3> fds_;
    std::array<std::uint8_t, 256> room_{};
    std::string why_;
};

} // namespace plexus::shm
