// SPDX-License-Identifier: BSD-3-Clause
// A plan: who sends which blocks to whom, and in which order, so that a collective operation
// comes about. A value; whoever runs it needs to know nothing of patterns or networks, and
// whoever makes it nothing of threads or wires. Pure functions. Any thread.
#pragma once

#include "plexus/export.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plexus::eco {

using Rank = std::uint32_t;

// Blocks, by operation, of P members:
//   broadcast, reduce, all_reduce,
//   scan, exclusive_scan            parts of the one vector, as many as the plan likes
//   scatter, gather, all_gather,
//   reduce_scatter                  P blocks: block i is for, or of, member i
//   all_to_all                      P * P blocks: block s * P + d goes from s to d
//   barrier                         none: messages without content
// A scan gives member i what 0 … i contributed, combined in the order of ranks; an exclusive
// scan what 0 … i - 1 did, and member 0 nothing.
enum class Operation : std::uint8_t {
    broadcast,
    scatter,
    gather,
    reduce,
    all_gather,
    all_reduce,
    all_to_all,
    barrier,
    reduce_scatter,
    scan,
    exclusive_scan
};

inline constexpr Operation kOperations[] = {
    Operation::broadcast,      Operation::scatter,    Operation::gather,        Operation::reduce,
    Operation::all_gather,     Operation::all_reduce, Operation::all_to_all,    Operation::barrier,
    Operation::reduce_scatter, Operation::scan,       Operation::exclusive_scan};

/// "all_reduce". @thread any
PLEXUS_API std::string_view to_string(Operation operation) noexcept;

/// What happens to a block where it arrives. Of reductions alone the latter two.
enum class Merge : std::uint8_t {
    store,  ///< it takes the place of what is there
    before, ///< what arrives, combined with what is there
    after,  ///< what is there, combined with what arrives
};

struct BlockRange {
    std::uint32_t first;
    std::uint32_t count;
    bool operator==(const BlockRange&) const = default;
};

struct Message {
    Rank from;
    Rank to;
    std::uint32_t first_range; ///< its blocks: Plan::blocks_of()
    std::uint32_t ranges;
    Merge merge;
    bool operator==(const Message&) const = default;
};

/// One thing that a member does: it sends a message with the blocks as they are now, and
/// goes on at once; or it waits for a message and takes it in.
struct Step {
    std::uint32_t message; ///< a place in Plan::messages
    bool send;
    bool operator==(const Step&) const = default;
};

struct Plan {
    Operation operation = Operation::barrier;
    Rank members = 1;
    Rank root = 0; ///< where the operation has none: of no meaning
    std::uint32_t element_bytes = 1;
    /// How many elements each block has. A plan stays right when these are replaced by other
    /// lengths: so it serves operations with a length for each member as well.
    std::vector<std::uint64_t> block_elements;
    std::vector<Message> messages;
    std::vector<BlockRange> ranges;
    std::vector<std::vector<Step>> steps; ///< of each member, in order
    /// Of a paced plan: how long after its start, in nanoseconds, a member holds back each message that it
    /// sends. A member starts when it has done its steps of messages below `start_messages`, which come
    /// before its others. Empty: messages leave as soon as they can.
    std::vector<std::uint64_t> hold_ns = {};
    std::uint32_t start_messages = 0;

    std::span<const BlockRange> blocks_of(const Message& message) const noexcept {
        return {ranges.data() + message.first_range, message.ranges};
    }
    PLEXUS_API std::uint64_t bytes_of(const Message& message) const noexcept;

    bool operator==(const Plan&) const = default;
};

struct PlanRequest {
    Operation operation = Operation::barrier;
    Rank members = 1;
    Rank root = 0;
    /// Of the whole vector where blocks are its parts, else of each block.
    std::uint64_t elements = 0;
    std::uint32_t element_bytes = 1;
    /// False: contributions are combined in the order of ranks and no other.
    bool commutative = true;
};

enum class Pattern : std::uint8_t {
    star,      ///< the root sends to all, or all to it
    tree,      ///< k-ary
    binomial,  ///< each who has it sends it on, twice as many in each round
    chain,     ///< one to the next, in segments
    ring,      ///< parts go round, everyone sends to the next
    butterfly, ///< partners at distances 1, 2, 4 …; recursive doubling, or halving and doubling
    bruck,     ///< distances 1, 2, 4 … without partners: any number of members
    pairwise,  ///< everyone with everyone, disjoint pairs at a time
};

inline constexpr Pattern kPatterns[] = {Pattern::star,  Pattern::tree,    Pattern::binomial,
                                        Pattern::chain, Pattern::ring,    Pattern::butterfly,
                                        Pattern::bruck, Pattern::pairwise};

/// "binomial". @thread any
PLEXUS_API std::string_view to_string(Pattern pattern) noexcept;

struct AlgorithmOptions {
    Pattern pattern = Pattern::binomial;
    std::uint32_t arity = 2;         ///< of a tree
    std::uint64_t segment_bytes = 0; ///< 0: a chain in 16 segments, other trees in one
    /// From this size on a butterfly halves vectors instead of sending all of them each time.
    std::uint64_t halve_from_bytes = 8192;
};

/// An all_to_all between clusters without a single root. Each has `exchangers` members that exchange, or all
/// if it has fewer. Every other member hands one of them what it has for other clusters. Then each exchanger
/// sends each other cluster one message, to one member there, which hands on what is for others of its
/// cluster. Inside a cluster members send to each other directly.
struct ExchangeOptions {
    std::size_t exchangers = 1;
    /// Each waits for what comes in a round before it sends in the next, so that each receives one message at
    /// a time if clusters are alike; else all messages between clusters leave at once.
    bool in_rounds = false;
};

/// True if there is a plan for `operation` by `pattern`: trees (star to chain) serve all but
/// scans, for which there are chain and bruck.
/// @thread any
PLEXUS_API bool supports(Pattern pattern, Operation operation) noexcept;

/// @error bad_argument no member, no such root, a tree without arity, too many blocks (thrown)
/// @error unsupported  the pattern does not suit the operation, or not its order (thrown)
PLEXUS_API Plan plan(const PlanRequest& request, const AlgorithmOptions& options);

/// What a proof of a plan found.
struct Proof {
    std::string broken;      ///< empty: everyone gets what is due, once, and nobody waits for ever
    bool rank_order = false; ///< of a reduction: contributions are combined in the order of ranks
    explicit operator bool() const noexcept { return broken.empty(); }
};

/// Runs the plan on sets instead of data. @thread any
PLEXUS_API Proof prove(const Plan& plan);

} // namespace plexus::eco
