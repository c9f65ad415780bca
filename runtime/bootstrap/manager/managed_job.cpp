// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/manager/managed_job.h"

#include "base/fork.h"
#include "base/log.h"
#include "bootstrap/manager/addresses.h"
#include "bootstrap/manager/entrances.h"
#include "bootstrap/manager/job_line.h"
#include "bootstrap/url.h"

#include <algorithm>
#include <cstdlib>

namespace plexus::bootstrap {
namespace {

/// In the place of the key, where all have it from files.
constexpr std::string_view kKeyInFile = "-";

struct ManagedJob {
    RankedMutex<17> mutex;
    std::optional<Place> place PLEXUS_GUARDED_BY(mutex);
    std::unique_ptr<ProcessManager> manager PLEXUS_GUARDED_BY(mutex); ///< until it may end
    std::optional<Result<Key>> met PLEXUS_GUARDED_BY(mutex);
    std::vector<std::string> urls PLEXUS_GUARDED_BY(mutex); ///< of the directory, to be tried in this order
    std::unique_ptr<DirectoryServer> server PLEXUS_GUARDED_BY(mutex); ///< in rank 0
    BirthProcess birth PLEXUS_GUARDED_BY(mutex); ///< of the process that has manager and server
    Clock::time_point served_since PLEXUS_GUARDED_BY(mutex);
    Clock::duration start_time PLEXUS_GUARDED_BY(mutex){}; ///< that the others may take to come
};

ManagedJob& managed() {
    static ManagedJob& the = *new ManagedJob; // contexts may start while static objects end
    return the;
}
const HeldAcrossFork kManagedAcrossFork{managed().mutex};

/// When the process ends. The others still need the directory that rank 0 serves, as they would need the
/// launcher: its process stays until they have left, or have not even come in the time that they may take to
/// start. Where it has failed the job has, and nobody is waited for: what the directory's end tells them is
/// true. Called by exit(3), in a forked child, too.
void at_exit(int status, void*) {
    ManagedJob& job = managed();
    std::unique_ptr<DirectoryServer> server;
    std::uint32_t others = 0;
    Clock::time_point all_come;
    {
        Lock hold(job.mutex);
        if (job.birth.left()) {
            static_cast<void>(job.manager.release()); // the parent's, as is the server
            return;
        }
        job.manager.reset();
        if (job.server == nullptr) return;
        server = std::move(job.server);
        others = job.place->size - 1;
        all_come = job.served_since + job.start_time;
    }
    if (status == EXIT_SUCCESS) server->wait_for_guests(others, all_come);
}

/// What the directory needs while the process ends, OpenSSL, has to end after it: so it is used before, which
/// sets up its own end. The library is linked to stay in the process until then (-z nodelete).
void register_end() {
    static_cast<void>(prove(Key{}, {}));
    static const int registered = ::on_exit(at_exit, nullptr);
    static_cast<void>(registered); // without memory for it the others see the directory end early
}

Result<std::unique_ptr<DirectoryServer>> serve(const Place& place, const Key& key) {
    const bool one_host = place.local_size == place.size;
    auto server =
        DirectoryServer::listen(one_host ? "plexus://127.0.0.1:0" : "plexus://[::]:0", key, place.size);
    if (server) return server;
    return DirectoryServer::listen(one_host ? "plexus://[::1]:0" : "plexus://0.0.0.0:0", key, place.size);
}

Result<Key> tell_others(ManagedJob& job, const std::optional<Key>& file_key, Clock::time_point deadline)
    PLEXUS_REQUIRES(job.mutex) {
    const Key key = file_key ? *file_key : random_key();
    auto server = serve(*job.place, key);
    if (!server) return server.failure();
    const auto url = parse_url((*server)->url());
    if (!url) return url.failure();
    const bool one_host = job.place->local_size == job.place->size;
    const std::string line =
        job_line(file_key ? std::string(kKeyInFile) : to_hex(key.bytes),
                 one_host ? std::vector{url->host} : hosts_to_tell(own_addresses(), url->host), url->port);
    if (auto told = job.manager->tell(line, deadline); !told) return told.failure();
    job.urls = parts_of(line);
    job.urls.erase(job.urls.begin()); // the key
    job.server = std::move(*server);
    job.served_since = Clock::now();
    return key;
}

Result<Key> hear_from_rank_0(ManagedJob& job, const std::optional<Key>& file_key, Clock::time_point deadline)
    PLEXUS_REQUIRES(job.mutex) {
    const auto line = job.manager->hear(deadline);
    if (!line) return line.failure();
    std::vector<std::string> parts = parts_of(*line);
    if (parts.size() < 2)
        return fail(Status::wrong_peer,
                    "rank 0 of the job {} is no Plexus context: it says \"{}\" where the job's "
                    "directory should be",
                    job.place->job, *line);
    const std::string said_key = std::move(parts.front());
    parts.erase(parts.begin());
    std::stable_partition(parts.begin(), parts.end(), [](const std::string& each) {
        const auto url = parse_url(each);
        return url && is_in_own_subnet(url->host);
    });
    job.urls = std::move(parts);
    if (file_key) return *file_key;
    if (said_key == kKeyInFile)
        return fail(Status::bad_config,
                    "rank 0 has the job's key from a file: set job.key_file for all ranks");
    return key_from_hex(said_key);
}

} // namespace

Result<Place> place_under(Launcher launcher, Clock::time_point deadline) {
    ManagedJob& job = managed();
    Lock hold(job.mutex);
    if (job.place) return *job.place;
    auto manager = launcher == Launcher::pmix ? connect_pmix() : connect_pmi(deadline);
    if (!manager) return manager.failure();
    job.place = (*manager)->place();
    job.manager = std::move(*manager);
    job.birth = BirthProcess();
    register_end();
    return *job.place;
}

Result<Key> meet_under(const std::optional<Key>& file_key, Clock::time_point deadline) {
    ManagedJob& job = managed();
    Lock hold(job.mutex);
    if (!job.met) {
        if (job.birth.left()) return Failure{Status::closed, kForkedText};
        log::info("bootstrap", "process {} of {} of the job {}", job.place->rank, job.place->size,
                  job.place->job);
        job.start_time = deadline - Clock::now();
        job.met = job.place->rank == 0 ? tell_others(job, file_key, deadline)
                                       : hear_from_rank_0(job, file_key, deadline);
        if (job.manager->may_end()) job.manager.reset();
    }
    if (*job.met && file_key) return *file_key;
    return *job.met;
}

Result<std::shared_ptr<Directory>> enter_managed(const Key& key, const ContextId& who,
                                                 Clock::time_point deadline) {
    ManagedJob& job = managed();
    std::vector<std::string> urls;
    std::uint32_t rank = 0;
    {
        Lock hold(job.mutex);
        rank = job.place->rank;
        if (job.server != nullptr && !job.birth.left()) return job.server->local();
        urls = job.urls;
    }
    auto joined = join_any(urls, key, who, deadline);
    // Where another context of this rank is in there, it has said so.
    if (joined) static_cast<void>((*joined)->publish(came_name(rank), {}));
    return joined;
}

} // namespace plexus::bootstrap
