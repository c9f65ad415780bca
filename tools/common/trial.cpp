// SPDX-License-Identifier: BSD-3-Clause
#include "tools/common/trial.h"

#include "plexus/error.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace plexus::tools {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostOutput = 256 * 1024;
constexpr std::size_t kKeptEnd = 16 * 1024;
constexpr int kNotStarted = 127;

class Pipe {
  public:
    Pipe() {
        if (::pipe2(ends_, O_CLOEXEC) != 0)
            throw Error(Status::runtime_lost, fmt::format("no pipe can be made: {}", std::strerror(errno)));
        ::fcntl(ends_[0], F_SETFL, O_NONBLOCK);
    }
    ~Pipe() {
        close_writer();
        ::close(ends_[0]);
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;

    int reader() const noexcept { return ends_[0]; }
    int writer() const noexcept { return ends_[1]; }
    void close_writer() {
        if (ends_[1] >= 0) ::close(ends_[1]);
        ends_[1] = -1;
    }

  private:
    int ends_[2];
};

// In the child: only calls that are allowed between fork and exec.
[[noreturn]] void become(char* const* arguments, int output, int nothing, pid_t parent) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(kNotStarted); // the parent died before the signal was set
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(output, STDOUT_FILENO);
    ::dup2(output, STDERR_FILENO);
    ::execv(arguments[0], arguments);
    ::_exit(kNotStarted);
}

// Reads what is there; false at the end.
bool read_some(int from, std::string& output) {
    char room[8192];
    for (;;) {
        const ssize_t got = ::read(from, room, sizeof room);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return got < 0 && errno == EAGAIN;
        output.append(room, static_cast<std::size_t>(got));
        if (output.size() > kMostOutput)
            output.erase(kMostOutput / 2, output.size() - kMostOutput / 2 - kKeptEnd);
    }
}

void wait_until(Clock::time_point when, int reader) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(when - Clock::now()).count();
    pollfd item{reader, POLLIN, 0};
    ::poll(&item, 1, static_cast<int>(std::max<long>(left, 0)));
}

} // namespace

Ending run_trial(std::vector<std::string> words, std::chrono::milliseconds limit) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    if (::access(arguments[0], X_OK) != 0)
        throw Error(Status::not_found, fmt::format("{} cannot be run: {}", words[0], std::strerror(errno)));

    Pipe pipe;
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    const auto begin = Clock::now();
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid < 0)
        throw Error(Status::runtime_lost, fmt::format("no process can be made: {}", std::strerror(errno)));
    if (pid == 0) become(arguments.data(), pipe.writer(), nothing, parent);
    ::setpgid(pid, pid); // parent and child both do: either may be first
    if (nothing >= 0) ::close(nothing);
    pipe.close_writer();

    // Waits for the process, not for the end of its output: a process that it left may hold the pipe.
    Ending ending;
    int status = 0;
    bool open = true;
    constexpr auto kLook = std::chrono::milliseconds(20);
    while (::waitpid(pid, &status, WNOHANG) != pid) {
        if (Clock::now() > begin + limit) {
            ending.timed_out = true;
            ::kill(-pid, SIGKILL);
            while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
            break;
        }
        wait_until(std::min(Clock::now() + kLook, begin + limit), open ? pipe.reader() : -1);
        open = open && read_some(pipe.reader(), ending.output);
    }
    ::kill(-pid, SIGKILL); // processes that it started and left
    if (open) read_some(pipe.reader(), ending.output);
    ending.took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin);
    if (WIFSIGNALED(status)) ending.signal = WTERMSIG(status);
    if (WIFEXITED(status)) ending.code = WEXITSTATUS(status);
    return ending;
}

std::string violent_end(const Ending& ending, std::chrono::milliseconds limit) {
    if (ending.timed_out)
        return fmt::format("it had not ended after {:g} s", static_cast<double>(limit.count()) / 1000);
    if (ending.signal != 0)
        return fmt::format("it was ended by signal {} ({})", ending.signal, ::strsignal(ending.signal));
    return {};
}

} // namespace plexus::tools
