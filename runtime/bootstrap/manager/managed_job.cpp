// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/manager/managed_job.h"

#include "base/fork.h"
#include "base/log.h"
#include "bootstrap/manager/addresses.h"
#include "bootstrap/manager/job_line.h"
#include "bootstrap/manager/join_any.h"
#include "bootstrap/url.h"

#include <algorithm>
#include <condition_variable>
#include <cstdlib>

namespace plexus::bootstrap {
namespace {

/// In the place of the key, where all have it from files.
constexpr std::string_view kKeyInFile = "-";

struct ManagedJob {
    RankedMutex<17> mutex;
    std::condition_variable_any answered;         ///< `asking` is over
    bool asking PLEXUS_GUARDED_BY(mutex) = false; ///< a thread has the turn, and the manager
    BirthProcess asker PLEXUS_GUARDED_BY(mutex);  ///< the process of that thread
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
    if (status == EXIT_SUCCESS) server->wait_for_clients(others, all_come);
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

/// What came of the question; the key, and where the directory is.
struct Meeting {
    Key key;
    std::vector<std::string> urls;
    std::unique_ptr<DirectoryServer> server; ///< in rank 0
};

Result<Meeting> tell_others(ProcessManager& manager, const std::optional<Key>& file_key,
                            Clock::time_point deadline) {
    const Place& place = manager.place();
    Meeting met{file_key ? *file_key : random_key(), {}, nullptr};
    auto server = serve(place, met.key);
    if (!server) return server.failure();
    const auto url = parse_url((*server)->url());
    if (!url) return url.failure();
    const bool one_host = place.local_size == place.size;
    const std::string line =
        job_line(file_key ? std::string(kKeyInFile) : to_hex(met.key.bytes),
                 one_host ? std::vector{url->host} : hosts_to_tell(own_addresses(), url->host), url->port);
    if (auto told = manager.tell(line, deadline); !told) return told.failure();
    met.urls = parts_of(line);
    met.urls.erase(met.urls.begin()); // the key
    met.server = std::move(*server);
    return met;
}

Result<Meeting> hear_from_rank_0(ProcessManager& manager, const std::optional<Key>& file_key,
                                 Clock::time_point deadline) {
    const auto line = manager.hear(deadline);
    if (!line) return line.failure();
    std::vector<std::string> parts = parts_of(*line);
    if (parts.size() < 2) // not in words: they may be the job's key, cut off by the process manager
        return fail(Status::wrong_peer,
                    "rank 0 of the job {} is no Plexus context, or the process manager cuts what it says: {} "
                    "bytes came where the addresses of the job's directory should be",
                    manager.place().job, line->size());
    const std::string said_key = std::move(parts.front());
    parts.erase(parts.begin());
    std::stable_partition(parts.begin(), parts.end(), [](const std::string& each) {
        const auto url = parse_url(each);
        return url && is_in_own_subnet(url->host);
    });
    if (!file_key && said_key == kKeyInFile)
        return fail(Status::bad_config,
                    "rank 0 has the job's key from a file: set job.key_file for all ranks");
    const auto key = file_key ? Result<Key>(*file_key) : key_from_hex(said_key);
    if (!key) return key.failure();
    return Meeting{*key, std::move(parts), nullptr};
}

/// The turn to ask the process manager, of one thread at a time; a second one waits here. No lock is held
/// while a thread has it, so that others may fork.
class Turn {
  public:
    explicit Turn(ManagedJob& job)
      : job_(job) {
        Lock hold(job.mutex);
        // Who forks while another thread asks has a child in which nobody answers.
        while (job.asking && !job.asker.left()) job.answered.wait(job.mutex);
        has_it_ = !job.asking;
        if (!has_it_) return;
        job.asking = true;
        job.asker = BirthProcess();
    }
    ~Turn() {
        if (!has_it_) return;
        Lock hold(job_.mutex);
        job_.asking = false;
        job_.answered.notify_all();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    /// False in a forked child in which nobody can have it.
    explicit operator bool() const noexcept { return has_it_; }

  private:
    ManagedJob& job_;
    bool has_it_ = false;
};

/// What meet_under() returns, once that is known.
std::optional<Result<Key>> known(ManagedJob& job, const std::optional<Key>& file_key)
    PLEXUS_REQUIRES(job.mutex) {
    if (job.met && *job.met && file_key) return Result<Key>(*file_key);
    return job.met;
}

} // namespace

Result<Place> place_under(Launcher launcher, Clock::time_point deadline) {
    ManagedJob& job = managed();
    {
        Lock hold(job.mutex);
        if (job.place) return *job.place;
    }
    const Turn turn(job);
    if (!turn) return Failure{Status::closed, kForkedText};
    {
        Lock hold(job.mutex);
        if (job.place) return *job.place;
    }
    auto manager = launcher == Launcher::pmix ? connect_pmix() : connect_pmi(deadline);
    if (!manager) return manager.failure();
    register_end();
    Lock hold(job.mutex);
    job.place = (*manager)->place();
    job.manager = std::move(*manager);
    job.birth = BirthProcess();
    return *job.place;
}

Result<Key> meet_under(const std::optional<Key>& file_key, Clock::time_point deadline) {
    ManagedJob& job = managed();
    {
        Lock hold(job.mutex);
        if (const auto answer = known(job, file_key)) return *answer;
    }
    const Turn turn(job);
    if (!turn) return Failure{Status::closed, kForkedText};
    std::unique_ptr<ProcessManager> manager;
    {
        Lock hold(job.mutex);
        if (const auto answer = known(job, file_key)) return *answer;
        if (job.birth.left()) return Failure{Status::closed, kForkedText};
        manager = std::move(job.manager);
        job.start_time = deadline - Clock::now();
    }
    const Place& place = manager->place();
    log::info("bootstrap", "process {} of {} of the job {}", place.rank, place.size, place.job);
    auto met = place.rank == 0 ? tell_others(*manager, file_key, deadline)
                               : hear_from_rank_0(*manager, file_key, deadline);
    if (manager->may_end()) manager.reset();
    Lock hold(job.mutex);
    job.manager = std::move(manager);
    if (met) {
        job.met = Result<Key>(met->key);
        job.urls = std::move(met->urls);
        job.server = std::move(met->server);
        job.served_since = Clock::now();
    } else {
        job.met = Result<Key>(met.failure());
    }
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
