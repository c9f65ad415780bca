// SPDX-License-Identifier: BSD-3-Clause
// The turn: notes of other threads, then each provider's completions, now and then the clock
// and the kernel. An idle turn reads one flag and asks each provider once.
#include "libfabric/module.h"

#include <algorithm>
#include <sys/epoll.h>

namespace plexus::libfabric {
namespace {

constexpr std::uint32_t kTurnsBetweenLooks = 128;
constexpr std::uint32_t kTurnsBetweenRetries = 16;
constexpr std::uint32_t kSilentTurns = 4; // after the end of a process its last words are read
// How long the host may sleep while no descriptor tells the news.
constexpr std::uint64_t kHurryNs = 50'000;
constexpr std::uint64_t kShortNs = 1'000'000;
constexpr std::uint64_t kLongNs = 200'000'000;

// Between two tries to reach a peer that does not answer.
constexpr Clock::duration kSoon = std::chrono::microseconds(20);
constexpr Clock::duration kSeldom = std::chrono::milliseconds(20);

} // namespace

std::int32_t Module::poll(std::uint32_t budget) {
    if (std::exchange(slept_, false)) {
        page_.announce_sleep(false);
        until_look_ = 1;
        const module::Lock hold(notes_mutex_);
        armed_ = false;
    }
    ++turn_;
    std::uint32_t handled = 0;
    if (any_noted_.load(std::memory_order_relaxed)) handled += take_notes(); // [noted]
    if (--until_look_ == 0) handled += look_around();
    for (const auto& port : ports_) {
        std::array<Port::Completion, Port::kBatch> news;
        while (handled < budget) {
            const std::size_t most = std::min<std::size_t>(Port::kBatch, budget - handled);
            const std::size_t count = port->poll(news.data(), most);
            for (std::size_t i = 0; i < count; ++i) // before a callback gives up a link that has one
                if (news[i].op != nullptr && news[i].op->what == Op::What::fetch)
                    news[i].op->link->read_is_over();
            for (std::size_t i = 0; i < count; ++i) handled += take(*port, news[i]);
            if (count < most) break;
        }
    }
    if (!carrying_.empty()) handled += carry();
    if (!wishing_.empty()) handled += grant_wishes();
    if (!ending_.empty()) handled += see_to_endings();
    return static_cast<std::int32_t>(handled);
}

std::uint32_t Module::take(Port& port, Port::Completion& news) {
    if (news.op == nullptr) {
        if (!news.error.empty()) host_.log(host_.self, PLEXUS_DEBUG, news.error.c_str());
        return 0;
    }
    Op& op = *news.op;
    switch (op.what) {
    case Op::What::receive: {
        auto& buffer = static_cast<Buffer&>(op);
        buffer.size = news.size;
        if (!news.error.empty() || news.size < kHeaderBytes) {
            port.recycle(buffer);
            return 0;
        }
        receive(port, buffer);
        return 1;
    }
    case Op::What::send: {
        auto& buffer = static_cast<Buffer&>(op);
        Link& link = *buffer.link;
        port.recycle(buffer);
        link.send_over(news.error);
        return 1;
    }
    case Op::What::fetch:
        op.link->fetch_over(op, news.error);
        return 1;
    }
    return 0;
}

void Module::receive(Port& port, Buffer& buffer) {
    const Header header = read_header(buffer.data);
    const ByteView body(buffer.data + kHeaderBytes, buffer.size - kHeaderBytes);
    bool kept = false;
    if (header.kind == Kind::hello) {
        take_hello(port, body); // closed: it is dropped
    } else if (Link* const link = header.slot < slots_.size() ? slots_[header.slot] : nullptr;
               link != nullptr && link->token == header.token && &link->port == &port) {
        switch (link->state) {
        case Link::State::connecting:
            if (header.kind == Kind::answer && !draining_) take_answer(*link, body);
            break;
        case Link::State::greeting:
            if (header.kind == Kind::confirm && !draining_) take_confirm(*link, body);
            if (header.kind == Kind::bye) link->lose(PLEXUS_LINK_LOST, "it left");
            break;
        case Link::State::open:
        case Link::State::leaving:
            kept = link->arrived(header, buffer);
            break;
        case Link::State::failing:
        case Link::State::over:
            break;
        }
    } // others are late, or were never ours
    if (!kept) port.recycle(buffer);
}

void Module::note(Note::What what, Link& link) {
    const module::Lock hold(notes_mutex_);
    notes_.push_back({what, &link});
    any_noted_.store(true, std::memory_order_relaxed); // [noted]
    wake_up();
}

void Module::note_wish(Link& link) {
    if (!std::exchange(link.wishes, true)) note(Note::What::wish, link);
}

void Module::note_carrying(Link& link) {
    if (!std::exchange(link.wants_carrying, true)) note(Note::What::carry, link);
}

void Module::note_broken(Link& link) { note(Note::What::broken, link); }

std::uint32_t Module::take_notes() {
    std::vector<Note> notes;
    {
        const module::Lock hold(notes_mutex_);
        notes.swap(notes_);
        any_noted_.store(false, std::memory_order_relaxed);
    }
    now_ = Clock::now();
    // A link is freed at the end of a turn at the earliest, so all of these are there.
    for (const Note& one : notes) {
        Link& link = *one.link;
        switch (one.what) {
        case Note::What::connect:
            begin(link);
            break;
        case Note::What::give_up:
            leave(link);
            break;
        case Note::What::wish:
            wishing_.push_back(&link);
            break;
        case Note::What::carry:
            carrying_.push_back(&link);
            break;
        case Note::What::broken: {
            std::string why;
            {
                const module::Lock hold(link.port.mutex());
                why = link.why_broken;
            }
            link.lose(PLEXUS_LINK_LOST, std::move(why));
            break;
        }
        }
    }
    return static_cast<std::uint32_t>(notes.size());
}

std::uint32_t Module::carry() {
    std::uint32_t handled = 0;
    std::vector<Link*> carrying;
    carrying.swap(carrying_);
    const auto now = Clock::now();
    for (Link* const link : carrying) {
        // Asked for a connection again and again, a provider tries one each time: ever more seldom.
        if (link->opening()) {
            if (now < link->next_try) {
                carrying_.push_back(link);
                continue;
            }
            link->next_try = now + std::clamp((now - link->heard) / 4, kSoon, kSeldom);
        }
        bool done = false;
        handled += link->carry_on(done) ? 1 : 0;
        if (link->fetch_more()) done = false;
        if (!done && link->state != Link::State::over) carrying_.push_back(link);
    }
    return handled;
}

std::uint32_t Module::grant_wishes() {
    std::uint32_t handled = 0;
    std::vector<Link*> wishing;
    wishing.swap(wishing_);
    const bool retry = turn_ % kTurnsBetweenRetries == 0;
    for (Link* const link : wishing) {
        if (!link->has_room(retry)) {
            wishing_.push_back(link);
        } else if (link->state == Link::State::open && !link->given_up()) {
            ++handled;
            host_.writable(link->cookie);
        }
    }
    return handled;
}

std::uint32_t Module::look_around() {
    until_look_ = kTurnsBetweenLooks;
    now_ = Clock::now();
    hear_events();
    return check_times();
}

void Module::hear_events() {
    std::array<epoll_event, 64> events;
    const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
    for (int i = 0; i < count; ++i) {
        const std::uint64_t tag = events[static_cast<std::size_t>(i)].data.u64;
        if (tag == kRing) page_.silence();
        if (tag < kPeer) continue;
        Link* const link = slots_[static_cast<std::size_t>(tag - kPeer)];
        if (link == nullptr || link->bereaved) continue;
        link->bereaved = true;
        (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, link->page.process_fd(), nullptr);
        begin_ending(*link);
    }
}

std::uint32_t Module::see_to_endings() {
    std::uint32_t handled = 0;
    std::vector<Link*> ending;
    ending.swap(ending_);
    for (Link* const link : ending) {
        if (link->bereaved && ++link->silent == kSilentTurns) {
            link->lose(PLEXUS_LINK_LOST, "the peer's process has ended");
            ++handled;
        }
        if (!try_to_end(*link)) ending_.push_back(link);
    }
    return handled;
}

std::uint32_t Module::check_times() {
    std::uint32_t handled = 0;
    const auto dead_after = options_.dead_after;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
        Link* const link = slots_[i];
        if (link == nullptr) continue;
        if (link->port.is_shut() && link->state != Link::State::failing && link->state != Link::State::over) {
            link->lose(PLEXUS_LINK_LOST, "the endpoint had to be closed to end a read that would not end");
        } else if (link->state == Link::State::connecting && now_ >= link->deadline) {
            link->lose(PLEXUS_LINK_LOST,
                       "the peer did not answer within connect_timeout: it is not there, or "
                       "does not hold this job's key");
        } else if (link->state == Link::State::greeting && now_ >= link->deadline) {
            link->lose(PLEXUS_LINK_LOST, "it was silent for longer than handshake_timeout");
        } else if (link->state == Link::State::open && !link->page.is_open() && dead_after.count() > 0) {
            const auto silent = now_ - link->heard;
            if (silent >= dead_after) {
                link->lose(PLEXUS_LINK_LOST, "the peer has not answered for so long as dead_after says");
            } else if (silent >= dead_after / 3 && !link->asked) {
                link->asked = true;
                (void)link->say(Kind::ping);
            } else {
                continue;
            }
        } else {
            continue;
        }
        ++handled;
    }
    return handled;
}

