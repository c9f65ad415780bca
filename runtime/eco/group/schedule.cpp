// SPDX-License-Identifier: BSD-3-Clause
#include "group/schedule.h"

#include "plan/builder.h"
#include "plexus/wire_type.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace plexus::eco::detail {
namespace {

std::uint64_t number_of(const Plan& plan) {
    using plexus::detail::mix;
    std::uint64_t hash = 0xcbf29ce484222325ull;
    for (const Message& each : plan.messages)
        hash = mix(mix(hash, std::uint64_t{each.from} << 32 | each.to),
                   std::uint64_t{each.ranges} << 8 | static_cast<std::uint64_t>(each.merge));
    for (const BlockRange& each : plan.ranges) hash = mix(hash, std::uint64_t{each.first} << 32 | each.count);
    for (const auto& steps : plan.steps)
        for (const Step& each : steps)
            hash = mix(hash, std::uint64_t{each.message} << 1 | (each.send ? 1 : 0));
    for (const std::uint64_t each : plan.hold_ns) hash = mix(hash, each);
    return hash;
}

} // namespace

MemberPlan part(const Plan& plan, Rank me) {
    MemberPlan out{plan.operation,
                   plan.members,
                   me,
                   plan.root,
                   static_cast<std::uint32_t>(plan.block_elements.size()),
                   {},
                   {},
                   SIZE_MAX,
                   0,
                   number_of(plan)};
    const bool paced = !plan.hold_ns.empty();
    std::vector<std::uint32_t> slot(plan.messages.size());
    for (const auto& steps : plan.steps) {
        std::uint32_t next = 0;
        for (const Step& step : steps)
            if (!step.send) slot[step.message] = next++;
    }
    for (const Step& step : plan.steps[me]) {
        const Message& message = plan.messages[step.message];
        const auto blocks = plan.blocks_of(message);
        if (paced && step.message >= plan.start_messages) out.start = std::min(out.start, out.steps.size());
        out.steps.push_back({step.send ? message.to : message.from, slot[step.message], step.send,
                             message.merge, static_cast<std::uint32_t>(out.ranges.size()), message.ranges,
                             paced && step.send ? plan.hold_ns[step.message] : 0});
        out.ranges.insert(out.ranges.end(), blocks.begin(), blocks.end());
        if (!step.send) ++out.slots;
    }
    return out;
}

namespace {

/// Where each block of one member is.
class ScheduleBuilder {
  public:
    ScheduleBuilder(const MemberPlan& part, const CollectiveArgs& args, Lengths lengths)
      : part_(part)
      , args_(args)
      , lengths_(lengths)
      , element_(args.element_bytes)
      , in_place_(args.send == args.receive) {
        switch (part.operation) {
        case Operation::broadcast:
            vector_in(Space::receive);
            break;
        case Operation::reduce:
            reduction(part.me == part.root ? Space::receive : Space::scratch);
            break;
        case Operation::all_reduce:
        case Operation::scan:
            reduction(Space::receive);
            break;
        case Operation::exclusive_scan:
            // The first only gives: what it receives into stays as it is.
            part.me == 0 ? vector_in(Space::send) : reduction(Space::receive);
            break;
        case Operation::reduce_scatter:
            whole_ = {Space::scratch, args.send_layout};
            scratch_ = args.send_elements * element_;
            copy({Space::send, 0, scratch_}, {Space::scratch, 0, scratch_});
            schedule_.after.push_back({part_in(whole_, args.send_elements, part.me),
                                       {Space::receive, 0, args.receive_elements * element_}});
            break;
        case Operation::scatter:
            if (part.me == part.root) whole_ = {Space::send, args.send_layout};
            own(Space::receive);
            break;
        case Operation::gather:
            if (part.me == part.root) whole_ = {Space::receive, args.receive_layout};
            own(Space::send);
            break;
        case Operation::all_gather:
            whole_ = {Space::receive, args.receive_layout};
            if (!args.in_place) own(Space::send);
            break;
        case Operation::all_to_all:
            exchange();
            break;
        case Operation::barrier:
            break;
        }
    }

    Schedule finish() {
        schedule_.early = !reduces(part_.operation);
        schedule_.op_of_slot.resize(part_.slots);
        for (const MemberPlan::Step& act : part_.steps) {
            ScheduleOp op{act.peer,
                          act.slot,
                          act.send,
                          act.merge,
                          static_cast<std::uint32_t>(schedule_.segments.size()),
                          0,
                          0,
                          act.hold_ns};
            for (std::uint32_t range = 0; range < act.ranges; ++range) {
                const BlockRange& blocks = part_.ranges[act.first_range + range];
                for (std::uint32_t block = blocks.first; block < blocks.first + blocks.count; ++block)
                    add(op, place_of(block));
            }
            op.segments = static_cast<std::uint32_t>(schedule_.segments.size()) - op.first_segment;
            if (!act.send) schedule_.op_of_slot[act.slot] = static_cast<std::uint32_t>(schedule_.ops.size());
            schedule_.ops.push_back(op);
        }
        schedule_.scratch_bytes = scratch_;
        schedule_.start = part_.start;
        return std::move(schedule_);
    }

  private:
    /// A span of one part a member.
    struct Whole {
        Space space = Space::scratch;
        Layout layout = {};
    };

    std::uint64_t count_of(const Layout& layout, std::uint64_t each, Rank member) const {
        return layout.counts.empty() ? each : layout.counts[member];
    }
    std::uint64_t begin_of(const Layout& layout, std::uint64_t each, Rank member) const {
        if (layout.counts.empty()) return each * member;
        if (!layout.displacements.empty()) return layout.displacements[member];
        return std::accumulate(layout.counts.begin(), layout.counts.begin() + member, std::uint64_t{0});
    }
    Segment part_in(const Whole& whole, std::uint64_t elements, Rank member) const {
        const std::uint64_t each = elements / part_.members;
        return {whole.space, begin_of(whole.layout, each, member) * element_,
                count_of(whole.layout, each, member) * element_};
    }

