// SPDX-License-Identifier: BSD-3-Clause
// The receiving half of a link: what arrives is handed over in the order of its numbers. What
// comes after a large message waits until that has landed. @thread progress
#pragma once

#include "common/host_writes.h"
#include "message_link/order.h"
#include "message_link/port.h"
#include "message_link/settings.h"

#include <deque>

namespace plexus::message_link {

class Receiver {
  public:
    explicit Receiver(Link& link)
      : link_(link) {}
    ~Receiver();

    /// An ordered message of this link. True: it is kept, and recycled later.
    bool arrived(Message& message);
    /// The link has opened: hands over what came before.
    void open();
    void fetched(std::uint64_t bytes, const std::string& why);
    void landed(void* token, std::int32_t status);
    /// Fetches on, if there was no room.
    void fetch_more();
    /// A fetch found no room with the library. Under the port's lock.
    bool has_unread() const noexcept { return unread_; }

    /// An operation of the port failed, perhaps a fetch of this link, which then never ends. While other
    /// fetches end, or it was the last one, nothing is wrong.
    void suspect_read(const std::string& why);
    bool is_suspect() const;
    void check_suspect(Clock::time_point now);

    /// One write to the host's memory is over, of which the engine has not yet told.
    void write_is_over() noexcept { writes_.fetch_sub(1, std::memory_order_relaxed); }
    /// Fetches and receives that the port has.
    const std::atomic<std::uint32_t>& writes() const noexcept { return writes_; }
    bool is_writing() const noexcept { return writes_.load(std::memory_order_relaxed) > 0; }
    /// When it returns nothing is copied to the host's memory any more. What the port writes there goes on,
    /// see writes(). @thread any
    void stop_copies() { placed_.stop(); }

    void drop_waiting(); ///< what has come and was not handed over
    /// The same, and ends the host's placements.
    void end();
    bool peer_said_bye() const noexcept { return bye_; }

  private:
    /// What is needed to fetch a large message.
    struct Fetch {
        Announcement note;
        std::uint64_t asked = 0; ///< bytes that have been, or are being, fetched
        std::size_t stretch = 0; ///< the one that is read next
        std::uint64_t offset = 0;
        Registration memory;
        void* handle = nullptr;
        std::string
            suspicion; ///< why an operation failed that may be a fetch of this message; empty: none did
        Clock::time_point suspect_until{};
    };
    /// A large message on its way to where the host wants it.
    struct Landing {
        std::byte* where = nullptr; ///< null: dropped
        void* token = nullptr;
        std::uint64_t rest = 0;
        std::uint64_t landed = 0;
        bool in_parts = false;
        bool over = false;
        std::int32_t status = PLEXUS_OK;
        std::unique_ptr<Fetch> fetch;
    };

    bool goes_on() const;
    bool is_blocked(Kind kind) const;
    bool accept(Message& message);
    void hand_over(Message& message);
    void hand_over_early();
    void hand_over_queue();
    void count_taken();
    Landing* begin(ByteView head, std::uint64_t rest);
    void begin_announced(ByteView body);
    void begin_carried(Message& message);
    void take_part(ByteView body);
    void finish_landed();
    void finish_first();

    Link& link_;
    ReceiveOrder<Message*> order_;
    std::deque<Message*> queue_; // behind the landings
    std::deque<std::unique_ptr<Landing>> landings_;
    module::HostWrites placed_; ///< into memory that place() gave
    // [writes] Raised by the progress thread under the port's lock, so that disconnect, which
    // takes that lock after [given up], sees all there will be.
    std::atomic<std::uint32_t> writes_{0};
    bool unread_ = false;   // fetches without room; written under the port's lock
    bool in_queue_ = false; // hand_over_queue() runs
    bool bye_ = false;      // has come, and may still wait its turn
};

} // namespace plexus::message_link
