// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/manager/join_any.h"

#include <algorithm>
#include <thread>

namespace plexus::bootstrap {
namespace {

constexpr std::chrono::seconds kTimePerAddress{2};
constexpr std::chrono::milliseconds kPause{100};

/// What another attempt cannot change.
bool is_final(Status status) { return status == Status::denied || status == Status::bad_argument; }

} // namespace

Result<std::shared_ptr<Directory>> join_any(const std::vector<std::string>& urls, const Key& key,
                                            const ContextId& who, Clock::time_point deadline) {
    for (Clock::duration each = kTimePerAddress;;
         each = std::min<Clock::duration>(2 * each, deadline - Clock::now())) {
        Failure last{Status::not_found, "the job has no directory"};
        std::string said;
        bool all_final = true;
        for (const std::string& url : urls) {
            auto joined = join(url, key, who, std::min(deadline, Clock::now() + each));
            if (joined) return joined;
            last = joined.failure();
            said += (said.empty() ? "" : "; ") + last.why;
            all_final = all_final && is_final(last.status);
        }
        if (all_final || Clock::now() + kPause >= deadline) return Failure{last.status, std::move(said)};
        std::this_thread::sleep_for(kPause);
    }
}

} // namespace plexus::bootstrap
