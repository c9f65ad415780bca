// SPDX-License-Identifier: BSD-3-Clause
#include "module.h"

#include <plexus/module/table.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>

namespace pipes {
namespace {

constexpr std::size_t kMostStrangers = 128; // who have connected and not yet proved themselves
constexpr std::uint32_t kShare = 8;         // events of one link in one turn
constexpr std::uint32_t kMostNews = 32;     // sockets in one turn
constexpr std::uint64_t kSoonNs = 10'000'000;
constexpr auto kLastMoment = std::chrono::milliseconds(200); // for what was accepted, at the end

bool is_shortage(int error) {
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

} // namespace

std::int32_t Module::open() {
    if (!parse_queue(plexus::module::setting(host_, "queue"), queue_)) {
        log(PLEXUS_ERROR, kWantedQueue);
        return PLEXUS_BAD_CONFIG;
    }
    if (!Place::here(host_, here_)) {
        log(PLEXUS_ERROR, "the kernel does not tell which boot and which network this is: /proc is needed");
        return PLEXUS_UNSUPPORTED;
    }
    listening_ = here_.listen();
    if (!listening_ || !epoll_.open() || !epoll_.watch(listening_.get(), &listening_, EPOLLIN, true)) {
        log(PLEXUS_ERROR, std::string("no Unix socket can be listened on: ") + std::strerror(errno));
        return PLEXUS_UNSUPPORTED;
    }
    return PLEXUS_OK;
}

void Module::close() {
    closing_ = true;
    if (listening_) epoll_.unwatch(listening_.get());
    listening_ = Fd();
}

void Module::drain() {
    close();
    std::vector<Link*> links;
    {
        const std::lock_guard hold(mutex_);
        for (const auto& link : links_) links.push_back(link.get());
    }
    const auto until = std::chrono::steady_clock::now() + kLastMoment;
    for (;;) {
        bool left = false;
        for (Link* link : links) left |= link->flush();
        if (!left || std::chrono::steady_clock::now() >= until) break;
        ::poll(nullptr, 0, 1); // a millisecond for the others to read
    }
    for (Link* link : links) link->cut();
}

std::int32_t Module::describe(plexus_rows& rows) const {
    const std::string text = here_.text();
    return plexus::module::add_row(rows, "", plexus::module::view(text)); // one row needs no label
}

std::int32_t Module::applies(plexus_view descriptor, plexus_text& why) const {
    Place there;
    const char* reason =
        Place::read(descriptor, there) ? there.why_not_from(here_) : "the descriptor is damaged";
    if (reason == nullptr) return PLEXUS_OK;
    plexus::module::write(why, reason);
    return PLEXUS_NO_METHOD;
}

std::int32_t Module::connect(plexus_view descriptor, const plexus_id& peer, void* cookie, plexus_link** out) {
    Place there;
    if (!Place::read(descriptor, there)) return PLEXUS_BAD_ARGUMENT;
    if (there.why_not_from(here_) != nullptr) return PLEXUS_NO_METHOD;
    if (closing_) return PLEXUS_LINK_LOST;
    Link& link = add(std::make_unique<Link>(*this, there, peer, cookie));
    *out = reinterpret_cast<plexus_link*>(&link); // before a callback can come
    note(link);
    return PLEXUS_OK;
}

std::int32_t Module::query(const Link* link, plexus_query what, std::uint64_t& value) const {
    const std::lock_guard hold(mutex_);
    value = 0;
    switch (what) {
    case PLEXUS_QUERY_MAX_MESSAGE:
    case PLEXUS_QUERY_SHARED_BYTES:
    case PLEXUS_QUERY_REMOTE_BYTES:
    case PLEXUS_QUERY_REFUSED:
    case PLEXUS_QUERY_DROPPED:
        break;
    case PLEXUS_QUERY_INLINE_BYTES:
    case PLEXUS_QUERY_EAGER_BYTES:
        value = kEager;
        break;
    case PLEXUS_QUERY_LATENCY_NS:
        value = 5'000;
        break;
    case PLEXUS_QUERY_BANDWIDTH_BPS:
        value = 2'000'000'000;
        break;
    case PLEXUS_QUERY_QUEUED_BYTES:
        if (link != nullptr) value = link->queued_bytes();
        for (const auto& each : links_)
            if (link == nullptr) value += each->queued_bytes();
        break;
    case PLEXUS_QUERY_LINKS:
        for (const auto& each : links_) value += each->is_known() ? 1 : 0;
        break;
    default: // of a later version
        return PLEXUS_UNSUPPORTED;
    }
    return PLEXUS_OK;
}

std::int32_t Module::poll(std::uint32_t budget) {
    std::uint32_t handled = 0;
    const std::uint32_t share = std::clamp(budget, 1U, kShare);
    const std::vector<Link*> backlog = std::exchange(backlog_, {});
    for (Link* link : std::exchange(again_, {})) link->attend();
    if (short_ && listening_) short_ = !epoll_.watch(listening_.get(), &listening_, EPOLLIN, false);

    std::array<epoll_event, kMostNews> news;
    const std::size_t most = std::clamp(budget / kShare, 1U, kMostNews);
    for (const epoll_event& each : epoll_.look(std::span(news).first(most))) {
        if (each.data.ptr == nullptr) {
            attend_all();
            ++handled;
        } else if (each.data.ptr == &listening_) {
            handled += accept_some();
        } else {
            handled += static_cast<Link*>(each.data.ptr)->ready(each.events, share);
        }
    }
    for (Link* link : backlog) handled += link->read(share);
    if (!timed_.empty()) look_at_clock();
    if (any_dead_) free_dead_links();
    return static_cast<std::int32_t>(handled);
}

// Every socket stays readable until it has been read, and so does epoll's descriptor: there is
// no gap between a look and a sleep. Only what epoll does not see is left to say.
std::int32_t Module::arm(std::uint64_t& sleep_ns) const {
    if (!again_.empty() || short_) sleep_ns = std::min(sleep_ns, kSoonNs);
    for (const Link* link : timed_) {
        const auto left = std::max(link->until() - Link::Clock::now(), Link::Clock::duration::zero());
        sleep_ns = std::min(sleep_ns, static_cast<std::uint64_t>(std::chrono::nanoseconds(left).count()));
    }
    return backlog_.empty() ? PLEXUS_OK : PLEXUS_AGAIN;
}

void Module::note(Link& link) {
    {
        const std::lock_guard hold(mutex_);
        noted_.push_back(&link);
    }
    epoll_.wake();
}

void Module::attend_all() {
    epoll_.end_wake(); // before the notes
    std::vector<Link*> noted;
    {
        const std::lock_guard hold(mutex_);
        noted.swap(noted_);
    }
    for (Link* link : noted) link->attend();
}

void Module::look_at_clock() {
    const Link::Clock::time_point now = Link::Clock::now();
    for (Link* link : std::exchange(timed_, {}))
        if (!link->is_dead() && !link->expire(now)) timed_.push_back(link);
}

std::uint32_t Module::accept_some() {
    std::uint32_t handled = 0;
    while (listening_ && handled < kShare) {
        Fd socket(::accept4(listening_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
        if (!socket) {
            if (is_shortage(errno)) {
                if (!std::exchange(short_said_, true))
                    log(PLEXUS_WARN, std::string("nobody can be let in for now: ") + std::strerror(errno));
                short_ = epoll_.watch(listening_.get(), &listening_, 0, false);
            }
            break;
        }
        ++handled;
        short_said_ = false;
        if (!is_our_user(socket)) continue;

        Link* oldest = nullptr; // a stranger who says nothing must not keep others out
        {
            const std::lock_guard hold(mutex_);
            const auto is_stranger = [](const auto& link) { return !link->is_known() && !link->is_dead(); };
            const auto first = std::find_if(links_.begin(), links_.end(), is_stranger);
            if (std::count_if(first, links_.end(), is_stranger) >= static_cast<long>(kMostStrangers))
                oldest = first->get();
        }
        if (oldest != nullptr) oldest->lose(PLEXUS_DENIED, "it was silent, and others want in");
        const int fd = socket.get();
        Link& link = add(std::make_unique<Link>(*this, std::move(socket)));
        link.wait_at_most(kPatience);
        if (!epoll_.watch(fd, &link, EPOLLIN, true)) link.lose(PLEXUS_LINK_LOST, std::strerror(errno));
    }
    return handled;
}

Link& Module::add(std::unique_ptr<Link> link) {
    const std::lock_guard hold(mutex_);
    return *links_.emplace_back(std::move(link));
}

// At the end of a turn, when no list of this turn names them.
void Module::free_dead_links() {
    any_dead_ = false;
    const auto is_dead = [](const auto& link) { return link->is_dead(); };
    std::erase_if(backlog_, is_dead);
    std::erase_if(again_, is_dead);
    std::erase_if(timed_, is_dead);
    const std::lock_guard hold(mutex_);
    std::erase_if(noted_, is_dead);
    std::erase_if(links_, is_dead);
}

std::int32_t Module::make(const plexus_host& host, std::unique_ptr<Module>& made) {
    made = std::make_unique<Module>(host);
    return made->open();
}

namespace {

constexpr plexus_ops kOps = plexus::module::table_of<Module, Link, PLEXUS_CAP_SLEEP | PLEXUS_CAP_LOCAL>();

constexpr plexus_parameter kParameters[] = {
    {"queue", "count", "256", "messages that one link may have waiting for its socket"},
};

} // namespace
} // namespace pipes

PLEXUS_PASSPORT(pipe) = {
    .magic = PLEXUS_ABI_MAGIC,
    .abi_major = PLEXUS_ABI_MAJOR,
    .abi_minor = PLEXUS_ABI_MINOR,
    .name = "pipe",
    .help = "processes of one user on this host, by Unix sockets",
    .ops = &pipes::kOps,
    .parameters = pipes::kParameters,
    .parameter_count = std::size(pipes::kParameters),
    .parameter_size = sizeof(plexus_parameter),
};
