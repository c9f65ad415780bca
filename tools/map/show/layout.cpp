// SPDX-License-Identifier: BSD-3-Clause
#include "tools/map/show/layout.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace plexus::tools::show {
namespace {

constexpr double kLetter = 6.6; // width, of the font in the pictures
constexpr double kRow = 44;
constexpr double kPadding = 12;
constexpr double kHead = 22; // of a box, for its label
constexpr double kGap = 16;
constexpr double kAspect = 2;
constexpr std::size_t kMostLetters = 14;

struct Group {
    std::size_t level = 0;
    eco::Subnet hosts;
    std::vector<Group> parts;
    Box box;
};

/// The groups of one level, each with its parts.
std::vector<Group> groups_of(const std::vector<eco::Partition>& levels, std::size_t level) {
    std::vector<Group> out;
    std::vector<Group> parts;
    if (level > 0) parts = groups_of(levels, level - 1);
    for (const eco::Subnet& subnet : levels[level]) {
        Group group{level, subnet, {}, {}};
        for (Group& part : parts)
            if (!part.hosts.empty() && // not merged into another group
                std::binary_search(subnet.begin(), subnet.end(), part.hosts.front()))
                group.parts.push_back(std::move(part));
        // A group that joined nothing on this level is drawn as on the level below.
        if (group.parts.size() == 1) group = Group(std::move(group.parts.front()));
        out.push_back(std::move(group));
    }
    return out;
}

struct Extent {
    double least = eco::CostMatrix::kNotMeasured;
    double greatest = 0;

    void add(double cost) {
        if (std::isinf(cost)) return;
        least = std::min(least, cost);
        greatest = std::max(greatest, cost);
    }
    std::string text() const {
        if (std::isinf(least)) return "not measured";
        const std::string low = show_us(least);
        const std::string high = show_us(greatest);
        return low == high ? low : low + " to " + high;
    }
};

class Arranger {
  public:
    Arranger(const eco::Map& map, const eco::CostMatrix& costs)
      : costs_(costs) {
        std::size_t longest = 3;
        for (const std::string& name : map.hosts()) longest = std::max(longest, name.size());
        out_.most_letters = std::min(longest, kMostLetters);
        out_.hosts.resize(map.hosts().size());
        column_ = static_cast<double>(out_.most_letters) * kLetter + 10;
    }

    Layout arrange(std::vector<Group> groups) {
        for (Group& group : groups) size(group);
        const auto [width, height] = in_rows(groups);
        out_.width = width + 2 * kPadding;
        out_.height = height + 2 * kPadding;
        for (const Group& group : groups) place(group, kPadding, kPadding);
        return std::move(out_);
    }

  private:
    void size(Group& group) {
        group.box.level = group.level;
        double width = 0;
        double height = 0;
        Extent extent;
        if (group.parts.empty()) {
            const auto count = static_cast<double>(group.hosts.size());
            columns_ = std::max(1.0, std::ceil(std::sqrt(count * kAspect * kRow / column_)));
            width = std::min(count, columns_) * column_;
            height = std::ceil(count / columns_) * kRow;
            for (const std::size_t a : group.hosts)
                for (const std::size_t b : group.hosts)
                    if (a < b) extent.add(costs_(a, b));
            group.box.label =
                group.hosts.size() == 1 ? "1 host" : fmt::format("{} hosts, {}", count, extent.text());
        } else {
            for (Group& part : group.parts) size(part);
            std::tie(width, height) = in_rows(group.parts);
            for (std::size_t one = 0; one < group.parts.size(); ++one)
                for (std::size_t other = 0; other < one; ++other)
                    for (const std::size_t a : group.parts[one].hosts)
                        for (const std::size_t b : group.parts[other].hosts) extent.add(costs_(a, b));
            group.box.label = fmt::format("{} subnets, {} between", group.parts.size(), extent.text());
        }
        const double label = static_cast<double>(group.box.label.size()) * kLetter;
        group.box.width = std::max(width, label) + 2 * kPadding;
        group.box.height = height + kHead + kPadding;
    }

    /// Boxes side by side in rows, so wide that the whole fits a screen best.
    static std::pair<double, double> in_rows(std::vector<Group>& groups) {
        double widest = 0;
        double all = 0;
        for (const Group& group : groups) {
            widest = std::max(widest, group.box.width);
            all += group.box.width + kGap;
        }
        constexpr int kTries = 40;
        double best = all;
        double least = std::numeric_limits<double>::infinity();
        for (int attempt = 0; attempt <= kTries; ++attempt) {
            const double wanted = widest + (all - widest) * attempt / kTries;
            const auto [width, height] = in_rows(groups, wanted);
            const double screen = std::max(width / kAspect, height);
            if (screen < least - 1) { // of alike ones the narrowest
                least = screen;
                best = wanted;
            }
        }
        return in_rows(groups, best);
    }

    static std::pair<double, double> in_rows(std::vector<Group>& groups, double wanted) {
        double x = 0;
        double y = 0;
        double row = 0;
        double width = 0;
        for (Group& group : groups) {
            if (x > 0 && x + group.box.width > wanted) {
                y += row + kGap;
                x = row = 0;
            }
            group.box.x = x;
            group.box.y = y;
            x += group.box.width + kGap;
            row = std::max(row, group.box.height);
            width = std::max(width, x - kGap);
        }
        return {width, y + row};
    }

    void place(const Group& group, double x, double y) {
        Box box = group.box;
        box.x += x;
        box.y += y;
        out_.boxes.push_back(box);
        const double inner_x = box.x + kPadding;
        const double inner_y = box.y + kHead;
        for (const Group& part : group.parts) place(part, inner_x, inner_y);
        if (!group.parts.empty()) return;
        const auto columns =
            static_cast<std::size_t>(std::max(1.0, std::floor((box.width - 2 * kPadding) / column_ + 0.01)));
        for (std::size_t at = 0; at < group.hosts.size(); ++at)
            out_.hosts[group.hosts[at]] = {inner_x + (static_cast<double>(at % columns) + 0.5) * column_,
                                           inner_y + static_cast<double>(at / columns) * kRow +
                                               Layout::kHostRadius + 6};
    }

    const eco::CostMatrix& costs_;
    double column_ = 0;
    double columns_ = 1;
    Layout out_;
};

} // namespace

Layout lay_out(const eco::Map& map, const eco::CostMatrix& costs, const std::vector<eco::Partition>& levels) {
    return Arranger(map, costs).arrange(groups_of(levels, levels.size() - 1));
}

std::vector<std::size_t> in_order(const std::vector<eco::Partition>& levels) {
    std::vector<std::size_t> order;
    const auto add = [&](const auto& self, const Group& group) -> void {
        for (const Group& part : group.parts) self(self, part);
        if (group.parts.empty()) order.insert(order.end(), group.hosts.begin(), group.hosts.end());
    };
    for (const Group& group : groups_of(levels, levels.size() - 1)) add(add, group);
    return order;
}

std::string show_us(double us) {
    if (us < 1000) return fmt::format("{:.3g} us", us);
    if (us < 1e6) return fmt::format("{:.3g} ms", us / 1e3);
    return fmt::format("{:.3g} s", us / 1e6);
}

} // namespace plexus::tools::show
