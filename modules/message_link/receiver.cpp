// SPDX-License-Identifier: BSD-3-Clause
#include "message_link/receiver.h"

#include "message_link/engine.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace plexus::message_link {
namespace {

constexpr std::uint32_t kMostFetches = 8;              // of one link at a time
constexpr auto kMostSuspect = std::chrono::seconds(1); // without a fetch that ends

} // namespace

Receiver::~Receiver() = default;

bool Receiver::goes_on() const { return is_alive(link_.state) && !link_.engine.is_draining(); }

bool Receiver::arrived(Message& message) {
    const bool is_bye = message.header.kind == Kind::bye;
    if (link_.engine.is_draining()) { // the host takes nothing any more
        bye_ = bye_ || is_bye;
        return false;
    }
    if (is_bye ? std::exchange(bye_, true) : !link_.credit.arrive(link_.mine.window)) {
        link_.lose(PLEXUS_LINK_LOST, "the peer sent more than it was allowed");
        return false;
    }
    const std::uint16_t number = message.header.number;
    const auto place = order_.place(number);
    const bool early = place == ReceiveOrder<Message*>::Place::early;
    if (place == ReceiveOrder<Message*>::Place::wrong || (early && link_.port.traits().keeps_order)) {
        link_.lose(PLEXUS_LINK_LOST,
                   "messages were lost or came out of order on their way through " + link_.port.name());
        return false;
    }
    if (early || is_opening(link_.state)) {
        order_.keep(number, &message);
        return true;
    }
    order_.pass();
    const bool kept = accept(message);
    if (order_.has_early()) hand_over_early();
    return kept;
}

void Receiver::open() { hand_over_early(); }

void Receiver::hand_over_early() {
    while (goes_on()) {
        const auto next = order_.take();
        if (!next) return;
        if (!accept(**next)) link_.port.recycle(**next);
    }
}

// A part belongs to the landing before it. Everything else waits for landings, except that several large
// messages may land at a time. Parts that have not come before the goodbye do not come any more.
bool Receiver::is_blocked(Kind kind) const {
    if (landings_.empty()) return false;
    const bool in_parts = landings_.front()->in_parts;
    if (kind == Kind::part || kind == Kind::bye) return !in_parts;
    const bool large = kind == Kind::announced || kind == Kind::carried;
    return in_parts || !large || landings_.size() >= link_.port.traits().most_landings;
}

bool Receiver::accept(Message& message) {
    if (!queue_.empty() || is_blocked(message.header.kind)) {
        queue_.push_back(&message);
        return true;
    }
    hand_over(message);
    return false;
}

// A large message that is dropped is over at once, which asks for the rest of the queue again: the
// first call goes through it alone, however long it is.
void Receiver::hand_over_queue() {
    if (std::exchange(in_queue_, true)) return;
    while (!queue_.empty() && goes_on() && !is_blocked(queue_.front()->header.kind)) {
        Message& next = *queue_.front();
        queue_.pop_front();
        hand_over(next);
        link_.port.recycle(next);
    }
    in_queue_ = false;
}

void Receiver::hand_over(Message& message) {
    const ByteView body(message.body, message.size);
    switch (message.header.kind) {
    case Kind::message:
        if (!link_.is_given_up()) link_.host().deliver(link_.cookie, {body.data(), body.size()});
        return count_taken();
    case Kind::announced:
        return begin_announced(body);
    case Kind::part:
        return take_part(body);
    case Kind::carried:
        return begin_carried(message);
    case Kind::bye:
        return link_.lose(PLEXUS_LINK_LOST, "the peer closed the connection");
    default:
        return;
    }
}

// Tells the peer now and then, if nothing goes there that would say it by itself.
void Receiver::count_taken() {
    if (link_.credit.take(link_.mine.window)) link_.say(Kind::credit);
}

Receiver::Landing* Receiver::begin(ByteView head, std::uint64_t rest) {
    auto landing = std::make_unique<Landing>();
    landing->rest = rest;
    void* where = nullptr;
    const bool taken = !link_.is_given_up() && link_.host().place(link_.cookie, {head.data(), head.size()},
                                                                  static_cast<std::size_t>(rest), &where,
                                                                  &landing->token) == PLEXUS_OK;
    if (taken) landing->where = static_cast<std::byte*>(where);
    landings_.push_back(std::move(landing));
    return landings_.back().get();
}

