// SPDX-License-Identifier: BSD-3-Clause
// Sets a job up: key, directory, pipes, subreaper, supervisor. The order matters: the subreaper is forked
// before this process starts a thread for the job, so that the fork never copies a lock that is held.
#include "plexus/launch.h"

#include "base/crypto.h"
#include "base/log.h"
#include "base/unique_fd.h"
#include "bootstrap/directory.h"
#include "bootstrap/job.h"
#include "bootstrap/launch_plan.h"
#include "bootstrap/supervisor.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace plexus {
namespace bootstrap {
namespace {

constexpr std::size_t kUrlRoom = sizeof(Order::url);

/// One launcher at a time: signals and standard streams are the process's.
class OnlyOne {
  public:
    // [enter] pairs with [leave]: the next launcher sees all that the last one restored.
    OnlyOne()
      : mine_(!taken_.exchange(true, std::memory_order_acquire)) {}
    ~OnlyOne() {
        if (mine_) taken_.store(false, std::memory_order_release); // [leave]
    }
    OnlyOne(const OnlyOne&) = delete;
    OnlyOne& operator=(const OnlyOne&) = delete;
    explicit operator bool() const noexcept { return mine_; }

  private:
    static inline std::atomic<bool> taken_{false};
    const bool mine_;
};

/// Room for two pipes a process, given back at the end.
class MoreFiles {
  public:
    explicit MoreFiles(std::size_t needed) {
        if (::getrlimit(RLIMIT_NOFILE, &before_) != 0 || before_.rlim_cur >= needed) return;
        rlimit more = before_;
        more.rlim_cur = std::min<rlim_t>(before_.rlim_max, needed);
        raised_ = ::setrlimit(RLIMIT_NOFILE, &more) == 0;
    }
    ~MoreFiles() {
        if (raised_) ::setrlimit(RLIMIT_NOFILE, &before_);
    }
    MoreFiles(const MoreFiles&) = delete;
    MoreFiles& operator=(const MoreFiles&) = delete;
    std::uint64_t before() const noexcept { return before_.rlim_cur; }

  private:
    rlimit before_{};
    bool raised_ = false;
};

/// The arrays that execve() wants, over strings of a plan that outlives them.
class Arrays {
  public:
    explicit Arrays(LaunchPlan& plan)
      : url_(sizeof kJobUrl + kUrlRoom, '\0') {
        std::string(std::string(kJobUrl) + "=").copy(url_.data(), url_.size());
        for (PlannedProcess& process : plan.processes) {
            arguments_.push_back(pointers_to(process.arguments));
            environments_.push_back(pointers_to(process.environment));
            environments_.back().insert(environments_.back().begin(), url_.data());
        }
    }
    char* const* arguments(std::size_t rank) const { return arguments_[rank].data(); }
    char* const* environment(std::size_t rank) const { return environments_[rank].data(); }
    std::span<char> url_value() { return std::span(url_).subspan(sizeof kJobUrl); }

  private:
    static std::vector<char*> pointers_to(std::vector<std::string>& texts) {
        std::vector<char*> pointers;
        for (std::string& text : texts) pointers.push_back(text.data());
        pointers.push_back(nullptr);
        return pointers;
    }
    std::vector<char> url_; // NAME=value, the value still to come
    std::vector<std::vector<char*>> arguments_, environments_;
};

Failure system_failure(const char* what) {
    const int error = errno;
    return fail(Status::runtime_lost, "{}: {}{}", what, std::strerror(error),
                error == EMFILE ? " (raise the limit with ulimit -n)" : "");
}

/// Both ends are closed at exec; ours does not block, the job's does.
Result<void> make_pipe(UniqueFd& ours, UniqueFd& theirs, bool we_read) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return system_failure("no pipe for the job's output");
    ours.reset(ends[we_read ? 0 : 1]);
    theirs.reset(ends[we_read ? 1 : 0]);
    ::fcntl(ours.get(), F_SETFL, O_NONBLOCK);
    return {};
}

/// A program that was started without standard streams must not get our pipes as such.
void open_missing_streams() {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd)
        if (::fcntl(fd, F_GETFD) < 0) [[maybe_unused]]
            const int opened = ::open("/dev/null", O_RDWR);
}