    void vector_in(Space space) { vector_ = space; }

    /// Contributions come together in `space`.
    void reduction(Space space) {
        vector_ = space;
        const std::uint64_t bytes = args_.send_elements * element_;
        const bool takes = part_.slots > 0;
        if (space == Space::scratch && !takes) { // it only hands over its own
            vector_ = Space::send;
            return;
        }
        if (space == Space::scratch) scratch_ = bytes;
        copy({Space::send, 0, bytes}, {space, 0, bytes});
    }

    /// This member's own block, where it lies by itself, and in the whole where there is one.
    void own(Space space) {
        const std::uint64_t elements = space == Space::send ? args_.send_elements : args_.receive_elements;
        const Segment mine{space, 0, elements * element_};
        if (whole_.space == Space::scratch) {
            places_[part_.me] = mine;
            return;
        }
        const Segment there = part_in(
            whole_, whole_.space == Space::send ? args_.send_elements : args_.receive_elements, part_.me);
        space == Space::send ? copy(mine, there) : copy(there, mine);
    }

    void exchange() {
        Space out = Space::send;
        if (in_place_) {
            out = Space::scratch;
            scratch_ = args_.send_elements * element_;
            copy({Space::send, 0, scratch_}, {Space::scratch, 0, scratch_});
        }
        const Whole outgoing{out, args_.send_layout};
        const Whole incoming{Space::receive, args_.receive_layout};
        for (Rank member = 0; member < part_.members; ++member) {
            if (member == part_.me) continue;
            exchange_out_.push_back(part_in(outgoing, args_.send_elements, member));
            exchange_in_.push_back(part_in(incoming, args_.receive_elements, member));
        }
        if (!in_place_)
            copy(part_in(outgoing, args_.send_elements, part_.me),
                 part_in(incoming, args_.receive_elements, part_.me));
    }

    void copy(const Segment& from, const Segment& to) {
        if (from.bytes > 0) schedule_.before.push_back({from, to});
    }

    Segment lend(std::uint32_t block, std::uint64_t bytes) {
        const auto [found, fresh] = places_.try_emplace(block, Segment{Space::scratch, scratch_, bytes});
        if (fresh) scratch_ += (bytes + 7) / 8 * 8;
        return found->second;
    }

    /// Of a block that lies by itself: patterns that pass blocks on are for equal lengths, and for lengths
    /// that every member knows.
    std::uint64_t length_of(std::uint32_t block) const {
        const bool scatters = part_.operation == Operation::scatter;
        const std::uint64_t own = scatters ? args_.receive_elements : args_.send_elements;
        if (lengths_ == Lengths::of_root) return own;
        return count_of(scatters ? args_.send_layout : args_.receive_layout, own, block);
    }

    Segment place_of(std::uint32_t block) {
        switch (part_.operation) {
        case Operation::broadcast:
        case Operation::reduce:
        case Operation::all_reduce:
        case Operation::scan:
        case Operation::exclusive_scan: {
            const std::uint64_t elements =
                part_.operation == Operation::broadcast ? args_.receive_elements : args_.send_elements;
            const std::uint64_t each = elements / part_.blocks;
            const std::uint64_t more = elements % part_.blocks;
            const std::uint64_t first = block * each + std::min<std::uint64_t>(block, more);
            return {vector_, first * element_, (each + (block < more ? 1 : 0)) * element_};
        }
        case Operation::scatter:
        case Operation::gather:
        case Operation::all_gather: {
            if (whole_.space != Space::scratch)
                return part_in(whole_,
                               whole_.space == Space::send ? args_.send_elements : args_.receive_elements,
                               block);
            return lend(block, length_of(block) * element_);
        }
        case Operation::all_to_all: {
            const Rank from = block / part_.members;
            const Rank to = block % part_.members;
            if (from == part_.me) return exchange_out_[to - (to > part_.me ? 1 : 0)];
            if (to == part_.me) return exchange_in_[from - (from > part_.me ? 1 : 0)];
            return lend(block, args_.send_elements / part_.members * element_);
        }
        case Operation::reduce_scatter:
            return part_in(whole_, args_.send_elements, block);
        case Operation::barrier:
            break;
        }
        return {Space::scratch, 0, 0};
    }

    void add(ScheduleOp& op, const Segment& segment) {
        if (segment.bytes == 0) return;
        op.bytes += segment.bytes;
        if (schedule_.segments.size() > op.first_segment) {
            Segment& last = schedule_.segments.back();
            if (last.space == segment.space && last.offset + last.bytes == segment.offset) {
                last.bytes += segment.bytes;
                return;
            }
        }
        schedule_.segments.push_back(segment);
    }

    const MemberPlan& part_;
    const CollectiveArgs& args_;
    const Lengths lengths_;
    const std::uint64_t element_;
    const bool in_place_;
    Space vector_ = Space::receive;
    Whole whole_;
    std::vector<Segment> exchange_out_; // of each other member
    std::vector<Segment> exchange_in_;
    std::map<std::uint32_t, Segment> places_; // of blocks that lie alone
    std::uint64_t scratch_ = 0;
    Schedule schedule_;
};

} // namespace

Schedule make_schedule(const MemberPlan& part, const CollectiveArgs& args, Lengths lengths) {
    return ScheduleBuilder(part, args, lengths).finish();
}

} // namespace plexus::eco::detail
