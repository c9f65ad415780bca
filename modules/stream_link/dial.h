// SPDX-License-Identifier: BSD-3-Clause
// Connects one link: tries the addresses of the peer, the next address whenever the others have been
// quiet for a while or have failed, and takes the first connection on which the wanted context
// authenticates itself. If another context answers at an address, the next address may still be
// right. @thread progress
#pragma once

#include "base/unique_fd.h"
#include "stream_link/greeting.h"
#include "stream_link/poller.h"

#include <asio/ip/tcp.hpp>
#include <memory>
#include <string>
#include <vector>

namespace plexus::stream_link {

class Dial;
class Link;
class Module;

/// One address.
class Attempt final : public Watched {
  public:
    Attempt(Dial& dial, asio::ip::tcp::endpoint endpoint);
    /// 0, or errno: why it failed at once.
    int start();
    void ready(std::uint32_t events, std::uint32_t budget, std::uint32_t& handled) override;

    const asio::ip::tcp::endpoint& endpoint() const noexcept { return endpoint_; }
    /// The socket stays registered: the next owner changes to whom its events go.
    UniqueFd take_socket() noexcept { return socket_.release(); }
    /// After the peer has authenticated itself.
    std::unique_ptr<Greeting> take_greeting() noexcept { return std::move(greeting_); }

  private:
    void greet();
    bool send_outgoing();
    void receive();
    void cut_off(const std::string& why);

    Dial& dial_;
    const asio::ip::tcp::endpoint endpoint_;
    PolledSocket socket_;
    std::unique_ptr<Greeting> greeting_; // once connected
    bool has_answer_ = false;            // the peer has begun to answer
};

class Dial final : public Watched {
  public:
    Dial(Module& module, Link& link);
    /// Starts with the first address. May end the dial at once.
    void start();
    /// Ends all attempts; events that were fetched before do not reach them any more.
    void stop();
    void ready(std::uint32_t, std::uint32_t, std::uint32_t&) override {} // a dial has no socket of its own
    void expired() override; ///< time for the next address, or over

    // What attempts tell.
    Module& module() noexcept { return module_; }
    Link& link() noexcept { return link_; }
    void failed(Attempt& attempt, std::int32_t status, const std::string& why);
    /// `error`: errno.
    void refused(Attempt& attempt, int error);
    /// The connection ended before there was an answer: the address is tried again, a few times.
    void cut_off(Attempt& attempt, const std::string& why);
    /// The peer read the greeting and closed: the address is tried once more before that counts as a refusal.
    void turned_away(Attempt& attempt);
    void succeeded(Attempt& attempt);

  private:
    void next();
    std::int32_t verdict_of(int error) const;
    void note(const asio::ip::tcp::endpoint& endpoint, std::int32_t status, const std::string& why);
    void drop(Attempt& attempt);
    void give_up(const std::string& why);

    Module& module_;
    Link& link_;
    std::vector<asio::ip::tcp::endpoint> endpoints_; // best first
    std::size_t next_ = 0;
    Clock::time_point over_{};
    std::vector<std::unique_ptr<Attempt>> attempts_;
    std::vector<asio::ip::tcp::endpoint> silent_; // that were turned_away() once
    std::string notes_;                           // the result of each address
    bool wrong_peer_ = false;
    bool denied_ = false;
    bool judged_ = false;    ///< some address has failed for good
    bool ended_ = false;     ///< every address that was tried said that nobody listens there any more
    bool was_short_ = false; ///< of descriptors or memory, and it has been noted
    int retries_ = 0;        // of connections that were cut off, all addresses together
};

} // namespace plexus::stream_link
