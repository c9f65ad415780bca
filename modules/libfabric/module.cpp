// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/module.h"

#include "plexus/module/table.h"

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <system_error>

namespace plexus::libfabric {
namespace {

// Guesses, until links measure: a fabric, a network of the kernel's, memory of one host.
struct Speed {
    std::uint64_t latency_ns;
    std::uint64_t bytes_per_second;
};
Speed guess(const Address& address) {
    if (address.reach == Reach::host) return {700, 10'000'000'000};
    const std::string_view core = core_of(address.provider);
    if (core == "tcp" || core == "net" || core == "udp" || core == "sockets") return {25'000, 1'250'000'000};
    return {2'000, 12'000'000'000};
}

ByteView bytes_of(plexus_view view) { return {static_cast<const std::byte*>(view.data), view.size}; }

} // namespace

std::int32_t Module::make(const plexus_host& host, std::unique_ptr<Module>& made) {
    auto options = read_options(host);
    if (!options) return PLEXUS_BAD_CONFIG;
    made = std::make_unique<Module>(host, std::move(*options));
    return made->open();
}

Module::Module(const plexus_host& host, Options options)
  : host_(host)
  , options_(std::move(options)) {}

Module::~Module() {
    for (Link* const link : slots_) delete link;
    for (Link* const link : strays_) delete link;
    for (const Note& one : notes_)
        if (one.what == Note::What::connect) delete one.link;
}

std::int32_t Module::open() {
    const auto refuse = [&](std::int32_t status, const std::string& text) {
        host_.log(host_.self, PLEXUS_ERROR, text.c_str());
        return status;
    };
    self_.where = module::surroundings();
    self_.user = ::geteuid();
    struct stat shared {};
    if (::stat("/dev/shm", &shared) == 0) self_.shared_folder = shared.st_dev;

    Offers found = offers(options_);
    if (!found.unknown.empty()) return refuse(PLEXUS_BAD_CONFIG, found.unknown.front());
    for (Info& info : found.chosen) {
        std::string why;
        auto port = Port::open(host_, std::move(info), options_, why);
        if (port != nullptr) {
            addresses_.push_back(port->address());
            ports_.push_back(std::move(port));
        } else {
            found.missing.push_back(std::move(why));
        }
    }
    std::string missing;
    for (const std::string& one : found.missing) missing += (missing.empty() ? "" : "; ") + one;
    if (ports_.empty()) return refuse(PLEXUS_UNSUPPORTED, missing);
    if (!missing.empty()) host_.log(host_.self, PLEXUS_INFO, missing.c_str());

    const auto system_error = [](int error) { return std::system_category().message(error); };
    if (const int error = page_.open(host_); error != 0)
        return refuse(PLEXUS_UNSUPPORTED, "no shared memory can be made: " + system_error(error));
    self_.bell = page_.bell();
    epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
    const auto watch = [&](int fd, std::uint64_t tag) {
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.u64 = tag;
        return ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
    };
    bool watched = epoll_ && watch(page_.ring_fd(), kRing);
    for (const auto& port : ports_)
        if (port->wait_fd() >= 0) watched = watched && watch(port->wait_fd(), kQueue);
    if (!watched)
        return refuse(PLEXUS_UNSUPPORTED, "no descriptor to sleep on can be made: " + system_error(errno));
    return PLEXUS_OK;
}

void Module::close() { closing_.store(true, std::memory_order_relaxed); }

// What the peers have yet to take: messages that are not read, parts and goodbyes that are not sent.
bool Module::under_way() const {
    for (const Link* const link : slots_)
        if (link != nullptr && !link->port.is_shut() && !link->bereaved && !link->farewell &&
            !link->opening() && link->state != Link::State::failing && !link->idle())
            return true;
    return false;
}

// Nothing else runs in the module. What arrives is not delivered any more, but for what ends
// our own sends.
void Module::drain() {
    close();
    (void)take_notes();
    draining_ = true;
    const auto turn = [&] {
        (void)take_notes(); // our own: of what found no room
        (void)carry();
        for (const auto& port : ports_) {
            std::array<Port::Completion, Port::kBatch> news;
            std::size_t count = 0;
            while ((count = port->poll(news.data(), news.size())) > 0)
                for (std::size_t i = 0; i < count; ++i) {
                    if (news[i].op != nullptr && news[i].op->what == Op::What::fetch)
                        news[i].op->link->read_is_over();
                    (void)take(*port, news[i]);
                }
        }
        hear_events();
    };
    const auto wait_until = [&](Clock::time_point until) {
        turn();
        while (under_way() && Clock::now() < until) {
            (void)::poll(nullptr, 0, 1); // a millisecond for the others
            turn();
        }
    };
    wait_until(Clock::now() + options_.linger);
    for (Link* const link : slots_) {
        if (link == nullptr || link->peer_slot == kNoSlot || link->farewell || link->bereaved) continue;
        if (link->state != Link::State::over) (void)link->say(Kind::bye);
    }
    // A few turns for the goodbyes, also where the time is up, and no more: who misses one
    // notices in another way.
    wait_until(Clock::now() + std::chrono::milliseconds(100));
    for (const auto& port : ports_) port->shut();
    for (Link* const link : slots_)
        if (link != nullptr) link->end_everything();
    wishing_.clear();
    carrying_.clear();
    ending_.clear();
    drained_ = true;
    for (std::size_t i = 0; i < slots_.size(); ++i)
        if (Link* const link = slots_[i]; link != nullptr && (link->given_up() || link->cookie == nullptr))
            free(*link);
}

Descriptor Module::descriptor_of(const Port& port) const {
    Descriptor out = self_;
    out.address = port.address();
    return out;
}

// Whoever names several providers has a row for each, whatever is usable today.
std::int32_t Module::describe_row(std::uint32_t row, plexus_text& label, plexus_text& out) const {
    if (row >= ports_.size()) return PLEXUS_NO_METHOD;
    label.size = 0;
    if (options_.providers.size() > 1) module::write(label, core_of(addresses_[row].provider));
    const Bytes bytes = descriptor_of(*ports_[row]).encode();
    if (out.capacity < bytes.size()) return PLEXUS_TOO_LARGE;
    std::memcpy(out.data, bytes.data(), bytes.size());
    out.size = bytes.size();
    return PLEXUS_OK;
}

std::uint32_t Module::row_of(const Port& port) const noexcept {
    const auto found =
        std::find_if(ports_.begin(), ports_.end(), [&](const auto& each) { return each.get() == &port; });
    return static_cast<std::uint32_t>(found - ports_.begin());
}

std::int32_t Module::describe(plexus_text& out) const {
    plexus_text no_label{};
    return describe_row(0, no_label, out);
}

std::int32_t Module::applies(plexus_view descriptor, plexus_text& why) const {
    const auto there = Descriptor::decode(bytes_of(descriptor));
    std::string reason = "the descriptor is damaged, or of another version";
    const auto mine = there ? choose(self_, addresses_, *there, reason) : std::nullopt;
    if (mine && !ports_[*mine]->is_shut()) return PLEXUS_OK;
    if (mine) reason = ports_[*mine]->end().why;
    module::write(why, reason);
    return PLEXUS_NO_METHOD;
}

std::int32_t Module::connect(plexus_view descriptor, const plexus_id& peer, void* cookie, plexus_link** out) {
    auto there = Descriptor::decode(bytes_of(descriptor));
    if (!there) return PLEXUS_BAD_ARGUMENT;
    std::string why;
    const auto mine = choose(self_, addresses_, *there, why);
    if (!mine) return PLEXUS_NO_METHOD;
    if (closing()) return PLEXUS_LINK_LOST;
    auto* const link = new Link(*this, *ports_[*mine], cookie, peer, std::move(*there));
    *out = reinterpret_cast<plexus_link*>(link); // before a callback can come
    note(Note::What::connect, *link);
    return PLEXUS_OK;
}

std::int32_t Module::query(const Link* link, plexus_query what, std::uint64_t& value) const {
    const Port& port = link != nullptr ? link->port : *ports_.front();
    switch (what) {
    case PLEXUS_QUERY_MAX_MESSAGE:
        value = 0;
        return PLEXUS_OK;
    case PLEXUS_QUERY_REMOTE_BYTES:
        value = 0;
        return PLEXUS_OK;
    case PLEXUS_QUERY_SHARED_BYTES:
        value = link == nullptr ? PageLayout::kBytes : 0;
        return PLEXUS_OK;
    case PLEXUS_QUERY_INLINE_BYTES:
        value = port.inline_bytes();
        return PLEXUS_OK;
    case PLEXUS_QUERY_EAGER_BYTES:
        value = port.eager();
        if (link == nullptr)
            for (const auto& each : ports_) value = std::min<std::uint64_t>(value, each->eager());
        return PLEXUS_OK;
    case PLEXUS_QUERY_LATENCY_NS:
        value = guess(port.address()).latency_ns;
        return PLEXUS_OK;
    case PLEXUS_QUERY_BANDWIDTH_BPS:
        value = guess(port.address()).bytes_per_second;
        return PLEXUS_OK;
    case PLEXUS_QUERY_QUEUED_BYTES: {
        value = 0;
        if (link != nullptr) {
            value = link->queued_bytes();
            return PLEXUS_OK;
        }
        const module::Lock hold(books_);
        for (const Link* const each : slots_)
            if (each != nullptr) value += each->queued_bytes();
        return PLEXUS_OK;
    }
    case PLEXUS_QUERY_LINKS:
        value = link_count_.load(std::memory_order_relaxed);
        return PLEXUS_OK;
    }
    return PLEXUS_UNSUPPORTED;
}

const plexus_ops kOps = module::table_with_rows_of<Module, Link>(PLEXUS_CAP_SLEEP | PLEXUS_CAP_FRAGILE);

} // namespace plexus::libfabric
