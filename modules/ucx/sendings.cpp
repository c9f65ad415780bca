// SPDX-License-Identifier: BSD-3-Clause
#include "ucx/sendings.h"

namespace plexus::ucx {

Op& Ops::take(std::size_t bytes, bool rare) {
    ++taken_;
    auto& kept = bytes <= kSmall ? small_ : other_;
    if (!rare && !kept.empty()) {
        Op* op = kept.back().release();
        kept.pop_back();
        return *op;
    }
    auto made = std::make_unique<Op>();
    made->room = rare ? bytes : bytes <= kSmall ? kSmall : eager_;
    made->block = std::make_unique_for_overwrite<std::byte[]>(Header::kBytes + made->room);
    return *made.release();
}

void Ops::give_back(Op& op) {
    --taken_;
    std::unique_ptr<Op> own(&op);
    auto& kept = op.room <= kSmall ? small_ : other_;
    const bool common = op.room == kSmall || op.room == eager_;
    if (common && kept.size() < kMostKept) kept.push_back(std::move(own));
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
