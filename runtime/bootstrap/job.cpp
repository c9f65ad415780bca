// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/job.h"

#include "base/log.h"

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace plexus::bootstrap {
namespace {

constexpr char kAdvice[] = "start the program with plexus run, or unset all PLEXUS_JOB_ variables";

std::string_view variable(const char* name) {
    const char* text = std::getenv(name);
    return text == nullptr ? std::string_view{} : std::string_view(text);
}

Result<std::uint32_t> number(const char* name) {
    const std::string_view text = variable(name);
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size())
        return fail(Status::bad_config, "{}=\"{}\" is not a number: {}", name, text, kAdvice);
    return value;
}

} // namespace

Result<Job> Job::from_environment() {
    Job job;
    job.id = variable(kJobId);
    if (job.id.empty()) {
        for (const char* name : {kJobRank, kJobSize, kJobLocalSize, kJobUrl, kJobKey})
            if (!variable(name).empty())
                return fail(Status::bad_config, "{} is set but {} is not: {}", name, kJobId, kAdvice);
        return job;
    }
    const auto rank = number(kJobRank);
    if (!rank) return rank.failure();
    const auto size = number(kJobSize);
    if (!size) return size.failure();
    job.rank = *rank;
    job.size = *size;
    if (job.rank >= job.size)
        return fail(Status::bad_config, "{}={} is not below {}={}: {}", kJobRank, job.rank, kJobSize,
                    job.size, kAdvice);
    if (!variable(kJobLocalSize).empty()) {
        const auto local = number(kJobLocalSize);
        if (!local) return local.failure();
        if (*local == 0 || *local > job.size)
            return fail(Status::bad_config, "{}={} does not fit {}={}: {}", kJobLocalSize, *local, kJobSize,
                        job.size, kAdvice);
        job.local_size = *local;
    }
    job.url = variable(kJobUrl);
    if (job.url.empty()) return fail(Status::bad_config, "{} is missing: {}", kJobUrl, kAdvice);
    if (variable(kJobKey).empty()) return fail(Status::bad_config, "{} is missing: {}", kJobKey, kAdvice);
    const auto key = key_from_hex(variable(kJobKey));
    if (!key) return fail(Status::bad_config, "{}: {}", kJobKey, key.failure().why);
    job.key = *key;
    return job;
}

} // namespace plexus::bootstrap
