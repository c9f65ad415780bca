// SPDX-License-Identifier: BSD-3-Clause
// Listening sockets (doors), and strangers: connections whose peer has not yet authenticated itself.
// Strangers are bounded in number, bytes and time; a rejected stranger is one line in the log. A new
// connection is accepted however many strangers there are: the oldest stranger without a whole
// greeting makes room, first among the strangers of the address with the most strangers.
// @thread progress, made and ended in setup
#pragma once

#include "base/connection_counts.h"
#include "base/unique_fd.h"
#include "stream_link/addresses.h"
#include "stream_link/greeting.h"
#include "stream_link/poller.h"

#include <memory>
#include <string>
#include <vector>

namespace plexus::stream_link {

class Listener;
class Module;

/// One listening socket.
class Door final : public Watched {
  public:
    explicit Door(Listener& listener);
    /// False: it can't be watched, errno says why.
    bool listen(UniqueFd socket) { return socket_.open(std::move(socket), EPOLLIN, *this); }
    void ready(std::uint32_t events, std::uint32_t budget, std::uint32_t& handled) override;
    void expired() override; ///< the pause after a shortage is over
    void open(bool yes);

  private:
    Listener& listener_;
    PolledSocket socket_;
    bool open_ = true;
};

/// A connection whose peer has not authenticated itself.
class Stranger final : public Watched {
  public:
    using Source = ConnectionCounts::Source;

    Stranger(Listener& listener, const Source& source);
    /// False: it can't be watched, errno says why.
    bool listen(UniqueFd socket) { return socket_.open(std::move(socket), EPOLLIN, *this); }
    /// False: there was no memory for its greeting.
    bool can_listen() const noexcept { return greeting_ != nullptr; }
    ~Stranger() override { socket_.abort(); }
    void ready(std::uint32_t events, std::uint32_t budget, std::uint32_t& handled) override;
    void expired() override;
    /// Resets the connection: another connection needs the room.
    void evict();
    /// Closes the connection in order, with a line in the log.
    void turn_away(const std::string& why);

    const Source& source() const noexcept { return source_; }
    /// It has not shown yet that it may join.
    bool is_silent() const noexcept { return silent_; }

  private:
    bool answer();
    void judge(std::int32_t verdict, bool answered);
    void turn_away(const std::string& why, const std::string& from);

    Listener& listener_;
    PolledSocket socket_;
    const Source source_;
    bool silent_ = true;
    bool is_refused_ = false;            // by its greeting, which said why
    std::unique_ptr<Greeting> greeting_; // null: there was no memory for it
};

class Listener {
  public:
    static constexpr std::size_t kMostStrangers = 256;

    explicit Listener(Module& module)
      : module_(module) {}

    /// Binds every address to one port, the first free one of the range. 0, or errno, and the log
    /// says more.
    int bind(const std::vector<Interface>& where, std::uint16_t first_port, std::uint16_t last_port);
    std::uint16_t port() const noexcept { return port_; }
    /// The addresses that it listens on.
    const std::vector<asio::ip::address>& addresses() const noexcept { return addresses_; }

    // For doors and strangers.
    Module& module() noexcept { return module_; }
    void admit(UniqueFd socket, const Stranger::Source& source);
    /// Closes the stranger that makes room for another. False: there is none.
    bool make_room();
    /// The stranger has shown that it may join.
    void greeted(const Stranger& stranger);
    void leave(Stranger& stranger);
    /// Says that descriptors or memory are short, once a minute at most.
    void report_shortage(int error);

  private:
    void report_crowd();
    int watch_all();
    int bind_all(const std::vector<Interface>& where, std::uint16_t port, std::string& failed);

    Module& module_;
    std::uint16_t port_ = 0;
    std::vector<asio::ip::address> addresses_;
    std::vector<UniqueFd> bound_;
    std::vector<std::unique_ptr<Door>> doors_;
    std::vector<std::unique_ptr<Stranger>> strangers_; ///< oldest first
    ConnectionCounts counts_;
    Clock::time_point quiet_until_{};       ///< no further log line about a shortage before
    Clock::time_point crowd_quiet_until_{}; ///< nor about too many strangers
};

} // namespace plexus::stream_link
