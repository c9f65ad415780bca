// SPDX-License-Identifier: BSD-3-Clause
#include "tools/benchmark/transfer.h"

#include "tools/common/quantity.h"

#include <algorithm>
#include <deque>
#include <fmt/format.h>

namespace plexus::tools::bench {
namespace {

/// So many transfers are under way at once, all of the same memory, as the libraries' own tests have it.
constexpr std::uint64_t kWindow = 8;
constexpr std::byte kOurs{9};

/// The far memory, and as much of our own.
class Transfer {
  public:
    Transfer(NearEnd& end, std::uint64_t size)
      : putting_(end.wish().kind == Kind::put)
      , store_(end.here().lookup<Store>(kStoreName).get())
      , far_(store_.call(lend, size).get())
      , near_(end.here().allocate<std::byte>(size)) {
        std::fill(near_.local().begin(), near_.local().end(), kOurs);
    }

    std::string method() const { return far_.method(); }

    /// Seconds for so many.
    double run(std::uint64_t transfers) {
        std::deque<Future<void>> under_way;
        const auto start = Clock::now();
        for (std::uint64_t transfer = 0; transfer < transfers; ++transfer) {
            if (under_way.size() == kWindow) {
                under_way.front().get();
                under_way.pop_front();
            }
            under_way.push_back(putting_ ? far_.put(0, near_.local()) : far_.get(0, near_.local()));
        }
        for (Future<void>& each : under_way) each.get();
        return seconds(Clock::now() - start);
    }

    /// After at least one of them.
    void check() const {
        const std::byte wanted = putting_ ? kOurs : kStored;
        const bool whole = putting_ ? store_.call(holds, static_cast<std::uint8_t>(wanted)).get()
                                    : std::all_of(near_.local().begin(), near_.local().end(),
                                                  [&](std::byte byte) { return byte == wanted; });
        if (!whole) throw Error(Status::bad_archive, "other bytes arrived than were sent");
    }

  private:
    bool putting_;
    GlobalPointer<Store> store_;
    GlobalSpan<std::byte> far_;
    BoundSpan<std::byte> near_;
};

} // namespace

std::vector<Row> measure_transfer(NearEnd& end) {
    std::vector<Row> rows;
    for (const std::uint64_t size : end.wish().sizes) {
        const std::string what = fmt::format("{}, {}", name_of(end.wish().kind), show_size(size));
        end.progress().show(what + ": warming up");
        Transfer transfer(end, size);
        const auto run = [&](std::uint64_t transfers) { return transfer.run(transfers); };
        const std::uint64_t transfers = warm_up(end.wish(), kWindow, run);
        double best = transfer.run(transfers);
        for (std::uint32_t round = 1; round < Wish::kRounds; ++round) {
            end.progress().show(fmt::format("{}: round {} of {}", what, round + 1, Wish::kRounds));
            best = std::min(best, transfer.run(transfers));
        }
        transfer.check();
        Row& row = rows.emplace_back();
        row.kind = end.wish().kind;
        row.used = transfer.method();
        row.size_bytes = size;
        row.iterations = transfers;
        row.messages_per_s = static_cast<double>(transfers) / best;
        row.bytes_per_s = row.messages_per_s * static_cast<double>(size);
        row.skip_poll = end.skip_poll_of(row.used);
    }
    return rows;
}

} // namespace plexus::tools::bench