void Module::wake_up() {
    if (std::exchange(armed_, false)) page_.ring_own();
}

std::int32_t Module::arm(std::uint64_t& sleep_ns) {
    {
        const module::Lock hold(notes_mutex_);
        if (any_noted_.load(std::memory_order_relaxed)) return PLEXUS_AGAIN;
        armed_ = true;
    }
    slept_ = true;
    page_.announce_sleep(true);
    for (const auto& port : ports_) {
        if (port->is_shut()) continue;
        if (port->wait_fd() >= 0 ? !port->may_sleep() : port->look()) return PLEXUS_AGAIN;
        if (port->wait_fd() < 0) sleep_ns = std::min(sleep_ns, port->under_way() ? kHurryNs : kLongNs);
    }
    if (!carrying_.empty() || !ending_.empty()) sleep_ns = std::min(sleep_ns, kShortNs);
    for (const Link* const link : wishing_)
        if (link->stalled) sleep_ns = std::min(sleep_ns, kHurryNs);
    for (const Link* const link : slots_) {
        if (link == nullptr) continue;
        const bool unheard =
            link->port.wait_fd() < 0 && !link->peer_rings && link->state == Link::State::open;
        const bool watched = link->page.is_open() || options_.dead_after.count() == 0;
        if (unheard) sleep_ns = std::min(sleep_ns, kShortNs);
        if (link->opening()) sleep_ns = std::min(sleep_ns, kLongNs / 10);
        if (!watched)
            sleep_ns = std::min(sleep_ns, static_cast<std::uint64_t>(options_.dead_after.count()) / 6);
    }
    return PLEXUS_OK;
}

} // namespace plexus::libfabric