Result<std::unique_ptr<DirectoryServer>> open_directory(const std::string& url, const Key& key,
                                                        std::uint32_t members) {
    if (!url.empty()) return DirectoryServer::listen(url, key, members);
    auto server = DirectoryServer::listen("plexus://127.0.0.1:0", key, members);
    return server ? std::move(server) : DirectoryServer::listen("plexus://[::1]:0", key, members);
}

/// The job's processes for the subreaper, the launcher's ends of their pipes, and the processes' ends, which
/// are closed here as soon as the subreaper has them.
struct Wiring {
    std::vector<ProcessPipes> ours, theirs;
    std::vector<ProcessSpec> processes;
    std::vector<int> our_fds;
};

Result<Wiring> wire(const LaunchOptions& options, const LaunchPlan& plan, const Arrays& arrays) {
    Wiring wiring;
    const bool terminal = ::isatty(STDIN_FILENO) == 1;
    for (std::size_t rank = 0; rank < plan.processes.size(); ++rank) {
        ProcessPipes ours;
        ProcessPipes theirs;
        if (options.prefix_output) {
            if (auto made = make_pipe(ours.out, theirs.out, true); !made) return made.failure();
            if (auto made = make_pipe(ours.err, theirs.err, true); !made) return made.failure();
        }
        // A terminal is ours to read: the job is not in its foreground. Anything else may
        // be read by rank 0 itself.
        if (rank == 0 && terminal)
            if (auto made = make_pipe(ours.in, theirs.in, false); !made) return made.failure();
        const int in = rank == 0 && !terminal ? STDIN_FILENO : theirs.in.get();
        wiring.processes.push_back({plan.processes[rank].path.c_str(), arrays.arguments(rank),
                                    arrays.environment(rank), in, theirs.out.get(), theirs.err.get(),
                                    plan.processes[rank].processor});
        for (const UniqueFd* fd : {&ours.out, &ours.err, &ours.in})
            if (*fd) wiring.our_fds.push_back(fd->get());
        wiring.ours.push_back(std::move(ours));
        wiring.theirs.push_back(std::move(theirs));
    }
    return wiring;
}

/// Waits for the subreaper at the end of its scope; its socket must be closed by then.
class SubreaperProcess {
  public:
    explicit SubreaperProcess(pid_t pid)
      : pid_(pid) {}
    ~SubreaperProcess() {
        while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {}
    }
    SubreaperProcess(const SubreaperProcess&) = delete;
    SubreaperProcess& operator=(const SubreaperProcess&) = delete;

  private:
    const pid_t pid_;
};

Result<int> launch_job(const LaunchOptions& options) {
    const OnlyOne only_one;
    if (!only_one) return Failure{Status::busy, "this process runs a job already: wait until it has ended"};
    open_missing_streams();
    const Key key = random_key();
    std::array<std::uint8_t, 8> id;
    crypto::fill_random(id.data(), id.size());
    auto plan = plan_launch(options, to_hex(id), to_hex(key.bytes));
    if (!plan) return plan.failure();
    const std::size_t size = plan->processes.size();
    std::vector<std::string> names;
    for (const PlannedProcess& process : plan->processes) names.push_back(process.name);

    constexpr std::size_t kOtherFiles = 64;
    const MoreFiles files(4 * size + kOtherFiles + size); // both ends, and the directory's clients
    Arrays arrays(*plan);
    auto wiring = wire(options, *plan, arrays);
    if (!wiring) return wiring.failure();
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return system_failure("no socket for the job");
    UniqueFd ours(ends[0]);
    UniqueFd theirs(ends[1]);
    wiring->our_fds.push_back(ours.get());
    JobProcesses job{wiring->processes, wiring->our_fds, arrays.url_value(), {}, files.before()};
    ::pthread_sigmask(SIG_SETMASK, nullptr, &job.signal_mask);

    const pid_t pid = ::fork();
    if (pid < 0) return system_failure("no process for the job");
    if (pid == 0) run_subreaper(theirs.get(), job);
    theirs.reset();
    wiring->theirs.clear();
    const SubreaperProcess subreaper(pid); // outlives whoever holds its socket
    Supervisor supervisor(options, names, std::move(ours), std::move(wiring->ours));
    const auto directory = open_directory(options.listen, key, static_cast<std::uint32_t>(size));
    if (!directory) return directory.failure();
    return supervisor.run((*directory)->url());
}

} // namespace
} // namespace bootstrap

int launch(const LaunchOptions& options) { return bootstrap::launch_job(options).value(); }

} // namespace plexus
