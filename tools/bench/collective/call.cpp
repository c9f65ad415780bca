// SPDX-License-Identifier: BSD-3-Clause
#include "tools/bench/collective/call.h"

#include "tools/bench/collective/options.h"
#include "tools/common/quantity.h"

#include <fmt/format.h>
#include <functional>

namespace plexus::tools::benchmark {
namespace {

using eco::Operation;
using eco::Rank;

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 32;

/// The content of a block at a place: differs from block to block and from byte to byte.
std::byte content(std::uint64_t block, std::uint64_t place) {
    return static_cast<std::byte>((block * 131 + place + place / 251) & 0xff);
}

void fill_block(std::span<std::byte> where, std::uint64_t block) {
    for (std::uint64_t place = 0; place < where.size(); ++place) where[place] = content(block, place);
}

bool holds_block(std::span<const std::byte> where, std::uint64_t block) {
    for (std::uint64_t place = 0; place < where.size(); ++place)
        if (where[place] != content(block, place)) return false;
    return true;
}

} // namespace

CollectiveCall::CollectiveCall(const eco::Group& group, Operation operation, std::uint64_t bytes, Rank root)
  : group_(group)
  , operation_(operation)
  , bytes_(bytes)
  , root_(root) {
    const std::uint64_t members = group.size();
    const bool at_root = group.rank() == root;
    if (bytes > kMostBytes / members)
        throw Error(Status::too_large,
                    fmt::format("{} of {} among {} members would need more than {}",
                                eco::to_string(operation), show_size(bytes), members, show_size(kMostBytes)));
    switch (operation) {
    case Operation::broadcast:
        make_room(0, bytes);
        break;
    case Operation::scatter:
        make_room(at_root ? bytes * members : 0, bytes);
        break;
    case Operation::gather:
        make_room(bytes, at_root ? bytes * members : 0);
        break;
    case Operation::all_gather:
        make_room(bytes, bytes * members);
        break;
    case Operation::all_to_all:
        make_room(bytes * members, bytes * members);
        break;
    case Operation::reduce:
        make_room(bytes, at_root ? bytes : 0);
        break;
    case Operation::reduce_scatter:
        make_room(bytes * members, bytes);
        break;
    case Operation::all_reduce:
    case Operation::scan:
    case Operation::exclusive_scan:
        make_room(bytes, bytes);
        break;
    case Operation::barrier:
        break;
    }
    fill();
}

void CollectiveCall::make_room(std::uint64_t out_bytes, std::uint64_t in_bytes) {
    constexpr std::uint64_t kWord = sizeof(std::uint64_t);
    out_.assign((out_bytes + kWord - 1) / kWord, 0);
    in_.assign((in_bytes + kWord - 1) / kWord, 0);
    out_bytes_ = out_bytes;
    in_bytes_ = in_bytes;
}

void CollectiveCall::fill() {
    const std::uint64_t me = group_.rank();
    if (adds_up(operation_)) {
        for (std::uint64_t place = 0; place < out_.size(); ++place) out_[place] = (me + 1) * (place + 1);
    } else if (operation_ == Operation::broadcast) {
        if (me == root_) fill_block(received(), 0);
    } else if (operation_ == Operation::scatter || operation_ == Operation::all_to_all) {
        const std::uint64_t first = operation_ == Operation::all_to_all ? me * group_.size() : 0;
        for (std::uint64_t block = 0; block * bytes_ < out_bytes_; ++block)
            fill_block(sent().subspan(block * bytes_, bytes_), first + block);
    } else {
        fill_block(sent(), me);
    }
}

void CollectiveCall::run() {
    const std::plus<std::uint64_t> plus;
    switch (operation_) {
    case Operation::broadcast:
        return group_.broadcast(received(), root_);
    case Operation::scatter:
        return group_.scatter(sent(), received(), root_);
    case Operation::gather:
        return group_.gather(sent(), received(), root_);
    case Operation::all_gather:
        return group_.all_gather(sent(), received());
    case Operation::all_to_all:
        return group_.all_to_all(sent(), received());
    case Operation::barrier:
        return group_.barrier();
    case Operation::reduce:
        return group_.reduce(std::span(out_), std::span(in_), plus, root_);
    case Operation::all_reduce:
        return group_.all_reduce(std::span(out_), std::span(in_), plus);
    case Operation::reduce_scatter:
        return group_.reduce_scatter(std::span(out_), std::span(in_), plus);
    case Operation::scan:
        return group_.scan(std::span(out_), std::span(in_), plus);
    case Operation::exclusive_scan:
        return group_.exclusive_scan(std::span(out_), std::span(in_), plus);
    }
}

bool CollectiveCall::right() const { return adds_up(operation_) ? right_sums() : right_blocks(); }

bool CollectiveCall::right_blocks() const {
    const std::uint64_t me = group_.rank();
    if (operation_ == Operation::broadcast) return holds_block(received(), 0);
    if (operation_ == Operation::scatter) return holds_block(received(), me);
    for (std::uint64_t block = 0; block * bytes_ < in_bytes_; ++block) {
        const std::uint64_t due = operation_ == Operation::all_to_all ? block * group_.size() + me : block;
        if (!holds_block(received().subspan(block * bytes_, bytes_), due)) return false;
    }
    return true;
}

bool CollectiveCall::right_sums() const {
    const std::uint64_t me = group_.rank();
    if (operation_ == Operation::exclusive_scan && me == 0) return true; // it receives nothing
    const std::uint64_t last = operation_ == Operation::scan             ? me + 1
                               : operation_ == Operation::exclusive_scan ? me
                                                                         : group_.size();
    const std::uint64_t first_place = operation_ == Operation::reduce_scatter ? me * in_.size() : 0;
    for (std::uint64_t place = 0; place < in_.size(); ++place)
        if (in_[place] != last * (last + 1) / 2 * (first_place + place + 1)) return false;
    return true;
}

} // namespace plexus::tools::benchmark
