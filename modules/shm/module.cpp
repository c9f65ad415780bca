// SPDX-License-Identifier: BSD-3-Clause
#include "shm/module.h"

#include "plexus/module/table.h"

#include "common/system_text.h"
#include "shm/process.h"

#include <cerrno>
#include <poll.h>

namespace plexus::shm {

using module::Lock;

Module::Module(const plexus_host& host, const Options& options)
  : host_(host)
  , options_(options) {}

Module::~Module() {
    if (is_forked()) return; // a lock may be held by a thread that this process does not have
    for (Link* const link : slots_) delete link;
    for (Link* const link : strays_) delete link;
    const Lock hold(orders_mutex_);
    for (const Order& order : orders_)
        if (order.what == Order::Do::connect) delete order.link;
}

std::int32_t Module::open() {
    const auto refuse = [&](const char* what) {
        const std::string text = std::string(what) + ": " + module::system_text(errno);
        host_.log(host_.self, PLEXUS_ERROR, text.c_str());
        return std::int32_t{PLEXUS_UNSUPPORTED};
    };
    here_.place = module::surroundings();
    here_.user = ::geteuid();
    host_.random(host_.self, here_.socket.data(), here_.socket.size());
    host_.random(host_.self, cookie_.data(), cookie_.size());
    if (here_.place.boot == decltype(here_.place.boot){} || here_.place.network_namespace == 0) {
        host_.log(host_.self, PLEXUS_ERROR, "the kernel does not say which host this is: is /proc mounted?");
        return PLEXUS_UNSUPPORTED;
    }
    owner_ = ::getpid();
    start_time_ = start_time_of(owner_);
    joined_ = join_barrier();
    spare_.restore();
    if (!mailbox_.open()) return refuse("no shared memory can be made");
    if (!events_.open() || !events_.watch(mailbox_.event_fd(), kEventTag))
        return refuse("no descriptor to sleep on can be made");
    if (!door_.open(here_.socket)) return refuse("no socket can be opened for peers");
    return PLEXUS_OK;
}

bool Module::is_forked() const noexcept { return owner_ != 0 && ::getpid() != owner_; }

void Module::close() {
    if (is_forked()) return;
    closing_ = true;
    door_.close();
    for (Link* const link : slots_)
        if (link != nullptr) link->sender.close();
}

// Nothing else runs in the module. What has been posted may still be fetched for a while.
void Module::drain() {
    if (is_forked()) return;
    close();
    draining_ = true;
    take_orders();
    for (Link* const link : slots_) {
        if (link == nullptr || link->state != Link::State::open) continue;
        link->receiver.fail(link->cookie, link->gone.load(std::memory_order_relaxed));
        link->in->deaf.store(1, std::memory_order_release);
        link->out->finished.store(1, std::memory_order_release);
        link->bell.notify();
    }
    const auto until = Clock::now() + options_.linger;
    const auto under_way = [&] {
        bool any = false;
        for (Link* const link : slots_) {
            if (link == nullptr || link->state != Link::State::open || link->sender.idle()) continue;
            if (link->sender.is_streaming()) (void)link->sender.carry_on(link->cookie);
            (void)link->sender.settle(link->cookie, true);
            const bool hopeless = link->out->deaf.load(std::memory_order_acquire) != 0 ||
                                  !peer_is_there(link->socket.get(), link->process.get());
            any = any || !(hopeless || link->sender.idle());
        }
        return any;
    };
    while (under_way() && Clock::now() < until) (void)::poll(nullptr, 0, 1);
    for (Link* const link : slots_) {
        if (link == nullptr) continue;
        link->state = Link::State::lost;
        link->opening.reset();
        link->sender.fail(link->cookie);
        if (link->socket) hang_up(link->socket.get());
        link->socket.reset(); // the peer takes what is in the ring, then sees the end
    }
    busy_.clear();
    openings_.clear();
    short_.clear();
    hot_count_ = 0;
}

std::int32_t Module::describe(plexus_rows& rows) const {
    const auto bytes = encode(here_);
    return module::add_row(rows, "", module::view(bytes.data(), bytes.size()));
}

std::int32_t Module::applies(plexus_view descriptor, plexus_text& why) const {
    const auto there = decode(descriptor);
    const char* const reason = there ? why_not(here_, *there) : "the descriptor is damaged";
    if (reason == nullptr) return PLEXUS_OK;
    module::write(why, reason);
    return PLEXUS_NO_METHOD;
}

std::int32_t Module::connect(plexus_view descriptor, const plexus_id& peer, void* cookie, plexus_link** out) {
    const auto there = decode(descriptor);
    if (!there) return PLEXUS_BAD_ARGUMENT;
    if (why_not(here_, *there) != nullptr) return PLEXUS_NO_METHOD;
    if (closing_) return PLEXUS_LINK_LOST;
    auto* const link = new Link(*this, host_, options_, totals_);
    link->cookie = cookie;
    link->peer = peer;
    link->name = there->socket;
    *out = reinterpret_cast<plexus_link*>(link); // before a callback can come
    order(Order::Do::connect, *link);
    return PLEXUS_OK;
}

void Module::order(Order::Do what, Link& link) {
    {
        const Lock hold(orders_mutex_);
        orders_.push_back({what, &link});
    }
    ordered_.store(true, std::memory_order_seq_cst); // [orders]
    mailbox_.wake();
}

std::int32_t Module::query(const Link* link, plexus_query what, std::uint64_t& value) const {
    // Measured between two cores that share a cache, until something better is known.
    constexpr std::uint64_t kLatencyNs = 150;
    constexpr std::uint64_t kBandwidth = 12'000'000'000;
    const bool ready = link != nullptr && link->ready.load(std::memory_order_acquire); // [ready]
    switch (what) {
    case PLEXUS_QUERY_MAX_MESSAGE:
        value = 0;
        return PLEXUS_OK;
    case PLEXUS_QUERY_INLINE_BYTES:
        value = kLineBody;
        return PLEXUS_OK;
    case PLEXUS_QUERY_EAGER_BYTES:
        value = options_.limits.eager;
        return PLEXUS_OK;
    case PLEXUS_QUERY_LATENCY_NS:
        value = kLatencyNs;
        return PLEXUS_OK;
    case PLEXUS_QUERY_BANDWIDTH_BPS: {
        const std::uint64_t seen = totals_.bytes_per_second.load(std::memory_order_relaxed);
        value = seen == 0 ? kBandwidth : seen;
        return PLEXUS_OK;
    }
    case PLEXUS_QUERY_QUEUED_BYTES: {
        value = ready ? link->sender.queued_bytes() : 0;
        if (link != nullptr) return PLEXUS_OK;
        const Lock hold(books_);
        for (const Link* const each : slots_)
            if (each != nullptr && each->ready.load(std::memory_order_acquire))
                value += each->sender.queued_bytes();
        return PLEXUS_OK;
    }
    case PLEXUS_QUERY_LINKS:
        value = link_count_.load(std::memory_order_relaxed);
        return PLEXUS_OK;
    case PLEXUS_QUERY_REMOTE_BYTES: // its large messages are moved in one copy already
        value = 0;
        return PLEXUS_OK;
    case PLEXUS_QUERY_SHARED_BYTES:
        if (link != nullptr)
            value = ready ? link->segment.size() + link->sender.area_bytes() : 0;
        else
            value = kPageBytes + segment_bytes_.load(std::memory_order_relaxed) +
                    totals_.area_bytes.load(std::memory_order_relaxed);
        return PLEXUS_OK;
    }
    return PLEXUS_UNSUPPORTED;
}

std::int32_t Module::make(const plexus_host& host, std::unique_ptr<Module>& made) {
    const auto options = read_options(host);
    if (!options) return PLEXUS_BAD_CONFIG;
    made = std::make_unique<Module>(host, *options);
    return made->open();
}

const plexus_ops kOps = module::table_of<Module, Link, PLEXUS_CAP_SLEEP | PLEXUS_CAP_LOCAL>();

} // namespace plexus::shm
