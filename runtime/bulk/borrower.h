// SPDX-License-Identifier: BSD-3-Clause
// The other half: transfers that a module moves by itself. The first to some memory borrows its
// key; it and those that follow are moved with it; when none is under way the key goes back, but
// for one that may stay. Whatever stands in the way of that, a transfer then goes as messages do.
#pragma once

#include "transport/remote_key.h"

#include "base/mutex.h"
#include "plexus/pointer.h"
#include "transport/transport.h"

#include <atomic>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

namespace plexus::bulk {

/// One get or put; its memory stays until its call is over.
struct Transfer {
    wire::Kind kind = wire::Kind::get;
    wire::BulkHeader header; ///< as a message has it
    std::byte* memory = nullptr;
    std::chrono::steady_clock::time_point expires = std::chrono::steady_clock::time_point::max();
};

class Borrower {
  public:
    /// What ends a transfer, or carries it instead.
    class Carrier {
      public:
        virtual ~Carrier() = default;
        /// The bytes are going to move, until is_over() or has_failed(). False: nobody waits for them any
        /// more.
        virtual bool begins(const transport::Peer& peer, std::uint64_t call) = 0;
        virtual void is_over(const transport::Peer& peer, std::uint64_t call) = 0;
        /// Some bytes may not have moved; then by_message().
        virtual void has_failed(const transport::Peer& peer, std::uint64_t call) = 0;
        virtual void by_message(transport::Channel& to, const Transfer& transfer) = 0;
    };

    explicit Borrower(Carrier& carrier) noexcept
      : carrier_(carrier) {}
    Borrower(const Borrower&) = delete;
    Borrower& operator=(const Borrower&) = delete;

    /// True: it is seen to. False: it is one for messages. @thread any
    bool start(transport::Channel& by, const Transfer& transfer) PLEXUS_EXCLUDES(mutex_);

    // @thread progress
    void take_lend(transport::Link& from, wire::View frame) PLEXUS_EXCLUDES(mutex_);
    void take_recall(transport::Link& from, wire::View frame) PLEXUS_EXCLUDES(mutex_);
    void peer_lost(const transport::Peer& peer) PLEXUS_EXCLUDES(mutex_);
    /// What `via` carried may not have arrived: the transfers that wait for a key go as messages.
    void asked_in_vain(const transport::Channel& via) PLEXUS_EXCLUDES(mutex_);
    void asks_by(const transport::Channel& from, const transport::Channel& to) PLEXUS_EXCLUDES(mutex_);
    bool awaits(const transport::Channel& via) PLEXUS_EXCLUDES(mutex_);

  private:
    /// After so many transfers a loan that may not stay goes back before it is taken anew: whoever
    /// unbinds the memory meanwhile need not wait until a stream of them ends.
    static constexpr std::uint32_t kMostServed = 256;
    static constexpr std::size_t kMostLoans = 512; ///< then those without use go back

    struct Loan {
        enum class State : std::uint8_t { asked, held, spent };
        std::uint64_t call = 0;   ///< ours
        std::uint32_t number = 0; ///< theirs
        std::shared_ptr<transport::Peer> peer;
        transport::Channel* channel = nullptr;
        const transport::Channel* asked_by = nullptr; ///< carries the question
        wire::BulkHeader memory;
        State state = State::asked;
        bool stays = false;
        transport::RemoteKey reach;
        std::uint32_t served = 0;
        std::uint32_t moving = 0;
        std::vector<Transfer> waiting;
    };
    /// A transfer on its way, piece by piece.
    struct Move : transport::Completion {
        Borrower* borrower = nullptr;
        Loan* loan = nullptr;
        Transfer transfer;
        // [move] whoever ends the last piece sees what all others have left here.
        std::atomic<std::uint64_t> pieces{1}; ///< under way; and one while pieces are begun
        std::atomic<bool> failed{false};
    };
    using Name =
        std::tuple<const transport::Channel*, std::uint32_t, std::uint32_t>; ///< way, handle, generation

    Loan* find(const transport::Channel& channel, const wire::BulkHeader& memory) PLEXUS_REQUIRES(mutex_);
    void ask(transport::Channel& by, const Transfer& first, std::uint64_t call) PLEXUS_EXCLUDES(mutex_);
    std::list<Loan> take_out(std::uint64_t call, const transport::Peer& peer) PLEXUS_REQUIRES(mutex_);
    void by_messages(const std::list<Loan>& loans);
    void move(Loan& loan, const Transfer& transfer) PLEXUS_EXCLUDES(mutex_);
    static void piece_over(transport::Completion* posted, Status status);
    void moved(Loan& loan) PLEXUS_EXCLUDES(mutex_);
    std::vector<Transfer> admit(Loan& loan) PLEXUS_REQUIRES(mutex_);
    static void serve(Loan& loan);
    void give_back(const std::list<Loan>& loans);
    static void give_back(transport::Channel& to, std::uint32_t number);

    Carrier& carrier_;
    RankedMutex<26> mutex_;
    std::list<Loan> loans_ PLEXUS_GUARDED_BY(mutex_);
    std::map<Name, const transport::Peer*>
        refused_ PLEXUS_GUARDED_BY(mutex_); ///< memory that is not lent by that way
    std::uint64_t next_ PLEXUS_GUARDED_BY(mutex_) = 0;
};

} // namespace plexus::bulk
