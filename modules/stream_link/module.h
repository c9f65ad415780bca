// SPDX-License-Identifier: BSD-3-Clause
// A method over TCP connections of one context: where it listens, its links, and what it answers the host. A
// method derives its class from Module and says what its ends say to each other first, and how a stream is
// read; its table is table_of<its class, stream_link::Link, Caps>().
#pragma once

#include "common/frames.h"
#include "common/surroundings.h"
#include "stream_link/addresses.h"
#include "stream_link/descriptor.h"
#include "stream_link/event_loop.h"
#include "stream_link/greeting.h"
#include "stream_link/link.h"
#include "stream_link/link_list.h"
#include "stream_link/listener.h"
#include "stream_link/options.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace plexus::stream_link {

class Module {
  public:
    Module(const plexus_host& host, Options options);
    virtual ~Module();
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;

    // @thread setup
    std::int32_t listen(); ///< logs why not
    void close();
    void drain();
    std::int32_t describe(plexus_rows& rows) const;

    // @thread any
    std::int32_t applies(plexus_view descriptor, plexus_text& why) const;
    std::int32_t connect(plexus_view descriptor, const plexus_id& peer, void* cookie, plexus_link** link);
    std::int32_t query(const Link* link, plexus_query what, std::uint64_t& value) const;
    int wait_fd() const noexcept { return loop_.poller().fd(); }

    // @thread progress
    std::int32_t poll(std::uint32_t budget) { return loop_.poll(budget); }
    std::int32_t arm(std::uint64_t& sleep_ns) { return loop_.arm(sleep_ns); }

    // What a method says. @thread any
    virtual std::unique_ptr<module::StreamReader> make_reader() const = 0;
    /// Of the side that connects to the context `wanted`, and of the other. Null: there is no memory. @thread
    /// progress
    virtual std::unique_ptr<Greeting> connecting(const plexus_id& wanted) = 0;
    virtual std::unique_ptr<Greeting> accepting() = 0;
    /// A stranger was turned away for this reason, which its greeting gave. @thread progress
    virtual void tell_refusal(const std::string& line) { log(PLEXUS_DEBUG, line); }

    /// The addresses of a peer that its links may lead to.
    std::vector<asio::ip::address> reachable(const Descriptor& there) const;

    // For links, listeners and dials.
    const plexus_host& host() const noexcept { return host_; }
    const Options& options() const noexcept { return options_; }
    const module::Surroundings& here() const noexcept { return here_; }
    const std::vector<Interface>& interfaces() const noexcept { return interfaces_; }
    const module::FrameReader::Limits& limits() const noexcept { return limits_; }
    EventLoop& loop() noexcept { return loop_; }
    void log(plexus_level level, const std::string& text) const {
        host_.log(host_.self, level, text.c_str());
    }
    bool closing() const noexcept { return closing_.load(std::memory_order_relaxed); }

    // @thread progress
    /// A stranger has authenticated itself: makes a link of the connection if the host accepts.
    void welcome(UniqueFd socket, std::unique_ptr<Greeting> proved);
    /// While `opened` or `accepted` tells of a link: the greeting that came before it. Null: it was taken.
    std::unique_ptr<Greeting> take_greeting() noexcept { return std::move(greeting_); }
    void keep_greeting(std::unique_ptr<Greeting> greeting) noexcept { greeting_ = std::move(greeting); }
    /// The link is over: removed from the lists, and freed at the end of the turn.
    void forget(Link& link);
    /// After drain there are no turns: a link that the host disconnects is freed at once.
    bool drained() const noexcept { return drained_; }

  private:
    const plexus_host& host_;
    const Options options_;
    const module::Surroundings here_;
    std::vector<Interface> interfaces_;
    const module::FrameReader::Limits limits_;
    EventLoop loop_;
    LinkList links_;
    std::unique_ptr<Listener> listener_;
    Descriptor self_;
    std::atomic<bool> closing_{false}; // set once; a send that misses it is still carried
    bool drained_ = false;
    std::unique_ptr<Greeting> greeting_;
};

} // namespace plexus::stream_link
