// SPDX-License-Identifier: BSD-3-Clause
#include "ucx/endpoint.h"

#include "ucx/endpoints.h"

namespace plexus::ucx {

UcxPeer::~UcxPeer() { endpoint.table.forget(*this); }

void UcxPeer::enlist(Op& op) noexcept {
    op.previous = nullptr;
    op.next = ops;
    if (ops != nullptr) ops->previous = &op;
    ops = &op;
    if (op.what == Op::What::receive) ++receiving;
    if (op.what != Op::What::copy) return;
    ++copies;
    copied_bytes += op.size;
}

void UcxPeer::take_off(Op& op) noexcept {
    (op.previous != nullptr ? op.previous->next : ops) = op.next;
    if (op.next != nullptr) op.next->previous = op.previous;
    op.peer = nullptr;
    if (op.what == Op::What::receive) --receiving;
    if (op.what != Op::What::copy) return;
    --copies;
    copied_bytes -= op.size;
}

} // namespace plexus::ucx
