// SPDX-License-Identifier: BSD-3-Clause
#include "tls/outbox.h"

#include "common/frames.h"
#include "common/pieces.h"
#include "tls/link.h"
#include "tls/module.h"

#include <algorithm>
#include <utility>

namespace plexus::tls {
Outbox::Outbox(Module& module, Link& link, Engine& engine)
  : module_(module)
  , link_(link)
  , engine_(engine) {}

void Outbox::set_most(std::uint64_t bytes) {
    most_ = bytes;
    // A peer that says it takes less than a record is refused by the inner method, block for block.
    records_ = std::max<std::size_t>(1, Module::records_in(bytes));
}

std::int32_t Outbox::send(std::span<const plexus_view> pieces, void* token) {
    const std::uint64_t size = module::size_of(pieces);
    if (size > most_) return PLEXUS_TOO_LARGE;
    const bool is_small = size <= module_.limits().eager;
    if (!is_small && pieces[0].size > PLEXUS_HEAD_MAX) return PLEXUS_BAD_ARGUMENT;
    const Lock hold(mutex_);
    if (is_over_) return PLEXUS_LINK_LOST;
    if (message_ || !flush()) {
        wants_writable_ = true;
        return is_over_ ? PLEXUS_LINK_LOST : PLEXUS_AGAIN;
    }
    if (is_small) return seal_small(pieces, size) ? PLEXUS_OK : PLEXUS_LINK_LOST;
    message_.emplace();
    message_->pieces.assign(pieces.begin(), pieces.end());
    message_->left = size;
    message_->token = token;
    queued_ += size;
    pump();
    if (!is_over_ && message_->left > 0) return PLEXUS_POSTED;
    queued_ -= message_->left;
    message_.reset();
    return is_over_ ? PLEXUS_LINK_LOST : PLEXUS_OK;
}

void Outbox::push(Block block) {
    const Lock hold(mutex_);
    enqueue(std::move(block));
    (void)flush();
}

Outbox::Owed Outbox::go_on() {
    const Lock hold(mutex_);
    pump();
    return owed();
}

bool Outbox::has_unsent(std::chrono::nanoseconds linger) {
    const auto now = std::chrono::steady_clock::now();
    const Lock hold(mutex_);
    if (!ends_by_) ends_by_ = now + linger;
    pump();
    return !is_over_ && now < *ends_by_ && (!pending_.empty() || (message_ && message_->left > 0));
}

Outbox::Owed Outbox::posted_is_over(void* block) {
    std::unique_ptr<Block> out(static_cast<Block*>(block));
    module_.blocks().give_back(std::move(*out));
    const Lock hold(mutex_);
    --posted_;
    pump();
    return owed();
}

Outbox::Owed Outbox::end() {
    const Lock hold(mutex_);
    is_over_ = true;
    pending_.clear();
    Owed owed;
    if (message_) owed.sent = message_->token;
    message_.reset();
    queued_ = 0;
    return owed;
}

Outbox::Owed Outbox::owed() {
    Owed owed;
    if (message_ && message_->left == 0) {
        owed.sent = message_->token;
        message_.reset();
    }
    owed.is_writable = wants_writable_ && !message_ && pending_.empty();
    if (owed.is_writable) wants_writable_ = false;
    return owed;
}

// ---- sealing ---------------------------------------------------------------------------------

void Outbox::stage_word(std::span<const plexus_view> pieces, std::uint64_t size) {
    staged_.resize(module::kFrameWord);
    const std::size_t first = pieces.empty() ? 0 : pieces[0].size;
    module::write_frame_word(staged_.data(), size, std::min<std::size_t>(first, PLEXUS_HEAD_MAX));
}

bool Outbox::seal_small(std::span<const plexus_view> pieces, std::uint64_t size) {
    stage_word(pieces, size);
    for (const plexus_view& piece : pieces) {
        const auto* const bytes = static_cast<const std::byte*>(piece.data);
        staged_.insert(staged_.end(), bytes, bytes + piece.size);
    }
    Block block = module_.blocks().take();
    if (!engine_.write(staged_, block)) {
        is_over_ = true;
        link_.break_off(engine_.why());
        return false;
    }
    enqueue(std::move(block));
    (void)flush();
    return !is_over_;
}

// The next bytes of the message, at most a record, where they stand if they stand in one piece.
std::span<const std::byte> Outbox::next_record() {
    OutgoingMessage& message = *message_;
    staged_.clear();
    if (!message.has_word) {
        message.has_word = true;
        stage_word(message.pieces, message.left);
    }
    std::size_t room = Engine::kRecord - staged_.size();
    while (room > 0 && message.left > 0) {
        const plexus_view& piece = message.pieces[message.piece];
        const std::size_t size = std::min(room, piece.size - message.offset);
        const std::span bytes(static_cast<const std::byte*>(piece.data) + message.offset, size);
        message.offset += size;
        message.left -= size;
        queued_ -= size;
        if (message.offset == piece.size) {
            ++message.piece;
            message.offset = 0;
        }
        if (staged_.empty() && (size == room || message.left == 0)) return bytes;
        staged_.insert(staged_.end(), bytes.begin(), bytes.end());
        room -= size;
    }
    return staged_;
}

bool Outbox::seal_next() {
    Block block = module_.blocks().take();
    for (std::size_t records = 0; records < records_ && message_->left > 0; ++records) {
        if (engine_.write(next_record(), block)) continue;
        is_over_ = true;
        link_.break_off(engine_.why());
        return false;
    }
    enqueue(std::move(block));
    return true;
}

// ---- to the inner link -----------------------------------------------------------------------

void Outbox::enqueue(Block block) {
    if (is_over_ || block.empty()) return;
    queued_ += block.size();
    pending_.push_back(std::move(block));
}

// Ends when the inner link has said AGAIN, so that `writable` follows, or holds kWindow blocks, or all is
// out. A block that is tried again after that AGAIN may find room: then nobody would continue with the next.
void Outbox::pump() {
    while (!is_over_ && flush() && message_ && message_->left > 0 && posted_ < kWindow)
        if (!seal_next()) return;
}

// True: nothing waits.
bool Outbox::flush() {
    while (!pending_.empty()) {
        const std::size_t size = pending_.front().size();
        const std::int32_t status = pass(pending_.front());
        if (status == PLEXUS_AGAIN) return false;
        if (status != PLEXUS_OK) {
            is_over_ = true;
            if (status != PLEXUS_LINK_LOST) // of which the inner link tells
                link_.break_off("the inner method refuses a block with status " + std::to_string(status));
            return false;
        }
        queued_ -= size;
        pending_.pop_front();
    }
    return true;
}

// OK: the inner link has it. A block that it has to keep is posted.
std::int32_t Outbox::pass(Block& block) {
    const std::size_t head = std::min<std::size_t>(block.size(), PLEXUS_HEAD_MAX);
    const plexus_view pieces[] = {{block.data(), head}, {block.data() + head, block.size() - head}};
    if (block.size() <= module_.limits().inner_eager) {
        const std::int32_t status = link_.carry(pieces, 2, nullptr);
        if (status == PLEXUS_OK) module_.blocks().give_back(std::move(block));
        return status;
    }
    auto kept = std::make_unique<Block>(std::move(block)); // its bytes stay where they are
    ++posted_;
    const std::int32_t status = link_.carry(pieces, 2, kept.get());
    if (status == PLEXUS_POSTED) {
        static_cast<void>(kept.release()); // posted_is_over() takes it
        return PLEXUS_OK;
    }
    --posted_;
    if (status == PLEXUS_OK) {
        module_.blocks().give_back(std::move(*kept));
    } else {
        block = std::move(*kept);
    }
    return status;
}

} // namespace plexus::tls
