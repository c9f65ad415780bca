// SPDX-License-Identifier: BSD-3-Clause
#include "group/multicast_call.h"

#include "group/group_state.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>

namespace plexus::eco::detail {
namespace {

/// Datagrams that the root sends in a turn: the rest of its budget is for those that come.
constexpr std::size_t kBurst = multicast::Budget::kDatagrams / 2;
/// Datagrams that may overtake one.
constexpr std::uint32_t kReorder = 3;
/// Idle turns of a member before it sleeps, and how long it sleeps at most.
constexpr std::uint32_t kIdleTurns = 64;
constexpr std::chrono::milliseconds kLongestSleep{1};

std::uint64_t nanoseconds(Clock::time_point time) noexcept {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count());
}

/// Nanoseconds between datagrams that the rate may cause, with room for some that are late.
std::uint64_t pause_of(const multicast::Agreement& agreed) noexcept {
    constexpr std::uint64_t kSecond = 1'000'000'000;
    constexpr std::uint64_t kDatagrams = 4;
    return agreed.bytes_per_second == 0 ? 0 : kDatagrams * agreed.payload * kSecond / agreed.bytes_per_second;
}

/// In a small window fewer datagrams can come behind a gap: it must not wait for a silence.
std::uint32_t reorder_of(const multicast::Agreement& agreed) noexcept {
    return std::min(kReorder, std::max<std::uint32_t>(2, agreed.window) - 2);
}

class MulticastCall {
  public:
    MulticastCall(GroupState& group, multicast::Channel& channel, Execution& call, std::span<std::byte> data)
      : members_(group.members())
      , calls_(group.calls())
      , waiter_(group.waiter())
      , failures_(group.failures())
      , channel_(channel)
      , call_(call)
      , data_(data)
      , count_(static_cast<std::uint32_t>(channel_.count_of(data.size())))
      , pause_(pause_of(channel_.agreed())) {}
    /// No handler reads the memory of the call any more after that.
    ~MulticastCall() {
        for (bool over = false; !over;) {
            {
                const Lock hold(calls_.mutex);
                over = call_.writers == 0;
                if (over) call_.by_multicast.window.reset();
            }
            if (!over) std::this_thread::yield();
        }
    }
    MulticastCall(const MulticastCall&) = delete;
    MulticastCall& operator=(const MulticastCall&) = delete;

    /// The root's part. False: the group broke.
    bool send() {
        multicast::PacketHeader header;
        header.call = call_.number;
        header.digest = call_.planned->digest;
        header.count = count_;
        std::vector<std::uint32_t> burst;
        for (;;) {
            multicast::Budget budget;
            burst.clear();
            {
                const Lock hold(calls_.mutex);
                if (call_.outcome.failed) return false;
                multicast::SendWindow& window = *call_.by_multicast.window;
                if (window.complete()) return true;
                call_.wait.peer = window.slowest();
                call_.at = window.confirmed();
                while (window.may_send() && burst.size() < kBurst && budget.take())
                    burst.push_back(window.take_next());
            }
            for (const std::uint32_t sequence : burst) {
                header.sequence = sequence;
                if (!send(header)) return false;
            }
            drain(budget);
            if (is_late(Clock::now())) continue;
            if (burst.empty())
                waiter_.wait(call_);
            else
                members_.context().progress();
        }
    }

