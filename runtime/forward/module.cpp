// SPDX-License-Identifier: BSD-3-Clause
#include "forward/module.h"

#include "base/log.h"
#include "plexus/module/table.h"
#include "transport/reach.h"

#include <algorithm>
#include <cstring>
#include <unistd.h>

namespace plexus::forward {
namespace {

constexpr std::size_t kMostUnproved = 1024; // links that open, or end

// [a-z0-9_], as a label has to be, and no other forwarder's.
std::string label_of(const std::vector<Via>& all, std::size_t which) {
    const std::string& name = all[which].name;
    const bool good = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    });
    const auto alike =
        std::count_if(all.begin(), all.end(), [&](const Via& via) { return via.name == name; });
    return good && alike == 1 ? name : std::to_string(which + 1);
}

} // namespace

Module::Module(const plexus_host& host, Hub& hub, EventFd event, std::uint64_t max_message)
  : host_(host)
  , hub_(hub)
  , max_message_(max_message)
  , instance_(hub.add(*this))
  , event_(std::move(event)) {}

std::int32_t Module::make(const plexus_host& host, std::unique_ptr<Module>& made) {
    const auto refuse = [&](const std::string& why) {
        host.log(host.self, PLEXUS_ERROR, why.c_str());
        return PLEXUS_BAD_CONFIG;
    };
    Hub* const hub = Hub::of(id_of(host.id));
    if (hub == nullptr)
        return refuse("forward is opened when its context starts and no later: name it, or what works over "
                      "it, in methods");
    const std::string via = module::setting(host, "via");
    if (!via.empty())
        if (const auto found = hub->find_forwarders(via); !found) return refuse(found.failure().why);
    std::uint64_t most = 0;
    const std::string limit = module::setting(host, "limits.max_message");
    for (const char digit : limit) most = most * 10 + static_cast<std::uint64_t>(digit - '0');
    constexpr std::size_t kLeast = kMostPiece + kMostRecord;
    if (most != 0 && most < kLeast)
        return refuse(
            fmt::format("limits.max_message of {} bytes is less than relayed pieces need: set {} or more, or "
                        "leave forward out of methods",
                        most, kLeast));
    EventFd event = EventFd::create();
    if (!event) return refuse("there is no descriptor to sleep on");
    made = std::make_unique<Module>(host, *hub, std::move(event), most);
    return PLEXUS_OK;
}

void Module::drain() {
    std::vector<Link*> all;
    {
        Lock hold(mutex_);
        for (const auto& [link, owned] : links_) all.push_back(owned.get());
    }
    for (Link* link : all) link->drain();
}

std::int32_t Module::describe(plexus_rows& rows) const {
    const std::vector<Via>& all = hub_.forwarders();
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (rows.size == rows.capacity) return PLEXUS_TOO_LARGE;
        Via via = all[i];
        via.instance = instance_;
        const wire::Bytes bytes = encode(std::move(via), rows.data[rows.size].descriptor.capacity);
        const std::int32_t added =
            module::add_row(rows, label_of(all, i), module::view(bytes.data(), bytes.size()));
        if (added != PLEXUS_OK) return added;
    }
    return PLEXUS_OK;
}

// Takes no lock: it is asked for rows of rows, and under a channel's lock.
std::int32_t Module::applies(plexus_view descriptor, plexus_text& why) const {
    const auto via = decode({static_cast<const std::byte*>(descriptor.data), descriptor.size});
    const auto length = via ? hops(*via, hub_.endpoint().self()) : Result<unsigned>(via.failure());
    if (!length) {
        module::write(why, length.failure().why);
        return PLEXUS_NO_METHOD;
    }
    std::string reasons;
    for (const Descriptor& row : via->table) {
        const method::Applicable found =
            transport::applicable(hub_.endpoint(), nullptr, row, via->table.place());
        if (found.applies) {
            module::write(why,
                          fmt::format("via {}, {} hop{}", via->text(), *length, *length == 1 ? "" : "s"));
            return PLEXUS_OK;
        }
        reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : ", ", row.method, found.because);
    }
    module::write(why, fmt::format("nothing reaches forwarder {}: {}", via->text(), reasons));
    return PLEXUS_NO_METHOD;
}

std::int32_t Module::connect(plexus_view descriptor, const plexus_id& peer, void* cookie,
                             plexus_link** link) {
    if (closed_) return PLEXUS_LINK_LOST;
    const wire::View row{static_cast<const std::byte*>(descriptor.data), descriptor.size};
    Link& made = add(std::make_unique<Link>(*this, row, peer, cookie));
    *link = made.handle();
    owe(made);
    return PLEXUS_OK;
}

void Module::accept(const LinkName& from, const Hop& open, const Destination& to) {
    const std::vector<Via>& all = hub_.forwarders();
    const auto row = std::find_if(all.begin(), all.end(),
                                  [&](const Via& via) { return via.hub.context == from.neighbour->id(); });
    if (closed_ || due_.size() >= kMostUnproved || open.number < kLeastWindow)
        return hub_.say_close(from, Status::link_lost, "the far end takes no more links now");
    const auto which = row == all.end() ? 0 : row - all.begin();
    Link& made = add(std::make_unique<Link>(*this, from, open.number, static_cast<std::uint32_t>(which)));
    made.answer(to.hello);
}

