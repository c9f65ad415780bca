// SPDX-License-Identifier: BSD-3-Clause
#include "tools/lab/world.h"

#include "runtime/base/unique_fd.h"
#include "tools/lab/refusal.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <string>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace plexus::tools::lab {
namespace {

constexpr int kLabNamespaces = CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWPID;
constexpr std::array kPassedOn{SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};

void write_file(const char* path, const std::string& text) {
    const UniqueFd file(::open(path, O_WRONLY | O_CLOEXEC));
    if (!file || ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
        cannot(std::string(path) + " cannot be written for a user namespace");
}

/// As root if that is allowed; else as root of a user namespace that knows this user only.
void leave_the_old_world() {
    if (::unshare(kLabNamespaces) == 0) return;
    const std::string user = "0 " + std::to_string(::geteuid()) + " 1";
    const std::string group = "0 " + std::to_string(::getegid()) + " 1";
    if (::unshare(CLONE_NEWUSER) != 0) cannot("a user namespace cannot be made");
    write_file("/proc/self/setgroups", "deny");
    write_file("/proc/self/uid_map", user);
    write_file("/proc/self/gid_map", group);
    if (::unshare(kLabNamespaces) != 0) cannot("the namespaces of a lab cannot be made");
}

sigset_t passed_on_and_children() {
    sigset_t set;
    sigemptyset(&set);
    for (const int one : kPassedOn) sigaddset(&set, one);
    sigaddset(&set, SIGCHLD);
    return set;
}

/// Passes signals on until the first process of the world has ended.
int watch_over(pid_t first, const sigset_t& wanted) {
    for (;;) {
        int status = 0;
        if (::waitpid(first, &status, WNOHANG) == first)
            return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        siginfo_t info{};
        const int signal = ::sigwaitinfo(&wanted, &info);
        if (signal < 0 || signal == SIGCHLD) continue;
        // The terminal sends signals to the whole process group.
        if (info.si_code != SI_KERNEL) ::kill(first, signal);
        if (signal == SIGTSTP) ::kill(::getpid(), SIGSTOP); // until SIGCONT
    }
}

/// The first process of a process namespace ignores signals without a handler.
void end_on(int signal) { ::_exit(128 + signal); }

[[noreturn]] void be_first(int alive, const sigset_t& mask, const std::function<int()>& inside) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // The caller holds the other end of the pipe while it lives: the caller may have died before the
    // parent-death signal was set.
    pollfd caller{alive, POLLIN, 0};
    if (::poll(&caller, 1, 0) != 0) ::_exit(1);
    ::close(alive);
    for (const int one : {SIGINT, SIGTERM, SIGHUP}) ::signal(one, end_on);
    ::sigprocmask(SIG_SETMASK, &mask, nullptr);
    ::_exit(inside());
}

} // namespace

int run_in_new_world(const std::function<int()>& inside) {
    leave_the_old_world();
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) cannot("no pipe for the lab");
    UniqueFd theirs(ends[0]);
    UniqueFd ours(ends[1]);
    const sigset_t wanted = passed_on_and_children();
    sigset_t before;
    ::sigprocmask(SIG_BLOCK, &wanted, &before);
    ::signal(SIGCHLD, SIG_DFL); // an ignored SIGCHLD would lose the exit code
    const pid_t first = ::fork();
    if (first < 0) cannot("no process for the lab");
    if (first == 0) {
        ours.reset();
        be_first(theirs.get(), before, inside);
    }
    theirs.reset();
    return watch_over(first, wanted);
}

} // namespace plexus::tools::lab
