// SPDX-License-Identifier: BSD-3-Clause
// One link: how it begins, what it does with what its two halves say, and how it ends. The host may
// disconnect it at any time; the progress thread then flushes it, says goodbye to the peer and frees it. No
// callback runs under a lock.
#pragma once

#include "stream_link/descriptor.h"
#include "stream_link/link_events.h"
#include "stream_link/poller.h"
#include "stream_link/reader.h"
#include "stream_link/writer.h"

#include <memory>
#include <string>

namespace plexus::stream_link {

class Dial;
class Greeting;
class Module;

class Link final : public Watched {
  public:
    /// To be connected to `peer` at `target`.
    Link(Module& module, void* cookie, const plexus_id& peer, Descriptor target);
    /// Accepted: `socket` has proved itself. Its events name another still. `peer_most`: the largest message
    /// that the peer takes; 0: any.
    Link(Module& module, const plexus_id& peer, std::uint64_t peer_most, UniqueFd socket);
    ~Link() override;

    // The host's half. @thread any, serialised by the host
    std::int32_t send(const plexus_view* pieces, std::uint32_t count, void* token) {
        return writer_.send(pieces, count, token);
    }
    void disconnect();
    std::int32_t set(const char* key, const char* value, plexus_text& why);
    /// What may be asked of the writing half.
    const Writer& writer() const noexcept { return writer_; }

    // The progress thread's half.
    void ready(std::uint32_t events, std::uint32_t budget, std::uint32_t& handled) override;
    void expired() override;
    /// Reads and hands over what there is; returns how many events that were.
    std::uint32_t read(std::uint32_t budget) {
        if (reader_.has_backlog()) return 0; // first the frames in the buffer; the socket stays readable
        const Reader::Result result = reader_.read(writer_.socket(), budget);
        if (result.is_over || reader_.has_backlog()) [[unlikely]]
            after_read(result);
        return result.handled;
    }
    /// Delivers the frames that an exhausted budget left in the receive buffer, which the link holds.
    std::uint32_t resume(std::uint32_t budget);
    bool has_backlog() const noexcept { return reader_.has_backlog(); }
    /// Writes what waits, as far as the socket has room.
    void flush();
    /// A sender or the host asked for attention by EventLoop::notify().
    void attend();
    /// For the watchdog, see Writer::has_unanswered().
    bool has_unanswered() { return writer_.has_unanswered(); }
    void end_if_silent(std::chrono::nanoseconds dead_after);
    /// The module's end: flushes; true if something is left. @thread setup
    bool flush_at_end();
    /// The module's end: ends everything under way, by callbacks, and closes. @thread setup
    void shut_down();

    // The results of a dial. @thread progress
    void connected(UniqueFd socket, std::unique_ptr<Greeting> greeting);
    void not_connected(std::int32_t status, const std::string& why);
    /// An accepted link: the host has accepted it.
    void set_cookie(void* cookie) noexcept { events_.set_cookie(cookie); }
    /// An accepted link: the host has refused it.
    void refuse();

    const plexus_id& peer() const noexcept { return peer_; }
    const Descriptor& target() const noexcept { return target_; }

    // For lists that have links in them.
    bool noted = false;       ///< under the lock of NotifiedLinks: waits for attend()
    bool coalesced = false;   ///< the progress thread's: waits in the Coalescer
    Link* previous = nullptr; ///< under the lock of LinkList
    Link* next = nullptr;

  private:
    enum class Phase : std::uint8_t { connecting, open, lingering, over };

    void after_read(const Reader::Result& result);
    void lose(std::int32_t status, const std::string& why);
    void lose_by(int error);
    void lose_by(const Reader::Result& end);
    void stop_dialling();
    void say_goodbye();
    void linger();
    void finish();
    void end_everything();

    Module& module_;
    const plexus_id peer_;
    const Descriptor target_;
    LinkEvents events_;
    Writer writer_;
    Reader reader_;
    // The progress thread's.
    Phase phase_;
    std::unique_ptr<Dial> dial_; // while it connects
    std::string peer_address_;   // read early: a broken socket does not have it any more
};

} // namespace plexus::stream_link
