// SPDX-License-Identifier: BSD-3-Clause
// A client of PMI-1 as MPICH's mpiexec.hydra and Slurm's srun --mpi=pmi2 serve it: lines of `name=value` over
// the descriptor that PMI_FD names ("PMI: A Scalable Parallel Process-Management Interface for Extreme-Scale
// Systems", Balaji et al., EuroMPI 2010, section 3, and the wire protocol of MPICH's "simple PMI"):
//
//   init, response_to_init · get_my_kvsname, my_kvsname · put, put_result · barrier_in, barrier_out ·
//   get, get_result · finalize, finalize_ack
//
// What is put counts for others after a barrier of all. An MPI library in this process uses the same
// descriptor: where one is there, beginning and ending the conversation is left to it.
#include "base/log.h"
#include "bootstrap/manager/process_manager.h"
#include "bootstrap/manager/process_mapping.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <poll.h>
#include <string_view>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace plexus::bootstrap {
namespace {

constexpr char kLineKey[] = "plexus-directory";
/// Longer answers are no PMI-1.
constexpr std::size_t kLongestAnswer = 64 * 1024;
constexpr std::size_t kMostSaid = 200; // of an answer, in an error text
constexpr std::chrono::seconds kGoodbyeTime{2};

std::string_view variable(const char* name) {
    const char* text = ::secure_getenv(name);
    return text == nullptr ? std::string_view{} : std::string_view(text);
}

Result<std::uint32_t> number(const char* name) {
    const std::string_view text = variable(name);
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (!text.empty() && error == std::errc{} && end == text.data() + text.size()) return value;
    return fail(Status::bad_config, "PMI-1 is the launcher, but {}=\"{}\" is not a number: {}", name, text,
                kWithoutManager);
}

enum class Mpi : std::uint8_t { absent, loaded, initialized };

/// Whether an MPI library is part of this process, and has been initialized.
Mpi mpi_here() {
    void* const found = ::dlsym(RTLD_DEFAULT, "MPI_Initialized");
    if (found == nullptr) return Mpi::absent;
    int initialized = 0;
    reinterpret_cast<int (*)(int*)>(found)(&initialized);
    return initialized != 0 ? Mpi::initialized : Mpi::loaded;
}

/// The value of `name` in an answer; empty if it is not there. A value ends at a blank, that of the last name
/// at the end.
std::string_view field(std::string_view answer, std::string_view name) {
    while (!answer.empty()) {
        const std::size_t end = std::min(answer.find(' '), answer.size());
        const std::string_view word = answer.substr(0, end);
        if (word.starts_with(name) && word.substr(name.size()).starts_with('='))
            return word.substr(name.size() + 1);
        answer.remove_prefix(std::min(end + 1, answer.size()));
    }
    return {};
}

class Pmi final : public ProcessManager {
  public:
    Pmi(int fd, Place place)
      : fd_(fd)
      , place_(std::move(place)) {}

    // hydra kills a job in which a process says `init` and ends without `finalize`. An MPI library that has
    // been initialized meanwhile says it.
    ~Pmi() override {
        if (begun_ && mpi_here() != Mpi::initialized)
            static_cast<void>(ask("finalize", "finalize_ack", Clock::now() + kGoodbyeTime));
    }

    Result<void> begin(Clock::time_point deadline) {
        // Nothing may be written into a file that happens to have this number.
        struct stat about {};
        if (::fstat(fd_, &about) != 0) return gone(std::strerror(errno));
        if (!S_ISSOCK(about.st_mode)) return gone("it is no socket");
        if (mpi_here() != Mpi::initialized) {
            auto begun = ask("init pmi_version=1 pmi_subversion=1", "response_to_init", deadline);
            if (!begun) return begun.failure();
            begun_ = true;
        }
        auto named = ask("get_my_kvsname", "my_kvsname", deadline);
        if (!named) return named.failure();
        place_.job = field(*named, "kvsname");
        // Where nobody says who is here, all others may be elsewhere.
        const auto mapping =
            ask(fmt::format("get kvsname={} key=PMI_process_mapping", place_.job), "get_result", deadline);
        if (mapping)
            place_.local_size =
                std::max(1u, local_size_of(field(*mapping, "value"), place_.rank, place_.size));
        return {};
    }

    const Place& place() const noexcept override { return place_; }

    bool may_end() const noexcept override { return mpi_here() != Mpi::loaded; }

    Result<void> tell(const std::string& line, Clock::time_point deadline) override {
        auto put = ask(fmt::format("put kvsname={} key={} value={}", place_.job, kLineKey, line),
                       "put_result", deadline);
        if (!put) return put.failure();
        return barrier(deadline);
    }

