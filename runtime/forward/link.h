// SPDX-License-Identifier: BSD-3-Clause
// One end of a relayed link: asks a forwarder for it or takes it, proves the job's key to the far end, sends
// and receives messages. The host calls it; hops wait in an inbox until the module's poll.
#pragma once

#include "forward/hop.h"
#include "forward/receiver.h"
#include "forward/sender.h"
#include "plexus/module/handshake.h"

#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <string>

namespace plexus::forward {

class Hub;
class Module;
struct Via;

class Link final : public HopEnd {
  public:
    using Clock = std::chrono::steady_clock;

    /// To `peer`, as a row says.
    Link(Module& owner, wire::View row, const plexus_id& peer, void* cookie);
    /// From a forwarder, who is this context's `row`th.
    Link(Module& owner, const LinkName& from, std::uint64_t window, std::uint32_t row);

    plexus_link* handle() noexcept { return reinterpret_cast<plexus_link*>(this); }

    // What table_of() asks for. @thread any
    void disconnect();
    std::int32_t set(const char* key, const char* value, plexus_text& why);
    std::int32_t send(const plexus_view* pieces, std::uint32_t count, void* token);
    std::uint32_t row() const noexcept { return row_; }
    std::uint64_t queued() const noexcept;

    // HopEnd. @thread progress
    void take(const LinkName& from, const Hop& hop) override;
    void cut(const LinkName& from, const std::string& why) override;
    const ContextId* far_end() const override { return state_ == State::open ? &far_ : nullptr; }

    // @thread progress
    /// Answers the first record of whoever wants this link.
    void answer(wire::View hello);
    /// Does what is due. True: it is over and may be freed.
    bool turn(std::int32_t& handled);
    /// The last callbacks of a module that ends. @thread setup
    void drain();

  private:
    enum class State : std::uint8_t { wanted, opening, answering, open, over };
    struct Waiting {
        Kind kind;
        std::uint64_t number;
        wire::Bytes bytes;
    };

    void look_at_clock();
    /// turn() is wanted then, without a cause; max(): never.
    void set_due(Clock::time_point when);
    void say(const Hop& hop);
    void ask();
    void begin(const Hop& hop);
    void admit(const Hop& hop);
    void receive(const Hop& hop);
    void process(const Hop& hop);
    void pump(std::int32_t& handled);
    void give_credit(std::uint64_t bytes);
    /// Ends it with a sentence for both ends.
    void refuse(std::int32_t status, const std::string& why);
    void end(std::int32_t status, const std::string& why);

    Module& owner_;
    LinkName name_;
    struct Asked {
        wire::Bytes row; ///< by which the link is opened, or which is doubted
        ContextId by;    ///< the forwarder that was asked
    } asked_;
    State state_;
    const std::uint32_t row_ = 0;
    void* cookie_ = nullptr;
    ContextId far_; ///< whom it leads to; known on the side that takes it once it is open
    module::Handshake handshake_;
    Sender sender_;
    Receiver receiver_;
    struct Inbox {
        std::deque<Waiting> hops;
        std::uint64_t bytes = 0;
    } inbox_;
    std::uint64_t window_ = 0;
    std::uint64_t owed_credit_ = 0;
    std::atomic<bool> given_up_{false}; // set under the module's lock, which also orders the end of the link
    Clock::time_point due_ = Clock::time_point::max();
};

} // namespace plexus::forward
