// SPDX-License-Identifier: BSD-3-Clause
#include "exec/planner.h"

#include "exec/nest.h"
#include "host/collective.h"
#include "plan/builder.h"
#include "topology/refuse.h"

#include <bit>

namespace plexus::eco::exec {
namespace {

constexpr std::size_t kMostScripts = 256;

std::uint64_t number_of(const How& how) {
    if (how.follows_map()) return 1;
    if (how.by_memory()) return 4;
    if (how.by_messages()) return 6;
    if (!how.shape()) return 0;
    using plexus::detail::mix;
    const Shape& shape = *how.shape();
    std::uint64_t hash = mix(0xcbf29ce484222325ull, static_cast<std::uint64_t>(shape.pattern));
    hash = mix(mix(mix(hash, shape.arity), shape.segment_bytes), shape.halve_from_bytes);
    return hash | 2;
}

/// Nothing is wished.
bool is_free(const How& how) {
    return !how.shape() && !how.follows_map() && !how.by_messages() && !how.by_memory();
}

bool has_root(Operation operation) {
    return operation == Operation::broadcast || operation == Operation::scatter ||
           operation == Operation::gather || operation == Operation::reduce;
}

/// Sizes of one class share a plan, that of the least of them: there are eight from one power of
/// two to the next.
std::uint64_t least_of_class(const Task& task) {
    if (task.elements == 0) return 0;
    const std::uint64_t bytes = task.elements * task.element_bytes;
    const std::uint64_t least = bytes & ~(std::bit_floor(bytes) / 8 - (bytes >= 8 ? 1 : 0));
    return std::max<std::uint64_t>(1, least / task.element_bytes);
}

/// Of lengths that all members know: what they compare. Of others: nothing.
void describe_parts(Signature& signature, const detail::Work& work) {
    signature.elements = 0;
    const bool known = work.operation == Operation::all_gather || work.operation == Operation::reduce_scatter;
    if (!known) return;
    const Parts& parts = work.operation == Operation::all_gather ? work.receive_parts : work.send_parts;
    std::uint64_t hash = 0xcbf29ce484222325ull;
    for (const std::uint64_t count : parts.counts) {
        hash = plexus::detail::mix(hash, count);
        signature.elements += count;
    }
    signature.parts = hash | 1;
}

} // namespace

/// Where all members share memory every blocking call goes through it: see runtime/notes/0008 for what
/// was measured.
bool Planner::goes_through_memory(const detail::Work& work, const How& how, bool blocking) const {
    const bool can = memory_ && blocking && host::suits(work, members_);
    if (how.by_memory() && !can)
        refuse(Status::unsupported, "{}{} can't go through shared memory: {}", to_string(work.operation),
               work.varied ? "_v" : "",
               !memory_    ? "the members of this group share none"
               : !blocking ? "a call with a future goes by messages, see How::memory()"
                           : "its elements are too large");
    return can && (how.by_memory() || is_free(how));
}

void Planner::learn(bool one_host, std::optional<Network> network, std::uint64_t map_number) {
    const std::lock_guard hold(mutex_);
    one_host_ = one_host;
    network_ = std::move(network);
    map_number_ = map_number;
    parts_.clear(); // made when nothing was known
    scripts_.clear();
}

std::shared_ptr<const Prepared> Planner::prepare(const detail::Work& work, const How& how, bool blocking) {
    const std::uint64_t elements = check(work, members_, me_);
    const bool memory = goes_through_memory(work, how, blocking);
    const bool nested = nest_ != nullptr && blocking && is_free(how) && nest_->suits(work);
    Key key{work.operation,
            has_root(work.operation) ? work.root : 0,
            work.element_bytes,
            elements,
            number_of(how),
            work.combine.commutative,
            work.operation == Operation::all_to_all && work.send == work.receive,
            !work.in_place,
            memory,
            nested};
    if (!work.varied) {
        const std::lock_guard hold(mutex_);
        if (const auto found = scripts_.find(key); found != scripts_.end()) return found->second;
    }
    const Task task{work.operation, members_,           key.root,
                    elements,       work.element_bytes, work.combine.commutative};
    auto out = std::make_shared<Prepared>();
    out->signature = {work.operation, key.root, work.element_bytes,
                      work.varied,    elements, key.how ^ map_number_};
    out->signature.memory = memory;
    out->signature.nested = nested;
    if (work.varied) describe_parts(out->signature, work);
    if (nested) out->steps = nest_->prepare(work, out->signature);
    if (out->signature.by_messages()) {
        const auto part = part_for(task, how, work.varied);
        out->script = lay_out(*part, work);
        out->signature.plan = part->plan;
    }
    out->digest = out->signature.digest();
    out->piece_bytes = piece_bytes();
    if (!work.varied) {
        const std::lock_guard hold(mutex_);
        if (scripts_.size() >= kMostScripts) scripts_.clear();
        scripts_.emplace(key, out);
    }
    return out;
}

std::shared_ptr<const Part> Planner::part_for(Task task, const How& how, bool varied) {
    task.elements = least_of_class(task);
    const Key key{task.operation, task.root,      task.element_bytes,
                  task.elements,  number_of(how), task.commutative,
                  varied,         false,          false,
                  false};
    const std::lock_guard hold(mutex_);
    if (const auto found = parts_.find(key); found != parts_.end()) return found->second;
    Plan made;
    const bool pairs =
        varied && task.operation != Operation::all_gather && task.operation != Operation::reduce_scatter;
    if (pairs) {
        // Who passes on what is not his own does not know its length.
        const Pattern only = task.operation == Operation::all_to_all ? Pattern::pairwise : Pattern::star;
        if (how.follows_map() || (how.shape() && how.shape()->pattern != only))
            refuse(Status::unsupported,
                   "{}_v goes by {} alone: only the two ends of a message know its length",
                   to_string(task.operation), to_string(only));
        made = plan(task, {only});
    } else {
        made = make(task, how);
    }
    auto out = std::make_shared<const Part>(part(made, me_));
    if (parts_.size() >= kMostScripts) parts_.clear();
    parts_.emplace(key, out);
    return out;
}

Plan Planner::plan_of(const Task& task, const How& how) const {
    Task least = task;
    least.elements = least_of_class(task);
    Plan made = make(least, how);
    made.block_elements = block_elements(task, made.block_elements.size());
    return made;
}

Plan Planner::make(const Task& task, const How& how) const {
    if (how.shape()) return plan(task, *how.shape());
    if (how.follows_map() && !network_)
        refuse(Status::bad_argument, "the group has no map to follow: give it one in its options");
    if (network_) return plan_eco(task, *network_);
    return plan(task, shape_for(task));
}

/// Without a map: few members on one host share a memory, in which everyone is as near as
/// everyone else; else what libraries take that know nothing of the network.
Shape Planner::shape_for(const Task& task) const {
    constexpr std::uint64_t kSmall = 8192;
    const std::uint64_t bytes = task.elements * task.element_bytes;
    switch (task.operation) {
    case Operation::barrier:
        return {Pattern::bruck};
    case Operation::broadcast:
        if (one_host_ || bytes <= kSmall) return {Pattern::binomial};
        return {members_ <= 8 ? Pattern::butterfly : Pattern::ring};
    case Operation::scatter:
    case Operation::gather:
        return {one_host_ || bytes > kSmall ? Pattern::star : Pattern::binomial};
    case Operation::reduce:
        return {bytes > kSmall ? Pattern::butterfly : Pattern::binomial};
    case Operation::all_reduce:
        return {Pattern::butterfly};
    case Operation::all_gather:
        if (bytes <= kSmall) return {Pattern::bruck};
        return {one_host_ ? Pattern::pairwise : Pattern::ring};
    case Operation::reduce_scatter:
        return {bytes > kSmall && task.commutative ? Pattern::pairwise : Pattern::butterfly};
    case Operation::scan:
    case Operation::exclusive_scan:
        return {Pattern::bruck};
    case Operation::all_to_all:
        return {bytes <= 256 && !one_host_ ? Pattern::bruck : Pattern::pairwise};
    }
    return {};
}

} // namespace plexus::eco::exec
