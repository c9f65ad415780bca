// SPDX-License-Identifier: BSD-3-Clause
#include "worker.h"

#include <ctime>

namespace balance {
namespace {

/// Of this thread: a member that shares its processor with others is not slow for that here.
double processor_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

} // namespace

std::uint64_t Worker::work() const noexcept {
    std::uint64_t sum = 0;
    for (const Row& row : rows_) sum += row.head.cost;
    return sum;
}

double Worker::advance(std::uint32_t passes) {
    const double begin = processor_seconds();
    std::uint64_t done = 0;
    for (Row& row : rows_) {
        for (owed_ += slowness_ - 1; owed_ >= 1; owed_ -= 1) {
            Row again = row;
            picture_.advance(again, passes);
            done += again.head.cost;
        }
        picture_.advance(row, passes);
        done += row.head.cost;
    }
    return counts_work_ ? static_cast<double>(done) : processor_seconds() - begin;
}

} // namespace balance
