// SPDX-License-Identifier: BSD-3-Clause
// One context at its place in the model: it meets its neighbours and the members of the
// other model whose cells touch its own, sends them rows and waits for theirs. Decides by
// which method; knows nothing of physics. Model thread only.
#pragma once

#include "jobs.h"
#include "requests.h"

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace climate {

/// Where time goes, in seconds.
struct Spent {
    double inside = 0;  // the partition: halo exchange
    double between = 0; // the models
};

class Station {
  public:
    /// Publishes this member and finds the others. Throws plexus::Error if that fails.
    Station(plexus::Context& here, Jobs& jobs, const Options& options, const Layout& layout);
    Station(const Station&) = delete;
    Station& operator=(const Station&) = delete;

    plexus::Context& context() noexcept { return here_; }
    Model model() const noexcept { return model_; }
    int number() const noexcept { return number_; }

    /// Inside the partition: what selection finds best, or tcp as well. Returns when every
    /// connection stands.
    void connect(bool tcp_only);
    /// "shm shm, tcp": the method to each neighbour, then to each member of the other model.
    std::string methods() const;
    /// Which method leads to the other model: "forward" for the row "forward:gate".
    std::string lane_between() const;

    bool has_neighbour(Mailroom::Side side) const noexcept { return static_cast<bool>(neighbours_[side]); }
    void send_halo(Mailroom::Side to, std::uint32_t field, std::uint64_t turn, std::span<const double> rows);
    /// `shore` counts the layout's shores of this member.
    void send_shore(std::size_t shore, std::uint64_t turn, std::span<const double> rows);

    /// Waits for the delivery and hands it to `use`. Throws std::runtime_error when a peer is
    /// lost meanwhile.
    template <class Use>
    void receive(std::uint32_t box, std::uint64_t turn, Use&& use) {
        Mailbox& from = mailroom_.box(box);
        await(from, turn);
        use(from.values(turn));
        from.take(turn);
    }

    /// The same without a mailbox: until `done()`.
    void wait(const std::function<bool()>& done);

    Spent spent; ///< kept by those who use the station

  private:
    /// The first error that no caller waited for. Shared: a late one may outlive the station.
    struct Failure {
        std::mutex mutex;
        std::string text;               // guarded by mutex
        std::atomic<bool> there{false}; // a hint to look at the text; the mutex orders
    };
    void await(const Mailbox& box, std::uint64_t turn);

    plexus::Context& here_;
    Model model_;
    int number_;
    Mailroom mailroom_;
    std::array<plexus::GlobalPointer<Mailroom>, 2> neighbours_; // by Side; null at a wall
    std::vector<plexus::GlobalPointer<Mailroom>> across_;       // by shore
    std::shared_ptr<Failure> failure_ = std::make_shared<Failure>();
    plexus::Bound<Mailroom> bound_; // last: handlers end before what they use
};

} // namespace climate
