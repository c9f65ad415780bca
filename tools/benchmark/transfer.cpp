// SPDX-License-Identifier: BSD-3-Clause
#include "tools/benchmark/transfer.h"

#include "tools/common/quantity.h"

#include <algorithm>
#include <deque>
#include <fmt/format.h>

namespace plexus::tools::benchmark {
namespace {

/// Transfers under way at once, all of the same memory, as in the libraries' own tests.
constexpr std::uint64_t kWindow = 8;
constexpr std::byte kOurs{9};

/// The responder's memory, and as much memory here: a number of buffers, which are moved in turn.
class Transfer {
  public:
    Transfer(Initiator& end, std::uint64_t size)
      : putting_(end.options().kind == Kind::put)
      , size_(size)
      , store_(end.here().lookup<Store>(kStoreName).get())
      , far_(store_.call(lend, size * end.options().buffers).get())
      , near_(end.here().allocate<std::byte>(size * end.options().buffers)) {
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
            const std::span<std::byte> near = near_.local().subspan(next_, size_);
            under_way.push_back(putting_ ? far_.put(next_, near) : far_.get(next_, near));
            next_ += size_;
            if (next_ == near_.local().size()) next_ = 0;
        }
        for (Future<void>& each : under_way) each.get();
        return seconds_since(start);
    }

    /// After at least one transfer of each buffer.
    void check() const {
        const std::byte wanted = putting_ ? kOurs : kStored;
        const bool whole = putting_ ? store_.call(holds, static_cast<std::uint8_t>(wanted)).get()
                                    : std::all_of(near_.local().begin(), near_.local().end(),
                                                  [&](std::byte byte) { return byte == wanted; });
        if (!whole) throw Error(Status::bad_archive, "other bytes arrived than were sent");
    }

  private:
    bool putting_;
    std::uint64_t size_;
    std::uint64_t next_ = 0; ///< where the buffer begins whose turn it is
    GlobalPointer<Store> store_;
    GlobalSpan<std::byte> far_;
    BoundSpan<std::byte> near_;
};

} // namespace

std::vector<Row> measure_transfer(Initiator& end) {
    std::vector<Row> rows;
    for (const std::uint64_t size : end.options().sizes) {
        Transfer transfer(end, size);
        const Best best = end.best_of(fmt::format("{}, {}", name_of(end.options().kind), show_size(size)),
                                      std::max<std::uint64_t>(kWindow, end.options().buffers),
                                      [&](std::uint64_t transfers) { return transfer.run(transfers); });
        transfer.check();
        Row& row = rows.emplace_back();
        row.kind = end.options().kind;
        row.used = transfer.method();
        row.size_bytes = size;
        row.iterations = best.iterations;
        row.buffers = end.options().buffers;
        row.messages_per_s = 1 / best.each();
        row.bytes_per_s = row.messages_per_s * static_cast<double>(size);
        row.skip_poll = end.skip_poll_of(row.used);
    }
    return rows;
}

} // namespace plexus::tools::benchmark
