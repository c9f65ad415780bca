// SPDX-License-Identifier: BSD-3-Clause
#include "observe.h"

#include <stdexcept>

namespace s4u = simgrid::s4u;
using namespace plexus::eco;

namespace {

constexpr std::uint32_t kInARow = 16;
constexpr std::uint64_t kLeastJudge = 1024;

class Link {
  public:
    Link(s4u::Host* one, s4u::Host* other, Sending sending)
      : hosts_{one, other}
      , sending_(sending) {}

    /// There and back, as often as there are sizes.
    double trip_s(const std::vector<std::uint64_t>& there_and_back) const {
        Program program = empty();
        for (std::uint32_t at = 0; at < there_and_back.size(); ++at)
            program.add({at % 2, 1 - at % 2, there_and_back[at]});
        return play(hosts_, program, sending_);
    }

    Observation operator()(const Experiment& experiment) const {
        if (experiment.load != Load::none) throw std::runtime_error("no load is made here");
        const std::uint64_t bytes = experiment.bytes;
        switch (experiment.quantity) {
        case Quantity::ping_pong:
            return halved(seen(trip_s({bytes, bytes}), 2, 2 * bytes));
        case Quantity::round_trip:
            return seen(trip_s({bytes, 0}), 2, bytes);
        case Quantity::send:
            return seen(busy_s(bytes), 1, bytes);
        case Quantity::receive:
            return seen(kOverheadS, 1, bytes);
        case Quantity::gap:
            return seen((in_a_row_s(kInARow, bytes) - in_a_row_s(1, bytes)) / (kInARow - 1), kInARow,
                        kInARow * bytes);
        }
        throw std::logic_error("an unknown quantity");
    }

  private:
    static Program empty() {
        Program out;
        out.steps.resize(2);
        return out;
    }
    static Observation seen(double time_s, std::uint64_t messages, std::uint64_t bytes) {
        return {time_s, {messages, bytes, time_s}};
    }
    static Observation halved(Observation whole) {
        whole.time_s /= 2;
        return whole;
    }
    /// How long a program is in send().
    double busy_s(std::uint64_t bytes) const {
        switch (sending_) {
        case Sending::at_once:
            break;
        case Sending::in_turn:
            return in_a_row_s(2, bytes) - in_a_row_s(1, bytes);
        case Sending::arrived:
            return in_a_row_s(1, bytes) - kOverheadS;
        }
        return kOverheadS;
    }
    double in_a_row_s(std::uint32_t count, std::uint64_t bytes) const {
        Program program = empty();
        for (std::uint32_t at = 0; at < count; ++at) program.add({0, 1, bytes});
        return play(hosts_, program, sending_);
    }

    std::vector<s4u::Host*> hosts_;
    Sending sending_;
};

} // namespace

std::vector<ModelFit> models_between(s4u::Host* one, s4u::Host* other, Sending sending, Choice choice,
                                     std::uint64_t most_bytes) {
    const Link link(one, other, sending);
    Sample judges;
    for (std::uint64_t bytes = choice == Choice::judged ? kLeastJudge : most_bytes; bytes <= most_bytes;
         bytes *= 8) {
        judges.messages.push_back({{bytes}, link.trip_s({bytes, bytes}) / 2});
        judges.occupancy.push_back({bytes, 0, {}, {}, link({Quantity::gap, Load::none, bytes}).time_s});
    }
    AcquisitionOptions options;
    options.most_bytes = most_bytes;
    std::vector<ModelFit> out;
    for (const ModelKind kind : {ModelKind::hockney, ModelKind::logp, ModelKind::loggp, ModelKind::plogp})
        if (choice == Choice::judged || kind == ModelKind::plogp)
            out.push_back(fit(acquire(kind, link, options), judges));
    return out;
}
