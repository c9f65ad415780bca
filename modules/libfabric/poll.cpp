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
    for (std::size_t i = 0; i < ports_.size(); ++i) { // each is the first at times, and has all the budget
        Port& port = *ports_[(turn_ + i) % ports_.size()];
        std::array<Port::Completion, Port::kBatch> news;
        while (handled < budget) {
            const std::size_t most = std::min<std::size_t>(Port::kBatch, budget - handled);
            const std::size_t count = port.poll(news.data(), most);
            for (std::size_t j = 0; j < count; ++j) // before a callback gives up a link that has one
                if (news[j].op != nullptr && news[j].op->what == Op::What::fetch)
                    news[j].op->link->read_is_over();
            for (std::size_t j = 0; j < count; ++j) handled += take(port, news[j]);
            if (count < most) break;
        }
        if (port.is_shut() && !port.end_is_known) handled += tell_end(port);
    }
    if (!carrying_.empty()) handled += carry();
    if (!wishing_.empty()) handled += grant_wishes();
    if (!ending_.empty()) handled += see_to_endings();
    return static_cast<std::int32_t>(handled);
}

// Its links end with it, and no others come: applies() says why.
std::uint32_t Module::tell_end(Port& port) {
    port.end_is_known = true;
    if (port.wait_fd() >= 0) (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, port.wait_fd(), nullptr);
    const Port::End end = port.end();
    host_.log(host_.self, end.failed ? PLEXUS_WARN : PLEXUS_INFO,
              (end.why + "; its links are lost, and this context does not use it any more").c_str());
    for (Link* const link : slots_)
        if (link != nullptr && &link->port == &port) link->lose(PLEXUS_LINK_LOST, end.why);
    return 1;
}

std::uint32_t Module::take(Port& port, Port::Completion& news) {
    if (news.op == nullptr) {
        if (news.error.empty()) return 1;
        host_.log(host_.self, PLEXUS_DEBUG, ("an operation failed: " + news.error).c_str());
        for (Link* const link : slots_)
            if (link != nullptr && &link->port == &port) link->doubt_reading(news.error);
        return 1;
    }
    Op& op = *news.op;
    switch (op.what) {
    case Op::What::receive: {
        auto& buffer = static_cast<Buffer&>(op);
        buffer.size = news.size;
        if (!news.error.empty())
            host_.log(host_.self, PLEXUS_DEBUG, ("a message was not received: " + news.error).c_str());
        if (!news.error.empty() || news.size < kHeaderBytes) {
            port.recycle(buffer);
            return 1;
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
        if (link->opening() || link->state == Link::State::over) {
            if (now < link->next_try) {
                carrying_.push_back(link);
                continue;
            }
            link->next_try = now + std::clamp((now - link->heard) / 4, kSoon, kSeldom);
        }
        bool done = false;
        handled += link->carry_on(done) ? 1 : 0;
        if (!done) carrying_.push_back(link);
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
        link->see_to_doubts(now_);
        if (link->state == Link::State::connecting && now_ >= link->deadline) {
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

} // namespace plexus::libfabric
