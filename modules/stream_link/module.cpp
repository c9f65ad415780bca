// SPDX-License-Identifier: BSD-3-Clause
#include "stream_link/module.h"

#include "stream_link/socket.h"

#include <algorithm>
#include <cstring>
#include <poll.h>

namespace plexus::stream_link {
namespace {

constexpr std::size_t kReceive = 64 * 1024; // most bytes of one read
// Guesses, until the kernel has measured a connection.
constexpr std::uint64_t kLatencyNs = 25'000;
constexpr std::uint64_t kBandwidth = 1'250'000'000;

std::string joined(const std::vector<std::string>& words) {
    std::string out;
    for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
    return out.empty() ? "nothing" : out;
}

} // namespace

Module::Module(const plexus_host& host, Options options)
  : host_(host)
  , options_(std::move(options))
  , here_(module::surroundings())
  , interfaces_(stream_link::interfaces())
  , limits_{options_.eager, options_.max_message}
  , loop_(8 + kReceive + static_cast<std::size_t>(module::frame_bytes(options_.eager)),
          options_.socket.dead_after) {}

Module::~Module() {
    listener_.reset();
    loop_.poller().bury();
}

std::int32_t Module::listen() {
    if (!loop_.poller().usable()) {
        log(PLEXUS_ERROR, "no epoll set could be made: " + system_text(errno));
        return PLEXUS_UNSUPPORTED;
    }
    const std::vector<Interface> where = chosen(interfaces_, options_);
    if (where.empty()) {
        log(PLEXUS_ERROR, "no address to listen on: listen is " + joined(options_.listen) +
                              ", interface is " +
                              (options_.interfaces.empty() ? "any" : joined(options_.interfaces)) +
                              ", and no interface that is up fits both; see the command \"ip addr\"");
        return PLEXUS_BAD_CONFIG;
    }
    listener_ = std::make_unique<Listener>(*this);
    const int error = listener_->bind(where, options_.first_port, options_.last_port);
    if (error != 0) return error == EADDRINUSE ? PLEXUS_BUSY : PLEXUS_BAD_CONFIG;
    self_ = {here_, listener_->port(), listener_->addresses()};
    return PLEXUS_OK;
}

void Module::close() {
    closing_.store(true, std::memory_order_relaxed);
    listener_.reset();
}

void Module::drain() {
    close();
    const std::vector<Link*> links = links_.all();
    loop_.stop();
    const auto deadline = Clock::now() + options_.linger;
    while (loop_.poller().is_own_process()) {
        bool left = false;
        for (Link* link : links) left |= link->flush_at_end();
        if (!left || Clock::now() >= deadline) break;
        (void)::poll(nullptr, 0, 1); // a millisecond for the other side to read
    }
    for (Link* link : links) link->shut_down();
    loop_.poller().bury();
    drained_ = true;
}

std::int32_t Module::describe(plexus_rows& rows) const {
    const auto bytes = self_.encode();
    return module::add_row(rows, "", module::view(bytes.data(), bytes.size()));
}

std::int32_t Module::applies(plexus_view descriptor, plexus_text& why) const {
    const auto there = Descriptor::decode(descriptor);
    if (there && !reachable(*there).empty()) return PLEXUS_OK;
    const bool outside = there && !there->reachable_from(here_).empty();
    module::write(why, outside ? "only within this subnet; the peer has no address in a network of this host"
                       : there ? there->why_not(here_)
                               : "the descriptor is damaged");
    return PLEXUS_NO_METHOD;
}

std::vector<asio::ip::address> Module::reachable(const Descriptor& there) const {
    std::vector<asio::ip::address> addresses = there.reachable_from(here_);
    if (options_.subnet)
        std::erase_if(addresses, [&](const asio::ip::address& address) {
            return std::none_of(interfaces_.begin(), interfaces_.end(),
                                [&](const Interface& one) { return neighbours(one, address); });
        });
    return addresses;
}

std::int32_t Module::connect(plexus_view descriptor, const plexus_id& peer, void* cookie, plexus_link** out) {
    auto there = Descriptor::decode(descriptor);
    if (!there) return PLEXUS_BAD_ARGUMENT;
    if (closing()) return PLEXUS_LINK_LOST;
    Link& link = links_.add(std::make_unique<Link>(*this, cookie, peer, std::move(*there)));
    *out = reinterpret_cast<plexus_link*>(&link); // before a callback can come
    loop_.notify(link);
    return PLEXUS_OK;
}

void Module::forget(Link& link) {
    loop_.forget(link);
    std::unique_ptr<Link> last = links_.remove(link);
    if (!drained_) loop_.poller().retire(std::move(last));
}

void Module::welcome(UniqueFd socket, std::unique_ptr<Greeting> proved) {
    const int fd = socket.get();
    const plexus_id peer = proved->peer();
    Link& link =
        links_.add(std::make_unique<Link>(*this, peer, proved->peer_max_message(), std::move(socket)));
    loop_.poller().change(fd, EPOLLIN, link);
    void* cookie = nullptr;
    keep_greeting(std::move(proved));
    const std::int32_t status =
        host_.accepted(host_.self, reinterpret_cast<plexus_link*>(&link), &peer, &cookie);
    keep_greeting(nullptr);
    if (status == PLEXUS_OK) {
        link.set_cookie(cookie);
    } else {
        link.refuse();
    }
}

std::int32_t Module::query(const Link* link, plexus_query what, std::uint64_t& value) const {
    const auto or_guess = [](std::uint64_t measured, std::uint64_t guess) {
        return measured != 0 ? measured : guess;
    };
    switch (what) {
    case PLEXUS_QUERY_MAX_MESSAGE:
        value = link != nullptr ? link->writer().max_message() : options_.max_message;
        return PLEXUS_OK;
    case PLEXUS_QUERY_INLINE_BYTES:
        value = Writer::kInlineBytes;
        return PLEXUS_OK;
    case PLEXUS_QUERY_EAGER_BYTES:
        value = options_.eager;
        return PLEXUS_OK;
    case PLEXUS_QUERY_LATENCY_NS:
        value = or_guess(link != nullptr ? link->writer().round_trip_ns() / 2 : 0, kLatencyNs);
        return PLEXUS_OK;
    case PLEXUS_QUERY_BANDWIDTH_BPS:
        value = or_guess(link != nullptr ? link->writer().bytes_a_second() : 0, kBandwidth);
        return PLEXUS_OK;
    case PLEXUS_QUERY_SHARED_BYTES:
    case PLEXUS_QUERY_REMOTE_BYTES:
    case PLEXUS_QUERY_REFUSED:
    case PLEXUS_QUERY_DROPPED:
        value = 0;
        return PLEXUS_OK;
    case PLEXUS_QUERY_QUEUED_BYTES:
        value = link != nullptr ? link->writer().queued_bytes() : links_.queued_bytes();
        return PLEXUS_OK;
    case PLEXUS_QUERY_LINKS:
        value = links_.size();
        return PLEXUS_OK;
    }
    return PLEXUS_UNSUPPORTED;
}

} // namespace plexus::stream_link
