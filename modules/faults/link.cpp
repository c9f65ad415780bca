// SPDX-License-Identifier: BSD-3-Clause
#include "faults/link.h"

#include "faults/module.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace plexus::faults {
namespace {

// A link that has swallowed something is cut by then, also if nobody sends any more: a sender
// that waits for an answer to what was swallowed would wait for ever.
constexpr auto kSwallowed = std::chrono::milliseconds(50);
constexpr const char* kCut = "the fault plan cut the link";

std::int64_t now_ns() {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

} // namespace

Link::Link(Module& owner, std::uint64_t seed)
  : over::Link(owner)
  , module_(owner)
  , dice_(seed) {
    messages_until_cut_ = owner.plan().drop_link_every;
    const std::uint32_t lost = messages_until_cut_ > 1 ? static_cast<std::uint32_t>(dice_.roll() % 4) : 0;
    messages_carried_ = messages_until_cut_ - std::min(lost, messages_until_cut_);
}

std::string Link::on_connect() {
    const std::uint32_t every = module_.plan().refuse_connect;
    if (every == 0 || module_.next_connect() % every != 0) return {};
    return "the fault plan refused the connection";
}

std::int32_t Link::send(const plexus_view* pieces, std::uint32_t count, void* token) {
    if (is_over()) return PLEXUS_LINK_LOST;
    if (dice_.hits(module_.plan().again_every)) {
        owe_writable();
        return PLEXUS_AGAIN;
    }
    const bool swallow = messages_until_cut_ != 0 && messages_carried_ == 0;
    std::int32_t status = PLEXUS_OK;
    if (!swallow) {
        status = send_inner(pieces, count, token);
        if (status != PLEXUS_OK && status != PLEXUS_POSTED) return status;
        if (messages_carried_ > 0) --messages_carried_;
    } else if (swallowing_since_ == 0) {
        swallowing_since_ = now_ns();
        module_.owe(*this);
    }
    if (messages_until_cut_ != 0 && --messages_until_cut_ == 0) cut(PLEXUS_LINK_LOST, kCut);
    return status;
}

bool Link::on_turn() {
    if (swallowing_since_ == 0) return true;
    if (now_ns() - swallowing_since_ < std::chrono::nanoseconds(kSwallowed).count()) return false;
    cut(PLEXUS_LINK_LOST, kCut);
    return true;
}

bool Link::keeps_back() const noexcept {
    return module_.plan().delay.count() > 0 || module_.plan().withhold_polls > 0;
}

Link::Held Link::make_held(bool large, plexus_view head, std::size_t rest) const {
    Held held{std::chrono::steady_clock::now() + module_.plan().delay,
              module_.plan().withhold_polls,
              large,
              {},
              head.size,
              head.size + rest};
    held.words.resize((held.bytes + 7) / 8);
    if (head.size > 0) std::memcpy(held.words.data(), head.data, head.size);
    return held;
}

void Link::hold(Held held) {
    if (held_.empty()) module_.holds_back(*this);
    held_.push_back(std::move(held));
}

std::int32_t Link::release(std::chrono::steady_clock::time_point now) {
    std::int32_t handled = 0;
    for (Held& held : held_)
        if (held.polls_left > 0) --held.polls_left;
    while (!is_over() && !held_.empty() && held_.front().polls_left == 0 && held_.front().due <= now) {
        const Held held = std::move(held_.front());
        held_.pop_front();
        hand_on(held);
        ++handled;
    }
    if (is_over()) held_.clear();
    return handled;
}

void Link::on_ending() {
    while (!is_over() && !held_.empty()) {
        const Held held = std::move(held_.front());
        held_.pop_front();
        hand_on(held);
    }
}

void Link::hand_on(const Held& held) {
    const auto* bytes = reinterpret_cast<const std::byte*>(held.words.data());
    if (!held.large) {
        over::Link::on_deliver({bytes, held.bytes});
        return;
    }
    void* where = nullptr;
    void* token = nullptr;
    const std::size_t rest = held.bytes - held.head_bytes;
    if (over::Link::on_place({bytes, held.head_bytes}, rest, &where, &token) != PLEXUS_OK) return;
    std::memcpy(where, bytes + held.head_bytes, rest);
    over::Link::on_placed(token, PLEXUS_OK);
}

void Link::on_deliver(plexus_view message) {
    if (keeps_back()) {
        hold(make_held(false, message, 0));
    } else {
        over::Link::on_deliver(message);
    }
}

std::int32_t Link::on_place(plexus_view head, std::size_t rest, void** where, void** token) {
    if (!keeps_back()) return over::Link::on_place(head, rest, where, token);
    Held held = make_held(true, head, rest);
    auto* const words = held.words.data(); // stays where it is when `held` moves
    *where = reinterpret_cast<std::byte*>(words) + head.size;
    *token = words;
    coming_.emplace(words, std::move(held));
    return PLEXUS_OK;
}

void Link::on_placed(void* token, std::int32_t status) {
    if (!keeps_back()) {
        over::Link::on_placed(token, status);
        return;
    }
    auto coming = coming_.extract(token);
    if (status == PLEXUS_OK && !is_over()) hold(std::move(coming.mapped()));
}

} // namespace plexus::faults
