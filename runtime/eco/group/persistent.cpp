// SPDX-License-Identifier: BSD-3-Clause
// Persistent collectives: calls that are checked and planned once.
#include "group/group_state.h"
#include "plexus/eco/group.h"
#include "topology/refuse.h"

#include <array>

namespace plexus::eco {

class PersistentCollective::State {
  public:
    State(std::shared_ptr<detail::GroupState> group, const detail::CollectiveArgs& args,
          const Algorithm& algorithm, Deadline deadline)
      : group_(std::move(group))
      , deadline_(deadline)
      , args_(args)
      , blocking_(group_->prepare(args, algorithm, true)) {
        if (!algorithm.uses_memory() && !algorithm.uses_multicast() && !blocking_->signature.tells)
            async_ = blocking_->signature.by_messages() ? blocking_ : group_->prepare(args, algorithm, false);
        keep(args_.send_layout, send_layout_);
        keep(args_.receive_layout, receive_layout_);
    }

    Future<void> start() {
        refuse_second_run();
        if (async_ == nullptr)
            refuse(Status::unsupported,
                   "{}: only run() uses shared memory or multicast, or tells lengths: see Algorithm",
                   blocking_->signature.text());
        return group_->start(async_, args_, group_->ends_at(deadline_), &last_);
    }
    void run() {
        refuse_second_run();
        group_->run(blocking_, args_, group_->ends_at(deadline_));
    }

  private:
    void refuse_second_run() const {
        if (last_ != nullptr && !last_->done())
            refuse(Status::busy, "the last run of this {} has not ended", async_->signature.text());
    }
    /// Copies the arrays of a layout, which are the caller's.
    static void keep(Layout& layout, std::array<std::vector<std::uint64_t>, 2>& copy) {
        copy[0].assign(layout.counts.begin(), layout.counts.end());
        copy[1].assign(layout.displacements.begin(), layout.displacements.end());
        layout = {copy[0], copy[1]};
    }

    std::shared_ptr<detail::GroupState> group_;
    const Deadline deadline_;
    detail::CollectiveArgs args_;
    std::array<std::vector<std::uint64_t>, 2> send_layout_;
    std::array<std::vector<std::uint64_t>, 2> receive_layout_;
    std::shared_ptr<const detail::PlannedCall> blocking_; ///< for run()
    std::shared_ptr<const detail::PlannedCall> async_;    ///< for start(); null: start() is not supported
    std::shared_ptr<plexus::detail::CallState> last_;
};

PersistentCollective::PersistentCollective(std::unique_ptr<State> state) noexcept
  : state_(std::move(state)) {}
PersistentCollective::PersistentCollective(PersistentCollective&&) noexcept = default;
PersistentCollective& PersistentCollective::operator=(PersistentCollective&&) noexcept = default;
PersistentCollective::~PersistentCollective() = default;
Future<void> PersistentCollective::start() { return state_->start(); }
void PersistentCollective::run() { state_->run(); }

PersistentCollective PreparingGroup::begin(const detail::CollectiveArgs& args) const {
    return PersistentCollective(
        std::make_unique<PersistentCollective::State>(state_, args, algorithm_, deadline_));
}

} // namespace plexus::eco
