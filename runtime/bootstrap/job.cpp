// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/job.h"

#include "base/fork.h"
#include "base/log.h"
#include "base/mutex.h"
#include "bootstrap/manager/managed_job.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <openssl/crypto.h>
#include <string_view>

namespace plexus::bootstrap {
namespace {

constexpr char kAdvice[] = "start the program with plexus run, or unset all PLEXUS_JOB_ variables";

// Empty if the caller of this process has fewer rights than the process: it must not choose the job.
std::string_view variable(const char* name) {
    const char* text = ::secure_getenv(name);
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

/// The key that this process was given, for contexts that start after it was removed from the environment.
struct Kept {
    RankedMutex<19> mutex;
    std::string job PLEXUS_GUARDED_BY(mutex);
    std::optional<Key> key PLEXUS_GUARDED_BY(mutex);
};

Kept& kept() {
    static Kept& the = *new Kept; // contexts may start while static objects end
    return the;
}
const HeldAcrossFork kKeptAcrossFork{kept().mutex};

/// Takes the key out of the environment, so that neither child processes nor /proc/PID/environ show it.
/// The variable stays, empty: other threads may be reading the array of variables.
Result<Key> take_key(const std::string& job) {
    Kept& kept_key = kept();
    Lock hold(kept_key.mutex);
    if (char* text = ::secure_getenv(kJobKey); text != nullptr && *text != '\0') {
        const auto key = key_from_hex(text);
        if (!key) return fail(Status::bad_config, "{}: {}", kJobKey, key.failure().why);
        OPENSSL_cleanse(text, std::strlen(text));
        kept_key.job = job;
        kept_key.key = *key;
    }
    if (kept_key.key && kept_key.job == job) return *kept_key.key;
    return fail(
        Status::bad_config,
        "{} is missing: the launcher gives it to the processes that it starts, and these do not hand it "
        "on to those that they start in turn: {}",
        kJobKey, kAdvice);
}

} // namespace

Result<Job> Job::find(std::string_view wanted, Clock::time_point deadline) {
    const DetectedLauncher detected = detect_launcher(wanted);
    Job job;
    if (detected.kind == Launcher::plexus) {
        auto read = from_environment();
        if (!read) return read;
        job = std::move(*read);
    } else if (detected.kind != Launcher::none) {
        const auto place = place_under(detected.kind, deadline);
        if (!place) return place.failure();
        job.id = place->job;
        job.rank = place->rank;
        job.size = place->size;
        job.local_size = place->local_size;
    }
    job.launcher = detected;
    return job;
}

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
    const auto key = take_key(job.id);
    if (!key) return key.failure();
    job.key = *key;
    return job;
}

} // namespace plexus::bootstrap
