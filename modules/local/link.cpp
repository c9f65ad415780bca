// SPDX-License-Identifier: BSD-3-Clause
#include "local/link.h"

#include "common/pieces.h"
#include "common/values.h"
#include "local/module.h"

namespace plexus::local {
namespace {

// False: no room, and `writable` will come.
bool has_room(Link& link, std::uint64_t charge, std::uint64_t queue_bytes) {
    const std::uint64_t sent = link.sent_bytes.load(std::memory_order_relaxed);
    const auto fits = [&] {
        const std::uint64_t queued = sent - link.taken.load(std::memory_order_seq_cst);
        return link.ready.load(std::memory_order_seq_cst) && (queued == 0 || queued + charge <= queue_bytes);
    };
    if (fits()) return true;
    link.wake_at.store(sent - std::min(sent, queue_bytes / 2), std::memory_order_seq_cst);
    if (!fits()) return false;
    link.wake_at.store(Link::kNever, std::memory_order_relaxed); // at worst a needless `writable` follows
    return true;
}

std::int32_t send_posted(Link& link, const plexus_view* pieces, std::uint32_t count, std::size_t total,
                         std::size_t charge, void* token) {
    Post* post = new Post;
    post->from = &link;
    post->token = token;
    post->head_size = pieces[0].size;
    module::copy_pieces(post->head.data(), {pieces, 1});
    post->rest.assign(pieces + 1, pieces + count);
    post->rest_size = total - post->head_size;
    post->charge = charge;
    link.channel->hold();
    link.module->add(*post);
    Link& far = *link.other;
    if (far.home->push_if(
            &far, Kind::posted, sizeof post, [&] { return !far.deaf; },
            [&](std::byte* body) { std::memcpy(body, &post, sizeof post); }))
        return PLEXUS_POSTED;
    link.module->remove(*post);
    link.channel->release();
    delete post;
    return PLEXUS_LINK_LOST;
}

} // namespace

std::int32_t Link::send(const plexus_view* pieces, std::uint32_t count, void* token) {
    if (module->closing()) return PLEXUS_LINK_LOST;
    const std::size_t total = module::size_of({pieces, count});
    const bool fits_record = total <= module->eager_bytes();
    if (!fits_record && pieces[0].size > PLEXUS_HEAD_MAX) return PLEXUS_BAD_ARGUMENT;
    const std::size_t charge = record_bytes(std::min<std::size_t>(total, module->eager_bytes()));
    if (!has_room(*this, charge, module->queue_bytes())) return PLEXUS_AGAIN;
    // Before the push: the receiver may finish the post at once.
    sent_bytes.store(sent_bytes.load(std::memory_order_relaxed) + charge, std::memory_order_relaxed);
    if (!fits_record) return send_posted(*this, pieces, count, total, charge, token);
    Link& far = *other;
    const bool pushed = far.home->push_if(
        &far, Kind::message, total, [&] { return !far.deaf; },
        [&](std::byte* body) {
            module::copy_pieces(body, {pieces, count});
        });
    return pushed ? PLEXUS_OK : PLEXUS_LINK_LOST;
}

void Link::disconnect() {
    given_up.store(true, std::memory_order_relaxed); // first: whoever finds the writes stopped sees it
    writes.stop();
    const std::shared_ptr<Inbox> held = home; // the link may be freed as soon as the record is pushed
    const bool pushed = held->push_if(
        this, Kind::closing, 0, [&] { return !deaf; }, [&](std::byte*) { deaf = true; });
    if (!pushed) module->forget(*this); // drained: no poll will follow that would forget it
}

std::int32_t Link::set(const char* key, const char*, plexus_text& why) const {
    return module::set_at_open_only(module->host(), key, why);
}

void end_other(Link& mine, Reason reason) {
    Link& far = *mine.other;
    if (far.home == nullptr) return; // the connection was never made
    (void)far.home->push_if(
        &far, Kind::ended, sizeof reason, [&] { return !far.deaf && !far.ended; },
        [&](std::byte* body) {
            std::memcpy(body, &reason, sizeof reason);
            far.ended = true;
        });
}

void finish(Post& post, std::int32_t status) {
    Post* const over = &post;
    Link& from = *post.from;
    post.status = status;
    post.state.store(Post::done, std::memory_order_release); // [fetch]
    // The queue is shut: its drain ends the post.
    (void)from.home->push_if(
        &from, Kind::sent, sizeof over, [] { return true; },
        [&](std::byte* body) { std::memcpy(body, &over, sizeof over); });
}

void make_room(Link& sender, std::uint64_t bytes) {
    const std::uint64_t taken = sender.taken.fetch_add(bytes, std::memory_order_seq_cst) + bytes;
    if (taken < sender.wake_at.load(std::memory_order_seq_cst)) return;
    if (sender.wake_at.exchange(Link::kNever, std::memory_order_seq_cst) == Link::kNever) return;
    (void)sender.home->push_if(
        &sender, Kind::writable, 0, [&] { return !sender.deaf; }, [](std::byte*) {});
}

} // namespace plexus::local
