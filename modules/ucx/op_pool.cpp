// SPDX-License-Identifier: BSD-3-Clause
#include "ucx/op_pool.h"

namespace plexus::ucx {

Op& OpPool::take(Op::What what, std::size_t bytes) {
    ++taken_;
    auto& kept = bytes <= kSmall ? small_ : other_;
    std::unique_ptr<Op> op;
    if (!kept.empty() && bytes <= eager_) {
        op = std::move(kept.back());
        kept.pop_back();
    } else {
        op = std::make_unique<Op>();
        op->room = bytes <= kSmall ? kSmall : std::max(bytes, eager_);
        op->block = std::make_unique_for_overwrite<std::byte[]>(message_link::kHeaderBytes + op->room);
    }
    op->what = what;
    op->token = nullptr;
    op->failed = false;
    op->awaited = 0;
    op->size = bytes;
    return *op.release();
}

void OpPool::give_back(Op& op) {
    --taken_;
    std::unique_ptr<Op> own(&op);
    auto& kept = op.room <= kSmall ? small_ : other_;
    const bool common = op.room == kSmall || op.room == eager_;
    if (common && kept.size() < kMostKept) kept.push_back(std::move(own));
}

} // namespace plexus::ucx