void Receiver::begin_announced(ByteView body) {
    const auto note = Announcement::read(body);
    Fetching* const fetching = link_.port.fetching();
    if (!note || note->rest == 0 || (note->count > 0 && fetching == nullptr))
        return link_.lose(PLEXUS_LINK_LOST, "the peer announced a message that makes no sense");
    Landing& landing = *begin({note->head.data(), note->head_size}, note->rest);
    landing.in_parts = note->count == 0;
    if (landing.in_parts) return;
    landing.fetch = std::make_unique<Fetch>();
    Fetch& fetch = *landing.fetch;
    fetch.note = *note;
    if (landing.where == nullptr) {
        landing.over = true;
        return finish_landed();
    }
    std::string why;
    Outcome outcome = PLEXUS_OK;
    {
        const Hold hold(link_.port.lock);
        outcome = fetching->prepare(landing.where, static_cast<std::size_t>(note->rest), fetch.memory,
                                    fetch.handle, why);
    }
    if (outcome == PLEXUS_OK) return fetch_more();
    link_.lose(PLEXUS_LINK_LOST, "memory for a message could not be registered: " + why);
}

// Asks for as much as there is room for; called again whenever a fetch is over.
void Receiver::fetch_more() {
    if (landings_.empty() || landings_.front()->fetch == nullptr || landings_.front()->where == nullptr ||
        link_.state != Link::State::open || !goes_on())
        return;
    Landing& landing = *landings_.front();
    Fetch& fetch = *landing.fetch;
    Fetching& fetching = *link_.port.fetching();
    Outcome outcome = PLEXUS_POSTED;
    std::string why;
    {
        const Hold hold(link_.port.lock);
        while (fetch.stretch < fetch.note.count && writes_.load(std::memory_order_relaxed) < kMostFetches &&
               !link_.is_given_up()) {
            Stretch from = fetch.note.stretches[fetch.stretch];
            const std::uint64_t left = from.size - fetch.offset;
            if (left == 0) {
                ++fetch.stretch;
                fetch.offset = 0;
                continue;
            }
            const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left, fetching.most_bytes()));
            from.address += fetch.offset;
            outcome =
                fetching.fetch(*link_.peer(), landing.where + fetch.asked, size, fetch.handle, from, why);
            if (outcome != PLEXUS_POSTED) break;
            fetch.asked += size;
            fetch.offset += size;
            writes_.fetch_add(1, std::memory_order_relaxed); // [writes]
        }
        unread_ = outcome == PLEXUS_AGAIN;
        if (unread_) link_.engine.note_carrying(link_);
    }
    // The placement is ended with the link, when none of its fetches is under way any more.
    if (outcome != PLEXUS_POSTED && outcome != PLEXUS_AGAIN)
        link_.lose(PLEXUS_LINK_LOST, "a message could not be read from the peer's memory: " + why);
}

void Receiver::fetched(std::uint64_t bytes, const std::string& why) {
    if (landings_.empty() || landings_.front()->fetch == nullptr) return;
    Landing& landing = *landings_.front();
    if (!why.empty())
        return link_.lose(PLEXUS_LINK_LOST, "a message could not be read from the peer's memory: " + why);
    landing.landed += bytes;
    landing.fetch->suspect_until = Clock::now() + kMostSuspect;
    landing.over = landing.landed == landing.rest;
    if (landing.over) return finish_landed();
    fetch_more();
}

void Receiver::suspect_read(const std::string& why) {
    if (landings_.empty() || landings_.front()->fetch == nullptr || !is_writing()) return;
    landings_.front()->fetch->suspicion = why;
    landings_.front()->fetch->suspect_until = Clock::now() + kMostSuspect;
}

bool Receiver::is_suspect() const {
    return !landings_.empty() && landings_.front()->fetch != nullptr &&
           !landings_.front()->fetch->suspicion.empty();
}

void Receiver::check_suspect(Clock::time_point now) {
    if (!is_suspect() || now < landings_.front()->fetch->suspect_until) return;
    link_.lose(PLEXUS_LINK_LOST,
               "a message could not be read from the peer's memory: " + landings_.front()->fetch->suspicion);
}