std::int32_t Module::poll(std::uint32_t) {
    hub_.run();
    if (!due_.empty()) owe_due();
    if (std::exchange(slept_, false)) {
        armed_.store(false, std::memory_order_relaxed);
        event_.clear();
    }
    if (!work_.load(std::memory_order_acquire)) return 0; // pairs with [work]
    std::vector<Link*> ready;
    {
        Lock hold(mutex_);
        work_.store(false, std::memory_order_relaxed);
        ready.swap(ready_);
    }
    std::int32_t handled = 0;
    for (Link* link : ready) {
        if (link->turn(handled)) remove(*link);
    }
    return handled;
}

// Each goes on with its turn, which sets the next time.
void Module::owe_due() {
    const auto now = Link::Clock::now();
    for (auto next = due_.begin(); next != due_.end() && next->first <= now; ++next) owe(*next->second);
}

void Module::set_due(Link& link, Link::Clock::time_point from, Link::Clock::time_point to) {
    if (from != Link::Clock::time_point::max()) due_.erase({from, &link});
    if (to != Link::Clock::time_point::max()) due_.emplace(to, &link);
}

std::int32_t Module::arm(std::uint64_t& sleep_ns) {
    slept_ = true;
    armed_.store(true, std::memory_order_seq_cst); // [armed]
    if (work_.load(std::memory_order_seq_cst)) return PLEXUS_AGAIN;
    std::chrono::nanoseconds next = hub_.time_left();
    if (!due_.empty())
        next = std::min<std::chrono::nanoseconds>(next, due_.begin()->first - Link::Clock::now());
    if (work_.load(std::memory_order_seq_cst)) return PLEXUS_AGAIN;
    if (next != std::chrono::nanoseconds::max())
        sleep_ns = std::min(sleep_ns, static_cast<std::uint64_t>(std::max<std::int64_t>(1, next.count())));
    return PLEXUS_OK;
}

void Module::owe(Link& link, std::atomic<bool>* flag) {
    {
        Lock hold(mutex_);
        if (flag != nullptr) flag->store(true, std::memory_order_relaxed);
        if (std::find(ready_.begin(), ready_.end(), &link) == ready_.end()) ready_.push_back(&link);
        work_.store(true, std::memory_order_seq_cst); // [work]
    }
    if (armed_.exchange(false, std::memory_order_seq_cst)) event_.wake(); // pairs with [armed]
}

Link& Module::add(std::unique_ptr<Link> link) {
    Link& made = *link;
    Lock hold(mutex_);
    links_.emplace(&made, std::move(link));
    return made;
}

void Module::remove(Link& link) {
    std::unique_ptr<Link> over; // ends outside of the lock
    Lock hold(mutex_);
    std::erase(ready_, &link);
    const auto found = links_.find(&link);
    over = std::move(found->second);
    links_.erase(found);
}

std::int32_t Module::query(const Link* link, plexus_query what, std::uint64_t& value) const {
    value = 0;
    switch (what) {
    case PLEXUS_QUERY_EAGER_BYTES:
        value = Sender::kEager;
        break;
    case PLEXUS_QUERY_LATENCY_NS:
        value = 100'000; // two hops of a method between hosts
        break;
    case PLEXUS_QUERY_BANDWIDTH_BPS:
        value = 100'000'000;
        break;
    case PLEXUS_QUERY_QUEUED_BYTES:
        if (link != nullptr) value = link->queued();
        break;
    case PLEXUS_QUERY_LINKS: {
        Lock hold(mutex_);
        value = links_.size();
        break;
    }
    case PLEXUS_QUERY_MAX_MESSAGE:
    case PLEXUS_QUERY_INLINE_BYTES:
    case PLEXUS_QUERY_SHARED_BYTES:
    case PLEXUS_QUERY_REMOTE_BYTES:
    case PLEXUS_QUERY_REFUSED:
    case PLEXUS_QUERY_DROPPED:
        break;
    }
    return PLEXUS_OK;
}

namespace {

constexpr plexus_parameter kParameters[] = {
    {"via", "list", "",
     "plexus://host:port of each context that relays to this one (forward.allow there), the preferred first"},
};
constexpr plexus_ops kOps = module::table_of<Module, Link, PLEXUS_CAP_SLEEP | PLEXUS_CAP_FRAGILE>();

} // namespace

const plexus_passport& passport() noexcept {
    static constexpr plexus_passport kPassport = {
        .magic = PLEXUS_ABI_MAGIC,
        .abi_major = PLEXUS_ABI_MAJOR,
        .abi_minor = PLEXUS_ABI_MINOR,
        .name = "forward",
        .help = "contexts that only another one reaches, which relays",
        .ops = &kOps,
        .parameters = kParameters,
        .parameter_count = std::size(kParameters),
        .parameter_size = sizeof(plexus_parameter),
    };
    return kPassport;
}

} // namespace plexus::forward