    Result<std::string> hear(Clock::time_point deadline) override {
        if (auto met = barrier(deadline); !met) return met.failure();
        auto got = ask(fmt::format("get kvsname={} key={}", place_.job, kLineKey), "get_result", deadline);
        if (!got) return got.failure();
        return std::string(field(*got, "value"));
    }

  private:
    Result<void> barrier(Clock::time_point deadline) {
        auto met = ask("barrier_in", "barrier_out", deadline);
        if (met) return {};
        if (met.status() != Status::timed_out) return met.failure();
        return fail(
            Status::timed_out,
            "not all {} processes of the job {} started a context within progress.lookup_timeout: PMI-1 "
            "introduces all of them at once, or none. Or {}",
            place_.size, place_.job, kWithoutManager);
    }

    Result<std::string> ask(const std::string& question, std::string_view wanted,
                            Clock::time_point deadline) {
        if (auto sent = write_all("cmd=" + question + "\n"); !sent) return sent.failure();
        auto answer = read_line(deadline);
        if (!answer) return answer.failure();
        const std::string_view outcome = field(*answer, "rc");
        if (field(*answer, "cmd") == wanted && (outcome.empty() || outcome == "0")) return answer;
        // Values stay unsaid: one of them is the job's key.
        const auto said = [](std::string_view text) {
            return text.substr(0, std::min(text.find("value="), kMostSaid));
        };
        return fail(Status::peer_lost, "the process manager answers \"{}\" to \"{}\" on PMI_FD: {}",
                    said(*answer), said(question), kWithoutManager);
    }

    Result<void> write_all(std::string_view text) const {
        while (!text.empty()) {
            const ssize_t sent = ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
            if (sent < 0 && errno == EINTR) continue;
            if (sent < 0) return gone(std::strerror(errno));
            text.remove_prefix(static_cast<std::size_t>(sent));
        }
        return {};
    }

    Result<std::string> read_line(Clock::time_point deadline) {
        for (;;) {
            if (const std::size_t end = unread_.find('\n'); end != std::string::npos) {
                std::string line = unread_.substr(0, end);
                unread_.erase(0, end + 1);
                return line;
            }
            if (unread_.size() > kLongestAnswer) return gone("its answer has no end");
            const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
            pollfd one{fd_, POLLIN, 0};
            const int ready =
                left <= 0 ? 0 : ::poll(&one, 1, static_cast<int>(std::min<std::int64_t>(left, 1'000'000)));
            if (ready < 0 && errno == EINTR) continue;
            if (ready < 0) return gone(std::strerror(errno));
            if (ready == 0 && Clock::now() < deadline) continue;
            if (ready == 0) return fail(Status::timed_out, "the process manager gives no answer on PMI_FD");
            char bytes[1024];
            const ssize_t got = ::read(fd_, bytes, sizeof bytes);
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) return gone(got == 0 ? "it has closed the connection" : std::strerror(errno));
            unread_.append(bytes, static_cast<std::size_t>(got));
        }
    }

    Failure gone(std::string_view why) const {
        return fail(Status::peer_lost, "PMI_FD={} leads to no process manager ({}): {}", fd_, why,
                    kWithoutManager);
    }

    const int fd_; // of the whole process: an MPI library may need it after us
    Place place_;
    bool begun_ = false;
    std::string unread_;
};

} // namespace

Result<std::unique_ptr<ProcessManager>> connect_pmi(Clock::time_point deadline) {
    if (variable("PMI_FD").empty())
        return fail(Status::bad_config,
                    "PMI_FD is not set, so no process manager can be asked by PMI-1 (PMI_PORT is not "
                    "supported: start "
                    "mpiexec without -pmi-port): {}",
                    kWithoutManager);
    const auto fd = number("PMI_FD");
    if (!fd) return fd.failure();
    const auto rank = number("PMI_RANK");
    if (!rank) return rank.failure();
    const auto size = number("PMI_SIZE");
    if (!size) return size.failure();
    if (*rank >= *size)
        return fail(Status::bad_config, "PMI_RANK={} is not below PMI_SIZE={}: {}", *rank, *size,
                    kWithoutManager);
    Place place{{}, *rank, *size, 1};
    auto manager = std::make_unique<Pmi>(static_cast<int>(*fd), std::move(place));
    if (const auto begun = manager->begin(deadline); !begun) return begun.failure();
    return std::unique_ptr<ProcessManager>(std::move(manager));
}

} // namespace plexus::bootstrap