void Receiver::take_part(ByteView body) {
    if (landings_.empty() || !landings_.front()->in_parts ||
        body.size() > landings_.front()->rest - landings_.front()->landed)
        return link_.lose(PLEXUS_LINK_LOST, "the peer sent a part of no message");
    Landing& landing = *landings_.front();
    if (landing.where != nullptr && !body.empty())
        (void)placed_.try_write(
            [&] { std::memcpy(landing.where + landing.landed, body.data(), body.size()); });
    landing.landed += body.size();
    landing.over = landing.landed == landing.rest;
    count_taken(); // the announcement is counted when all is there
    if (landing.over) finish_landed();
}

void Receiver::begin_carried(Message& message) {
    Carrying* const carrying = link_.port.carrying();
    if (carrying == nullptr || message.rest == 0)
        return link_.lose(PLEXUS_LINK_LOST, "the peer sent a message that makes no sense");
    Landing& landing = *begin({message.body, message.size}, message.rest);
    landing.over = true;
    if (landing.where != nullptr && message.data != nullptr) {
        (void)placed_.try_write(
            [&] { std::memcpy(landing.where, message.data, static_cast<std::size_t>(message.rest)); });
    } else if (landing.where != nullptr) {
        const Hold hold(link_.port.lock);
        Outcome outcome = PLEXUS_MESSAGE_LOST;
        writes_.fetch_add(1, std::memory_order_relaxed); // [writes]
        if (!link_.is_given_up())
            outcome = carrying->receive(*link_.peer(), message, landing.where, &landing);
        landing.over = outcome != PLEXUS_POSTED;
        if (landing.over) writes_.fetch_sub(1, std::memory_order_relaxed);
        if (landing.over && outcome != PLEXUS_OK) landing.status = PLEXUS_MESSAGE_LOST;
    }
    if (landings_.size() == 1) finish_landed();
}

void Receiver::landed(void* token, std::int32_t status) {
    for (const auto& each : landings_) {
        if (each.get() != token) continue;
        each->over = true;
        each->status = status == PLEXUS_OK ? PLEXUS_OK : PLEXUS_MESSAGE_LOST;
    }
    finish_landed();
}

void Receiver::finish_landed() {
    while (!landings_.empty() && landings_.front()->over && goes_on()) finish_first();
    hand_over_queue();
}

// Everything of a large message is there, or dropped.
void Receiver::finish_first() {
    const std::unique_ptr<Landing> over = std::move(landings_.front());
    landings_.pop_front();
    if (over->fetch != nullptr) {
        {
            const Hold hold(link_.port.lock);
            over->fetch->memory.reset();
        }
        const bool stale = over->where != nullptr && link_.peer()->is_seen() &&
                           link_.peer()->revision(link_.sender.far.slot) != over->fetch->note.revision;
        if (stale) over->status = PLEXUS_MESSAGE_LOST;
    }
    if (over->where != nullptr && !link_.is_given_up())
        link_.host().placed(link_.cookie, over->token, over->status);
    if (over->status != PLEXUS_OK)
        return link_.lose(PLEXUS_LINK_LOST, "the peer gave a message up while it was received");
    if (over->fetch != nullptr) {
        Bytes id;
        module::put(id, over->fetch->note.id, 4);
        link_.say(Kind::fetched, id);
    }
    count_taken();
}

void Receiver::drop_waiting() {
    const auto recycle = [&](Message* each) { link_.port.recycle(*each); };
    order_.clear(recycle);
    for (Message* const each : queue_) recycle(each);
    queue_.clear();
}

void Receiver::end() {
    drop_waiting();
    std::deque<std::unique_ptr<Landing>> landings;
    {
        const Hold hold(link_.port.lock);
        landings.swap(landings_);
        for (const auto& each : landings) each->fetch.reset();
        unread_ = false;
        if (link_.port.is_shut()) writes_.store(0, std::memory_order_relaxed);
    }
    for (const auto& each : landings)
        if (each->where != nullptr && !link_.is_given_up())
            link_.host().placed(link_.cookie, each->token, PLEXUS_MESSAGE_LOST);
}

} // namespace plexus::message_link
