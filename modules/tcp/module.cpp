// SPDX-License-Identifier: BSD-3-Clause
#include "tcp/module.h"

#include "plexus/module/table.h"

#include "tcp/socket.h"

#include <algorithm>
#include <cstring>
#include <poll.h>

namespace plexus::tcp {
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

std::int32_t Module::make(const plexus_host& host, std::unique_ptr<Module>& made) {
    auto options = read_options(host);
    if (!options) return PLEXUS_BAD_CONFIG;
    made = std::make_unique<Module>(host, std::move(*options));
    return made->listen();
}

Module::Module(const plexus_host& host, Options options)
  : host_(host)
  , options_(std::move(options))
  , here_(module::surroundings())
  , interfaces_(tcp::interfaces())
  , limits_{options_.eager, options_.max_message}
  , watchdog_(poller_, options_.socket.dead_after)
  , buffers_(8 + kReceive + static_cast<std::size_t>(module::frame_bytes(options_.eager))) {}

Module::~Module() {
    listener_.reset();
    poller_.bury();
    for (;;) {
        Link* link = nullptr;
        {
            const module::Lock hold(mutex_);
            link = links_;
            if (link != nullptr) links_ = link->next;
        }
        if (link == nullptr) return;
        delete link;
    }
}

std::int32_t Module::listen() {
    if (!poller_.usable()) {
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
    std::vector<Link*> links;
    {
        const module::Lock hold(mutex_);
        for (Link* link = links_; link != nullptr; link = link->next) links.push_back(link);
        noted_.clear();
    }
    const auto deadline = Clock::now() + options_.linger;
    while (poller_.is_own_process()) {
        bool left = false;
        for (Link* link : links) left |= link->flush_at_end();
        if (!left || Clock::now() >= deadline) break;
        (void)::poll(nullptr, 0, 1); // a millisecond for the other side to read
    }
    for (Link* link : links) link->shut_down();
    poller_.bury();
    drained_ = true;
}

std::int32_t Module::describe(plexus_rows& rows) const {
    const auto bytes = self_.encode();
    return module::add_row(rows, "", module::view(bytes.data(), bytes.size()));
}

std::int32_t Module::applies(plexus_view descriptor, plexus_text& why) const {
    const auto there = Descriptor::decode(descriptor);
    if (there && !there->reachable_from(here_).empty()) return PLEXUS_OK;
    module::write(why, there ? there->why_not(here_) : "the descriptor is damaged");
    return PLEXUS_NO_METHOD;
}

std::int32_t Module::connect(plexus_view descriptor, const plexus_id& peer, void* cookie, plexus_link** out) {
    auto there = Descriptor::decode(descriptor);
    if (!there) return PLEXUS_BAD_ARGUMENT;
    if (closing()) return PLEXUS_LINK_LOST;
    auto* link = new Link(*this, cookie, peer, std::move(*there));
    *out = reinterpret_cast<plexus_link*>(link); // before a callback can come
    enter(*link);
    notify(*link);
    return PLEXUS_OK;
}

void Module::notify(Link& link) {
    const module::Lock hold(mutex_);
    if (std::exchange(link.noted, true)) return;
    noted_.push_back(&link);
    wake_up();
}

void Module::watch(Link& link) {
    if (!watchdog_.on() || !watchdog_.add(link)) return;
    const module::Lock hold(mutex_);
    wake_up();
}

void Module::wake_up() {
    any_noted_.store(true, std::memory_order_relaxed); // [noted]
    if (std::exchange(armed_, false)) poller_.wake();
}

void Module::enter(Link& link) {
    const module::Lock hold(mutex_);
    link.next = links_;
    if (links_ != nullptr) links_->previous = &link;
    links_ = &link;
    ++link_count_;
}

void Module::forget(Link& link) {
    cool(link);
    watchdog_.remove(link);
    {
        const module::Lock hold(mutex_);
        (link.previous != nullptr ? link.previous->next : links_) = link.next;
        if (link.next != nullptr) link.next->previous = link.previous;
        --link_count_;
        if (link.noted) std::erase(noted_, &link);
    }
    std::unique_ptr<Link> last(&link);
    if (!drained_) poller_.retire(std::move(last));
}

void Module::welcome(module::OwnedFd socket, const module::Handshake& proved) {
    const int fd = socket.get();
    const plexus_id& peer = proved.peer();
    auto* link = new Link(*this, peer, proved.peer_max_message(), std::move(socket));
    enter(*link);
    poller_.change(fd, EPOLLIN, *link);
    void* cookie = nullptr;
    if (host_.accepted(host_.self, reinterpret_cast<plexus_link*>(link), &peer, &cookie) == PLEXUS_OK) {
        link->set_cookie(cookie);
    } else {
        link->refuse();
    }
}

std::int32_t Module::query(const Link* link, plexus_query what, std::uint64_t& value) const {
    const auto or_guess = [](std::uint64_t measured, std::uint64_t guess) {
        return measured != 0 ? measured : guess;
    };
    switch (what) {
    case PLEXUS_QUERY_MAX_MESSAGE:
        value = link != nullptr ? link->max_message() : options_.max_message;
        return PLEXUS_OK;
    case PLEXUS_QUERY_INLINE_BYTES:
        value = Link::kInlineBytes;
        return PLEXUS_OK;
    case PLEXUS_QUERY_EAGER_BYTES:
        value = options_.eager;
        return PLEXUS_OK;
    case PLEXUS_QUERY_LATENCY_NS:
        value = or_guess(link != nullptr ? link->round_trip_ns() / 2 : 0, kLatencyNs);
        return PLEXUS_OK;
    case PLEXUS_QUERY_BANDWIDTH_BPS:
        value = or_guess(link != nullptr ? link->bytes_a_second() : 0, kBandwidth);
        return PLEXUS_OK;
    case PLEXUS_QUERY_SHARED_BYTES:
    case PLEXUS_QUERY_REMOTE_BYTES:
        value = 0;
        return PLEXUS_OK;
    case PLEXUS_QUERY_QUEUED_BYTES: {
        value = 0;
        if (link != nullptr) {
            value = link->queued_bytes();
            return PLEXUS_OK;
        }
        const module::Lock hold(mutex_);
        for (const Link* one = links_; one != nullptr; one = one->next) value += one->own_queued_bytes();
        return PLEXUS_OK;
    }
    case PLEXUS_QUERY_LINKS: {
        const module::Lock hold(mutex_);
        value = link_count_;
        return PLEXUS_OK;
    }
    }
    return PLEXUS_UNSUPPORTED;
}

const plexus_ops kOps = module::table_of<Module, Link, PLEXUS_CAP_SLEEP | PLEXUS_CAP_FRAGILE>();

} // namespace plexus::tcp
