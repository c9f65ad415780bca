// SPDX-License-Identifier: BSD-3-Clause
// The progress thread's half of the local method: what each kind of record does.
#include "local/module.h"

#include <algorithm>
#include <utility>

namespace plexus::local {
namespace {

constexpr Reason kRefused{PLEXUS_LINK_LOST, "the other context did not take the link"};

template <class T>
T body_of(Record& record) {
    T value;
    std::memcpy(&value, record.body(), sizeof value);
    return value;
}

// Bytes copied between two looks at `given_up`.
constexpr std::size_t kOneStep = 1 << 20;

// False: the end was given up meanwhile.
bool copy_into(Link& end, std::byte* out, const std::vector<plexus_view>& pieces) {
    for (const plexus_view& piece : pieces) {
        const auto* from = static_cast<const std::byte*>(piece.data);
        for (std::size_t left = piece.size; left > 0;) {
            const std::size_t step = std::min(left, kOneStep);
            const module::Lock border(end.landing);
            if (end.given_up.load(std::memory_order_relaxed)) return false;
            std::memcpy(out, from, step);
            out += step;
            from += step;
            left -= step;
        }
    }
    return true;
}

} // namespace

std::int32_t Module::poll(std::uint32_t budget) {
    if (batch_ == nullptr && inbox_->idle()) return 0;
    std::uint32_t handled = 0;
    copied_ = 0;
    while (handled < budget && copied_ < kOneStep && next_chunk()) {
        auto& record = *reinterpret_cast<Record*>(batch_->bytes + at_);
        at_ += record_bytes(record.size);
        take(record, true);
        ++handled;
    }
    settle();
    return static_cast<std::int32_t>(handled);
}

// True: batch_ has a record at at_.
bool Module::next_chunk() {
    while (batch_ == nullptr || at_ == batch_->used) {
        if (batch_ != nullptr) {
            Chunk* empty = std::exchange(batch_, batch_->next);
            at_ = 0;
            inbox_->recycle(empty);
            continue;
        }
        batch_ = inbox_->take();
        at_ = 0;
        if (batch_ == nullptr) return false;
    }
    return true;
}

void Module::take(Record& record, bool deliver) {
    Link& end = *record.to;
    const bool tell = deliver && !end.given_up.load(std::memory_order_relaxed);
    switch (record.kind) {
    case Kind::message:
        if (tell) host_.deliver(end.cookie, {record.body(), record.size});
        credit(*end.other, record_bytes(record.size));
        return;
    case Kind::posted:
        fetch(end, *body_of<Post*>(record), tell);
        return;
    case Kind::opening:
        open_incoming(end, deliver);
        return;
    case Kind::opened:
        if (tell) host_.opened(end.cookie);
        if (end.wake_at.exchange(Link::kNever, std::memory_order_seq_cst) == Link::kNever) return;
        [[fallthrough]]; // a send was turned away before
    case Kind::writable:
        if (deliver && !end.given_up.load(std::memory_order_relaxed)) host_.writable(end.cookie);
        return;
    case Kind::sent:
        end_post(*body_of<Post*>(record));
        return;
    case Kind::ended:
        if (tell) {
            const auto reason = body_of<Reason>(record);
            host_.lost(end.cookie, reason.status, module::view(std::string_view(reason.text)));
        }
        return;
    case Kind::closing:
        settle(); // the pending room may refer to the end that is freed
        end_other(end, kPeerClosed);
        forget(end);
        return;
    }
}

void Module::open_incoming(Link& end, bool deliver) {
    end.module = this;
    Link& connector = *end.other;
    add(end);
    std::int32_t verdict = PLEXUS_LINK_LOST;
    if (deliver && !closing())
        verdict = host_.accepted(host_.self, reinterpret_cast<plexus_link*>(&end),
                                 &end.channel->connecting_id, &end.cookie);
    if (verdict == PLEXUS_OK) {
        connector.ready.store(true, std::memory_order_seq_cst); // [ready], and see has_room()
        (void)connector.home->push_if(
            &connector, Kind::opened, 0, [&] { return !connector.deaf; }, [](std::byte*) {});
        return;
    }
    end.given_up.store(true, std::memory_order_relaxed);
    end_other(end, kRefused);
    end.disconnect();
}

void Module::fetch(Link& end, Post& post, bool deliver) {
    void* where = nullptr;
    void* token = nullptr;
    const bool wanted = deliver && host_.place(end.cookie, {post.head.data(), post.head_size}, post.rest_size,
                                               &where, &token) == PLEXUS_OK;
    const bool claimed = post.claim();
    bool whole = true;
    if (wanted && claimed) {
        whole = copy_into(end, static_cast<std::byte*>(where), post.rest);
        copied_ += post.rest_size;
    }
    const bool taken = deliver && claimed && whole; // a refused message is over for the sender, too
    if (claimed) finish(post, taken ? PLEXUS_OK : PLEXUS_MESSAGE_LOST);
    if (wanted && !end.given_up.load(std::memory_order_relaxed))
        host_.placed(end.cookie, token, taken ? PLEXUS_OK : PLEXUS_MESSAGE_LOST);
    credit(*end.other, post.charge);
    post.release();
}

// This module's own post is over, ended by either side.
void Module::end_post(Post& post) {
    remove(post);
    host_.sent(post.from->cookie, post.token, post.status);
    post.from->channel->release();
    post.release();
}

void Module::credit(Link& sender, std::uint64_t bytes) {
    if (credit_.sender != &sender) settle();
    credit_.sender = &sender;
    credit_.bytes += bytes;
}

void Module::settle() {
    if (credit_.sender == nullptr) return;
    const Credit owed = std::exchange(credit_, {});
    make_room(*owed.sender, owed.bytes);
}

} // namespace plexus::local
