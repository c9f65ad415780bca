// SPDX-License-Identifier: BSD-3-Clause
#include "ucx/sendings.h"

#include <algorithm>

namespace plexus::ucx {

Op& Ops::take(std::size_t bytes) {
    auto& kept = bytes <= kSmall ? small_ : other_;
    ++taken_;
    if (!kept.empty()) {
        Op* op = kept.back().release();
        kept.pop_back();
        if (op->room < bytes) { // a word of the handshake where messages are tiny
            op->block = std::make_unique_for_overwrite<std::byte[]>(bytes);
            op->room = bytes;
        }
        return *op;
    }
    auto made = std::make_unique<Op>();
    made->room = bytes <= kSmall ? kSmall : std::max(bytes, eager_);
    made->block = std::make_unique_for_overwrite<std::byte[]>(made->room);
    return *made.release();
}

void Ops::give_back(Op& op) {
    --taken_;
    std::unique_ptr<Op> own(&op);
    auto& kept = op.room <= kSmall ? small_ : other_;
    if (kept.size() < kMostKept) kept.push_back(std::move(own));
}

std::byte* Blocks::take() {
    if (kept_.empty()) return std::make_unique_for_overwrite<std::byte[]>(bytes_).release();
    std::byte* block = kept_.back().release();
    kept_.pop_back();
    return block;
}

void Blocks::give_back(std::byte* block) {
    std::unique_ptr<std::byte[]> own(block);
    if (kept_.size() < kMostKept) kept_.push_back(std::move(own));
}

} // namespace plexus::ucx
