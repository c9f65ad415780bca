// SPDX-License-Identifier: BSD-3-Clause
// A group's multicast datagrams in one member: seals and sends them, and gives those of the present call.
// Datagrams of later calls are kept, within a limit. @thread one, inside the group's calls
#pragma once

#include "multicast/socket.h"
#include "multicast/window.h"

#include <deque>
#include <vector>

namespace plexus::eco::multicast {

/// What all members agreed on.
struct Agreement {
    std::uint32_t payload = 0;          ///< bytes of data in each datagram but the last
    std::uint32_t window = 1;           ///< datagrams
    std::uint64_t bytes_per_second = 0; ///< 0: no limit
};

/// Datagrams that a member may still send or look at in its present turn: a turn is short, whatever comes.
class Budget {
  public:
    static constexpr std::uint32_t kDatagrams = 32;

    /// One datagram more. False: the turn is over.
    bool take() noexcept {
        if (left_ == 0) return false;
        --left_;
        return true;
    }

  private:
    std::uint32_t left_ = kDatagrams;
};

class Channel {
  public:
    Channel(Socket socket, const Key& key, std::uint64_t group, std::uint32_t me, const Agreement& agreed);

    const Agreement& agreed() const noexcept { return agreed_; }
    /// Datagrams of a message: at least one.
    std::uint64_t count_of(std::uint64_t bytes) const noexcept;
    /// The part of `data` that datagram `sequence` carries.
    template <class Byte>
    std::span<Byte> part(std::span<Byte> data, std::uint64_t sequence) const noexcept {
        const auto rest = data.subspan(std::min<std::uint64_t>(data.size(), sequence * agreed_.payload));
        return rest.first(std::min<std::size_t>(rest.size(), agreed_.payload));
    }

    /// 0: a datagram with so many bytes of data may leave now. Else: after so many nanoseconds.
    std::uint64_t delay(std::size_t bytes, std::uint64_t now) noexcept {
        return limiter_.take(bytes + kOverhead, now);
    }
    /// The group and the sender are filled in here. False: there is no room now.
    bool send(PacketHeader header, Bytes data);
    /// By what it says of itself, a datagram may be of use to a member in this call: it is another member's,
    /// of this call, or of a later one while there is room to keep it. No other datagram's tag is checked.
    bool is_wanted(const Packet& packet, std::uint32_t call) const noexcept;
    /// The next datagram of this call that another member sent; valid until the next call. Nothing: none
    /// came, or the turn is over.
    std::optional<Packet> receive(std::uint32_t call, Budget& budget);
    /// The sender of the next probe; it may be this member. Nothing: as for receive().
    std::optional<std::uint32_t> receive_probe(Budget& budget);
    void sleep(std::chrono::milliseconds limit) const noexcept { socket_.sleep(limit); }

    /// Only for tests: datagrams that this returns true for are dropped as if they had not come. Null: none.
    using Drop = bool (*)(const PacketHeader& header, std::uint32_t me);
    static void drop_in_tests(Drop drop) noexcept { drop_.store(drop, std::memory_order_relaxed); }

  private:
    struct Kept {
        PacketHeader header;
        std::vector<std::byte> data;
    };
    /// The next genuine datagram among those that `wants(packet)` is true for.
    template <class Wants>
    std::optional<Packet> next(Budget& budget, Wants&& wants);
    bool take_kept(std::uint32_t call, Budget& budget);
    bool may_keep(std::size_t bytes) const noexcept;
    void keep(const Packet& packet);

    static inline std::atomic<Drop> drop_{nullptr}; // no data depends on it

    Socket socket_;
    Key key_;
    std::uint64_t group_;
    std::uint32_t me_;
    Agreement agreed_;
    RateLimiter limiter_;
    std::vector<std::byte> outgoing_;
    std::vector<std::byte> incoming_;
    std::deque<Kept> kept_;
    std::size_t kept_bytes_ = 0;
    Kept present_;
};

} // namespace plexus::eco::multicast