    /// The others' part. False: the group broke.
    bool receive(Rank root) {
        multicast::ReceiveWindow window(count_);
        multicast::RepairTimer timer(nanoseconds(Clock::now()), reorder_of(channel_.agreed()));
        const std::uint32_t step = std::max<std::uint32_t>(1, channel_.agreed().window / 4);
        std::uint32_t confirmed = 0;
        wake(root, window);
        for (;;) {
            if (call_.end.ready.load(std::memory_order_acquire))
                return false; // pairs with [ready]: the group broke
            bool further = listen(window, root);
            if (further) {
                heard_at_ = nanoseconds(Clock::now());
                timer.datagram_came(heard_at_);
            }
            if (answer_ && answer_->ready()) further = take_repair(window, timer, root) || further;
            if (window.complete() || window.first_missing() - confirmed >= step) {
                confirmed = window.first_missing();
                confirm(root, confirmed);
            }
            if (window.complete()) return true;
            const Clock::time_point time = Clock::now();
            if (is_late(time)) continue;
            const std::uint64_t now = nanoseconds(time);
            const std::uint32_t below = timer.ask_below(window, count_, now);
            const bool paced = below == count_ && now - heard_at_ < pause_; // the rate, and no loss
            if (below > 0 && !paced) ask(window, timer, root, below);
            further ? wake(root, window) : idle(root);
        }
    }

  private:
    /// False: the group broke while the rate limit held the datagram back.
    bool send(const multicast::PacketHeader& header) {
        const auto part = channel_.part(data_, header.sequence);
        for (;;) {
            const std::uint64_t now = nanoseconds(Clock::now());
            const std::uint64_t pause = channel_.delay(part.size(), now);
            if (pause == 0) break;
            const Clock::time_point due = Clock::now() + std::chrono::nanoseconds(pause);
            if (!waiter_.sleep_until(call_, due)) return false;
        }
        if (!channel_.send(header, part)) // a full buffer; lost datagrams are asked for
            std::this_thread::yield();
        return true;
    }

    /// Datagrams of later calls may come: they leave the socket before its buffer is full.
    void drain(multicast::Budget& budget) {
        while (const auto packet = channel_.receive(call_.number, budget)) tell_difference(packet->header);
    }

    /// Takes the datagrams of one turn. True: one of them was new.
    bool listen(multicast::ReceiveWindow& window, Rank root) {
        multicast::Budget budget;
        bool further = false;
        while (const auto packet = channel_.receive(call_.number, budget))
            further = take(window, *packet, root) || further;
        return further;
    }

    /// The sender calls something else by this number.
    void tell_difference(const multicast::PacketHeader& header) {
        if (!std::exchange(differs_, true)) failures_.differ(header.sender, call_.number);
    }

    /// False: it is none of this call's, or a copy.
    bool take(multicast::ReceiveWindow& window, const multicast::Packet& packet, Rank root) {
        if (packet.header.digest != call_.planned->digest || packet.header.sender != root ||
            packet.header.count != count_) {
            tell_difference(packet.header);
            return false;
        }
        return store(window, packet.header.sequence, packet.data);
    }

    /// False: it is there already, or of a wrong size.
    bool store(multicast::ReceiveWindow& window, std::uint32_t sequence, Bytes bytes) {
        const auto part = channel_.part(data_, sequence);
        if (bytes.size() != part.size() || !window.take(sequence)) return false;
        if (!bytes.empty()) std::memcpy(part.data(), bytes.data(), bytes.size());
        return true;
    }

    void ask(const multicast::ReceiveWindow& window, multicast::RepairTimer& timer, Rank root,
             std::uint32_t below) {
        const auto most = std::max<std::uint64_t>(1, kRepairBytes / channel_.agreed().payload);
        asked_ = window.missing(below, static_cast<std::uint32_t>(most));
        if (asked_.empty()) return;
        std::vector<std::uint32_t> words;
        for (const multicast::Range& each : asked_) words.insert(words.end(), {each.first, each.count});
        attempt(root, [&](const GlobalPointer<Mailbox>& to) {
            answer_ = to.with(no_deadline)
                          .call(kRepair, members_.id(), call_.number, call_.planned->digest,
                                std::span<const std::uint32_t>(words));
        });
        if (answer_) timer.asked();
    }

