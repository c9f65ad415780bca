// SPDX-License-Identifier: BSD-3-Clause
#include "station.h"

#include <stdexcept>

namespace climate {
namespace {

/// The size of every box of a member, in values.
std::vector<std::size_t> box_sizes(const Layout& layout, Model model, int number) {
    const Model other = model == Model::atmosphere ? Model::ocean : Model::atmosphere;
    const int columns = layout.grid(model).columns;
    const auto halo = static_cast<std::size_t>(Field::kHalo * (columns + 2 * Field::kHalo));
    std::vector<std::size_t> sizes(2 * Mailroom::kFields, halo);
    sizes.resize(sizes.size() + static_cast<std::size_t>(layout.members(other)));
    // The sea's temperature for the atmosphere, two fluxes for the ocean.
    const int values = layout.grid(Model::atmosphere).columns * (model == Model::ocean ? 2 : 1);
    for (const Shore& shore : layout.shores(model, number))
        sizes[Mailroom::shore_box(static_cast<std::uint32_t>(shore.member))] =
            static_cast<std::size_t>(shore.rows * values);
    return sizes;
}

} // namespace

Station::Station(plexus::Context& here, Jobs& jobs, const Options& options, const Layout& layout)
  : here_(here)
  , model_(layout.model(jobs.rank()))
  , number_(layout.number(jobs.rank()))
  , mailroom_(box_sizes(layout, model_, number_))
  , bound_(here.bind(mailroom_)) {
    here.on(deliver, [](Mailroom& room, std::uint32_t box, std::uint64_t turn, std::span<const double> rows) {
        room.box(box).put(turn, rows);
    });
    here.on(hello, [](Mailroom&) {});
    here.on_error([failure = failure_](const plexus::Error& error) {
        const std::lock_guard hold(failure->mutex);
        if (failure->text.empty()) failure->text = error.what();
        failure->there.store(true, std::memory_order_relaxed);
    });

    here.publish(Layout::name(model_, number_), bound_.pointer());
    for (const Model model : {Model::atmosphere, Model::ocean})
        for (int number = 0; number < layout.members(model); ++number)
            jobs.carry<Mailroom>(Layout::name(model, number), model);
    const auto find = [&](Model model, int number) {
        return here.lookup<Mailroom>(Layout::name(model, number)).get();
    };
    if (number_ > 0) neighbours_[Mailroom::south] = find(model_, number_ - 1);
    if (number_ + 1 < layout.members(model_)) neighbours_[Mailroom::north] = find(model_, number_ + 1);
    const Model other = model_ == Model::atmosphere ? Model::ocean : Model::atmosphere;
    for (const Shore& shore : layout.shores(model_, number_)) {
        across_.push_back(find(other, shore.member));
        if (options.between != "auto") across_.back().use(options.between);
    }
}

void Station::connect(bool tcp_only) {
    std::vector<plexus::Future<void>> answers;
    for (auto& neighbour : neighbours_) {
        if (!neighbour) continue;
        if (tcp_only)
            neighbour.use("tcp");
        else
            neighbour.use(plexus::automatic);
        answers.push_back(neighbour.call(hello));
    }
    for (const auto& member : across_) answers.push_back(member.call(hello));
    for (auto& answer : answers) answer.get();
}

std::string Station::methods() const {
    const auto listed = [](const auto& pointers) {
        std::string words;
        for (const auto& pointer : pointers) {
            if (!pointer) continue;
            if (!words.empty()) words += ' ';
            words += pointer.method();
        }
        return words;
    };
    return listed(neighbours_) + ", " + listed(across_);
}

std::string Station::lane_between() const {
    const std::string method = across_.front().method();
    return method.substr(0, method.find(':'));
}

void Station::send_halo(Mailroom::Side to, std::uint32_t field, std::uint64_t turn,
                        std::span<const double> rows) {
    const Mailroom::Side seen_from_there = to == Mailroom::south ? Mailroom::north : Mailroom::south;
    neighbours_[to].send(deliver, Mailroom::halo_box(seen_from_there, field), turn, rows);
}

void Station::send_shore(std::size_t shore, std::uint64_t turn, std::span<const double> rows) {
    across_[shore].send(deliver, Mailroom::shore_box(static_cast<std::uint32_t>(number_)), turn, rows);
}

void Station::await(const Mailbox& box, std::uint64_t turn) {
    if (!box.has(turn)) wait([&] { return box.has(turn); });
}

void Station::wait(const std::function<bool()>& done) {
    const auto failed = [&] { return failure_->there.load(std::memory_order_relaxed); };
    here_.run_until([&] { return done() || failed(); });
    if (!failed()) return;
    const std::lock_guard hold(failure_->mutex);
    throw std::runtime_error(failure_->text);
}

} // namespace climate
