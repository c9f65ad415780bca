// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/subreaper.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace plexus::bootstrap {
namespace {

class Subreaper {
  public:
    Subreaper(int launcher, const JobProcesses& job)
      : launcher_(launcher)
      , job_(job)
      , pids_(job.processes.size(), 0) {}

    void run();

  private:
    bool take_order();
    void start_all();
    pid_t start(std::uint32_t rank);
    [[noreturn]] void become(const ProcessSpec& process, std::uint32_t rank) const;
    void report(Report report);
    void report_failures();
    void reap();
    void signal_all(int signal) const;
    void sweep();
    bool kill_children() const;

    const int launcher_;
    const JobProcesses& job_;
    const pid_t self_ = ::getpid();
    std::vector<pid_t> pids_; // by rank; 0: not running
    std::size_t running_ = 0;
    bool all_started_ = false;
    bool launcher_is_there_ = true;
    int failures_[2] = {-1, -1}; // pipe: children report a failed exec
};

void Subreaper::run() {
    // Out of the terminal's process group: its signals go to the launcher, which passes them on.
    ::setpgid(0, 0);
    ::prctl(PR_SET_NAME, "plexus-reaper");
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    ::signal(SIGCHLD, SIG_DFL); // an ignored SIGCHLD would lose the exit codes
    for (const int fd : job_.launcher_fds) ::close(fd);
    sigset_t blocked;
    sigfillset(&blocked);
    ::sigprocmask(SIG_SETMASK, &blocked, nullptr);
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    const int child_events = ::signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
    if (child_events < 0 || ::pipe2(failures_, O_CLOEXEC | O_NONBLOCK) != 0) return;

    while (launcher_is_there_ && (!all_started_ || running_ > 0)) {
        pollfd wanted[2] = {{launcher_, POLLIN, 0}, {child_events, POLLIN, 0}};
        if (::poll(wanted, 2, -1) < 0 && errno != EINTR) break;
        if (wanted[0].revents != 0 && !take_order()) launcher_is_there_ = false;
        if (wanted[1].revents != 0) {
            signalfd_siginfo event;
            while (::read(child_events, &event, sizeof event) > 0) {}
            reap();
        }
    }
    if (running_ > 0) signal_all(SIGKILL);
    sweep();
}

bool Subreaper::take_order() {
    Order order{};
    const ssize_t got = ::recv(launcher_, &order, sizeof order, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    if (got != static_cast<ssize_t>(sizeof order)) return false;
    if (order.verb == Order::signal) {
        signal_all(order.number);
    } else if (!all_started_) {
        ::snprintf(job_.url.data(), job_.url.size(), "%s", order.url);
        start_all();
    }
    return true;
}

void Subreaper::start_all() {
    for (std::uint32_t rank = 0; rank < pids_.size(); ++rank) {
        const pid_t pid = start(rank);
        if (pid < 0) {
            report({Report::not_started, rank, 0, errno});
            break;
        }
        ::setpgid(pid, pid); // the child does the same: whoever is first
        pids_[rank] = pid;
        ++running_;
        report({Report::started, rank, pid, 0});
    }
    all_started_ = true;
    for (const ProcessSpec& process : job_.processes)
        for (const int fd : {process.in, process.out, process.err})
            if (fd > STDERR_FILENO) ::close(fd);
}

pid_t Subreaper::start(std::uint32_t rank) {
    const pid_t pid = ::fork();
    if (pid == 0) become(job_.processes[rank], rank);
    return pid;
}

void Subreaper::become(const ProcessSpec& process, std::uint32_t rank) const {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != self_) ::_exit(127); // the subreaper died before the signal was set
    const int in = process.in >= 0 ? process.in : ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    // Standard input of rank 0 may be ours already: then there is nothing to do.
    if (in != STDIN_FILENO) ::dup2(in, STDIN_FILENO);
    if (process.out >= 0) ::dup2(process.out, STDOUT_FILENO);
    if (process.err >= 0) ::dup2(process.err, STDERR_FILENO);
    if (process.processor >= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(static_cast<std::size_t>(process.processor), &set);
        ::sched_setaffinity(0, sizeof set, &set);
    }
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur != job_.file_limit) {
        files.rlim_cur = job_.file_limit;
        ::setrlimit(RLIMIT_NOFILE, &files);
    }
    ::sigprocmask(SIG_SETMASK, &job_.signal_mask, nullptr);
    ::execve(process.path, process.arguments, process.environment);
    const Report failure{Report::not_started, rank, ::getpid(), errno};
    if (::write(failures_[1], &failure, sizeof failure) < 0) ::_exit(126);
    ::_exit(127);
}

void Subreaper::report(Report report) {
    if (::send(launcher_, &report, sizeof report, MSG_NOSIGNAL) < 0) launcher_is_there_ = false;
}

void Subreaper::report_failures() {
    Report failure{};
    while (::read(failures_[0], &failure, sizeof failure) == static_cast<ssize_t>(sizeof failure))
        report(failure);
}

void Subreaper::reap() {
    int status = 0;
    for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
        report_failures(); // what kept it from starting comes before how it ended
        for (std::uint32_t rank = 0; rank < pids_.size(); ++rank) {
            if (pids_[rank] != pid) continue; // an orphan of the job
            pids_[rank] = 0;
            --running_;
            report({Report::ended, rank, pid, status});
        }
    }
}

void Subreaper::signal_all(int signal) const {
    for (const pid_t pid : pids_) {
        if (pid <= 0) continue;
        ::kill(-pid, signal);
        // One that is stopped must run to see that it should end.
        if (signal == SIGTERM || signal == SIGINT || signal == SIGHUP) ::kill(-pid, SIGCONT);
    }
}

/// Kills whatever the job has left behind, to the last grandchild.
void Subreaper::sweep() {
    for (;;) {
        int status = 0;
        const pid_t pid = ::waitpid(-1, &status, WNOHANG);
        if (pid < 0 && errno == ECHILD) return;
        if (pid != 0) continue;
        if (!kill_children()) return; // without /proc we cannot see who is left
        while (::waitpid(-1, &status, 0) < 0 && errno == EINTR) {}
    }
}

bool Subreaper::kill_children() const {
    DIR* processes = ::opendir("/proc");
    if (processes == nullptr) return false;
    bool any = false;
    while (const dirent* entry = ::readdir(processes)) {
        const pid_t pid = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
        if (pid <= 0) continue;
        char path[64];
        ::snprintf(path, sizeof path, "/proc/%d/stat", static_cast<int>(pid));
        const int file = ::open(path, O_RDONLY | O_CLOEXEC);
        if (file < 0) continue;
        char text[512];
        const ssize_t size = ::read(file, text, sizeof text - 1);
        ::close(file);
        if (size <= 0) continue;
        text[size] = '\0';
        // pid (name) state parent ...: the name may hold anything, so from its last bracket.
        const char* after_name = std::strrchr(text, ')');
        if (after_name == nullptr || std::strlen(after_name) < 5) continue;
        if (std::strtol(after_name + 4, nullptr, 10) != self_) continue;
        any = ::kill(pid, SIGKILL) == 0 || any;
    }
    ::closedir(processes);
    return any;
}

} // namespace

void run_subreaper(int launcher, const JobProcesses& job) {
    Subreaper(launcher, job).run();
    ::_exit(0);
}

} // namespace plexus::bootstrap