    /// True: it brought something new.
    bool take_repair(multicast::ReceiveWindow& window, multicast::RepairTimer& timer, Rank root) {
        std::vector<std::byte> bytes;
        attempt(root, [&](const GlobalPointer<Mailbox>&) { bytes = answer_->get(); });
        answer_.reset();
        Bytes rest(bytes);
        const bool begun = !rest.empty();
        if (begun) rest = rest.subspan(1);
        bool further = false;
        for (const multicast::Range& range : asked_)
            for (std::uint32_t i = 0; begun && i < range.count; ++i) {
                const std::size_t size = channel_.part(data_, range.first + i).size();
                if (size > rest.size()) break;
                further = store(window, range.first + i, rest.first(size)) || further;
                rest = rest.subspan(size);
            }
        using Answer = multicast::RepairTimer::Answer;
        const Answer what = further ? Answer::fresh : begun ? Answer::copies : Answer::not_begun;
        timer.answered(what, nanoseconds(Clock::now()));
        return further;
    }

    void confirm(Rank root, std::uint32_t below) {
        attempt(root, [&](const GlobalPointer<Mailbox>& to) {
            to.send(kConfirm, members_.id(), call_.number, call_.planned->digest, members_.me(), below);
        });
    }

    /// Uses the ordinary path to the root, which may have broken.
    template <class Do>
    void attempt(Rank root, Do&& what) {
        const bool limited = call_.wait.deadline != Clock::time_point::max();
        const GlobalPointer<Mailbox>& open = members_[root].mailbox;
        try {
            limited ? what(open.with(plexus::deadline(call_.wait.deadline - Clock::now()))) : what(open);
        } catch (const Error& error) {
            const bool late =
                error.status() == Status::timed_out || error.status() == Status::deadline_exceeded;
            if (error.status() == Status::dead_pointer || error.status() == Status::again)
                return; // asked after
            limited&& late ? failures_.expire(call_) : failures_.lost(root, error);
        }
    }

    /// The call's deadline has passed, perhaps while datagrams keep coming: the group is broken now.
    bool is_late(Clock::time_point now) {
        const bool late = now >= call_.wait.deadline;
        if (late) failures_.expire(call_);
        return late;
    }

    /// A wait has ended.
    void wake(Rank root, const multicast::ReceiveWindow& window) {
        turn_ = 0;
        const Lock hold(calls_.mutex);
        call_.wait.peer = root;
        call_.at = window.first_missing();
    }

    void idle(Rank root) {
        Context& context = members_.context();
        if (turn_ == 0) asked_after_ = Clock::now();
        ++turn_;
        if (context.progress() == 0 && members_.crowded()) std::this_thread::yield();
        if (turn_ < kIdleTurns) return;
        const Clock::time_point now = Clock::now();
        if (now - asked_after_ >= members_.options().watch) {
            asked_after_ = now;
            {
                const Lock hold(calls_.mutex);
                call_.wait.peer = root;
            }
            failures_.ask_after(root, call_.number, call_.planned->digest);
        } else if (answer_) {
            (void)answer_->wait_for(kLongestSleep);
        } else {
            channel_.sleep(kLongestSleep);
        }
    }

    const Membership& members_;
    CallTable& calls_;
    CallWaiter& waiter_;
    FailureDetector& failures_;
    multicast::Channel& channel_;
    Execution& call_;
    const std::span<std::byte> data_;
    const std::uint32_t count_;
    const std::uint64_t pause_;
    std::optional<Future<std::vector<std::byte>>> answer_; ///< to the last question, if it has not come yet
    std::vector<multicast::Range> asked_;
    Clock::time_point asked_after_{};
    std::uint32_t turn_ = 0; ///< idle turns in a row
    std::uint64_t heard_at_ = nanoseconds(Clock::now());
    bool differs_ = false;
};

} // namespace

bool send_by_multicast(GroupState& group, multicast::Channel& channel, Execution& call,
                       std::span<std::byte> data) {
    return MulticastCall(group, channel, call, data).send();
}

bool receive_by_multicast(GroupState& group, multicast::Channel& channel, Execution& call,
                          std::span<std::byte> data, Rank root) {
    return MulticastCall(group, channel, call, data).receive(root);
}

} // namespace plexus::eco::detail
