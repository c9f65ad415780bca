// SPDX-License-Identifier: BSD-3-Clause
#include "shm/module.h"

#include "plexus/module/table.h"

#include "common/system_text.h"
#include "shm/copy_report.h"

#include <cerrno>

namespace plexus::shm {

Module::~Module() {
    if (parts_.self.is_forked()) return; // a lock may be held by a thread that this process does not have
    for (const Order& order : parts_.orders.take())
        if (order.what == Order::Do::connect) delete order.link;
    parts_.table.clear();
}

std::int32_t Module::open() {
    const auto refuse = [&](const std::string& why) {
        parts_.host.log(parts_.host.self, PLEXUS_ERROR, why.c_str());
        return std::int32_t{PLEXUS_UNSUPPORTED};
    };
    const auto failed = [&](const char* what) {
        return refuse(std::string(what) + ": " + module::system_text(errno));
    };
    if (const std::string why = parts_.self.open(parts_.host); !why.empty()) return refuse(why);
    links_.open();
    if (!parts_.mailbox.open()) return failed("no shared memory can be made");
    if (!parts_.events.open() || !parts_.events.watch(parts_.mailbox.event_fd(), Poller::kEventTag))
        return failed("no descriptor to sleep on can be made");
    if (!acceptor_.listener().open(parts_.self.descriptor().socket))
        return failed("no socket can be opened for peers");
    return PLEXUS_OK;
}

void Module::close() {
    if (parts_.self.is_forked()) return;
    parts_.closing = true;
    acceptor_.listener().close();
    links_.close();
}

// Nothing else runs in the module. What has been posted may still be fetched for a while.
void Module::drain() {
    if (parts_.self.is_forked()) return;
    close();
    parts_.draining = true;
    poller_.take_orders();
    links_.drain();
}

std::int32_t Module::describe(plexus_rows& rows) const {
    const auto bytes = encode(parts_.self.descriptor());
    return module::add_row(rows, "", module::view(bytes.data(), bytes.size()));
}

std::int32_t Module::applies(plexus_view descriptor, plexus_text& why) const {
    const auto there = decode(descriptor);
    const char* const reason =
        there ? why_not(parts_.self.descriptor(), *there) : "the descriptor is damaged";
    if (reason == nullptr) {
        module::write(why, remark(parts_.table.learned(there->socket)));
        return PLEXUS_OK;
    }
    module::write(why, reason);
    return PLEXUS_NO_METHOD;
}

std::int32_t Module::connect(plexus_view descriptor, const plexus_id& peer, void* cookie, plexus_link** out) {
    const auto there = decode(descriptor);
    if (!there) return PLEXUS_BAD_ARGUMENT;
    if (why_not(parts_.self.descriptor(), *there) != nullptr) return PLEXUS_NO_METHOD;
    if (parts_.closing) return PLEXUS_LINK_LOST;
    auto* const link = new Link(parts_.orders, parts_.host, parts_.options, parts_.totals);
    link->cookie = cookie;
    link->call.peer = peer;
    link->call.name = there->socket;
    *out = reinterpret_cast<plexus_link*>(link); // before a callback can come
    parts_.orders.put(Order::Do::connect, *link);
    return PLEXUS_OK;
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
        value = parts_.options.limits.eager;
        return PLEXUS_OK;
    case PLEXUS_QUERY_LATENCY_NS:
        value = kLatencyNs;
        return PLEXUS_OK;
    case PLEXUS_QUERY_BANDWIDTH_BPS: {
        const std::uint64_t seen = parts_.totals.bytes_per_second.load(std::memory_order_relaxed);
        value = seen == 0 ? kBandwidth : seen;
        return PLEXUS_OK;
    }
    case PLEXUS_QUERY_QUEUED_BYTES:
        if (link == nullptr)
            value = parts_.table.queued_bytes();
        else
            value = ready ? link->sender.queued_bytes() : 0;
        return PLEXUS_OK;
    case PLEXUS_QUERY_LINKS:
        value = parts_.table.open_links();
        return PLEXUS_OK;
    case PLEXUS_QUERY_REFUSED:
    case PLEXUS_QUERY_DROPPED:
    case PLEXUS_QUERY_REMOTE_BYTES: // its large messages are moved in one copy already
        value = 0;
        return PLEXUS_OK;
    case PLEXUS_QUERY_SHARED_BYTES:
        if (link != nullptr)
            value = ready ? link->shared.segment.size() + link->sender.area_bytes() : 0;
        else
            value = kPageBytes + parts_.table.segment_bytes() +
                    parts_.totals.area_bytes.load(std::memory_order_relaxed);
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
