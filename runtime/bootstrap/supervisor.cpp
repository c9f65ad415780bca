// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/supervisor.h"

#include "base/log.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace plexus::bootstrap {
namespace {

constexpr std::size_t kPiece = std::size_t{64} * 1024;

bool asks_to_end(int signal) { return signal == SIGINT || signal == SIGTERM || signal == SIGHUP; }

} // namespace

Supervisor::Supervisor(const LaunchOptions& options, const std::vector<std::string>& names,
                       UniqueFd subreaper, std::vector<ProcessPipes> pipes)
  : options_(options)
  , names_(names)
  , subreaper_(std::move(subreaper))
  , running_(pipes.size())
  , pids_(pipes.size(), 0) {
    for (std::size_t rank = 0; rank < pipes.size(); ++rank) {
        const std::string prefix = fmt::format("[{}] ", rank);
        ProcessPipes& ends = pipes[rank];
        if (ends.out) streams_.push_back({std::move(ends.out), &stdout_, LineCutter(prefix)});
        if (ends.err) streams_.push_back({std::move(ends.err), &stderr_, LineCutter(prefix)});
        if (ends.in) input_ = JobInput(std::move(ends.in));
    }
}

Result<int> Supervisor::run(const std::string& directory_url) {
    if (signals_.fd() < 0) return fail(Status::runtime_lost, "no pipe for signals: {}", std::strerror(errno));
    order(Order::start, 0, directory_url);
    while (subreaper_) turn();
    finish_output();
    if (failure_) return *failure_;
    return code_.value_or(0);
}

void Supervisor::turn() {
    std::vector<pollfd> wanted{{subreaper_.get(), POLLIN, 0}, {signals_.fd(), POLLIN, 0}};
    for (const Outlet* outlet : {&stdout_, &stderr_})
        wanted.push_back({outlet->wants_to_write() ? outlet->fd() : -1, POLLOUT, 0});
    wanted.push_back(input_.wanted());
    const std::size_t first_stream = wanted.size();
    for (const Stream& stream : streams_)
        wanted.push_back({stream.outlet->is_full() ? -1 : stream.fd.get(), POLLIN, 0});
    wait(wanted);

    if (wanted[1].revents != 0) take_signals();
    if (wanted[2].revents != 0) stdout_.write_some();
    if (wanted[3].revents != 0) stderr_.write_some();
    if (wanted[4].revents != 0) input_.pass_on();
    for (std::size_t i = 0; i < streams_.size(); ++i)
        if (wanted[first_stream + i].revents != 0 && read(streams_[i]) == Got::end) streams_[i].fd.reset();
    drop_dead_streams();
    // Last, so that what a process wrote before it ended comes before the line about it.
    if (wanted[0].revents != 0) take_reports();
    if (kill_at_ && Clock::now() >= *kill_at_) {
        kill_at_.reset();
        order(Order::signal, SIGKILL);
    }
}

void Supervisor::drop_dead_streams() {
    // Where nobody reads our output any more, its writers shall notice as if it was theirs.
    std::erase_if(streams_, [](const Stream& stream) { return !stream.fd || stream.outlet->is_broken(); });
}

void Supervisor::wait(std::vector<pollfd>& wanted) const {
    int limit_ms = -1;
    if (kill_at_) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(*kill_at_ - Clock::now()).count();
        limit_ms = static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000));
    }
    if (::poll(wanted.data(), wanted.size(), limit_ms) < 0)
        for (pollfd& one : wanted) one.revents = 0; // a signal: its byte is in the pipe
}

void Supervisor::order(Order::Verb verb, int number, const std::string& url) {
    Order order{};
    order.verb = verb;
    order.number = number;
    url.copy(order.url, sizeof order.url - 1);
    // take_reports() notices that the subreaper has ended.
    [[maybe_unused]] const ssize_t ignored = ::send(subreaper_.get(), &order, sizeof order, MSG_NOSIGNAL);
}

void Supervisor::take_reports() {
    for (;;) {
        Report report{};
        const ssize_t got = ::recv(subreaper_.get(), &report, sizeof report, MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
        // It ended before it had read an order of ours. That is said once, ahead of its last reports.
        if (got < 0 && errno == ECONNRESET) continue;
        if (got != static_cast<ssize_t>(sizeof report)) {
            subreaper_.reset();
            break;
        }
        switch (report.event) {
        case Report::started:
            pids_[report.rank] = report.pid;
            break;
        case Report::not_started:
            if (!failure_)
                failure_ = fail(report.pid == 0 ? Status::runtime_lost : Status::not_found,
                                "rank {} cannot be started: {}: {}", report.rank, names_[report.rank],
                                std::strerror(report.number));
            end_job(127);
            break;
        case Report::ended:
            process_ended(report.rank, report.pid, report.number);
            break;
        }
    }
    // Only the end of the subreaper leads here.
    kill_at_.reset();
    if (running_ == 0 || failure_) return;
    failure_ =
        fail(Status::runtime_lost, "the process that watches over the job was killed, and the job with it");
    for (const int pid : pids_)
        if (pid > 0) ::kill(-pid, SIGKILL);
}

void Supervisor::process_ended(std::uint32_t rank, int pid, int status) {
    --running_;
    pids_[rank] = 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    const bool first = !code_;
    const bool killed = WIFSIGNALED(status);
    const int number = killed ? WTERMSIG(status) : WEXITSTATUS(status);
    // Nothing to tell where the user asked for it, or closed the output that it wrote to.
    const bool expected = (killed && end_request_ && end_request_->signal == number) ||
                          (killed && number == SIGPIPE && (stdout_.is_broken() || stderr_.is_broken()));
    if (first && !expected && !failure_) {
        const char* rest = running_ == 0 ? "" : "; the job ends";
        if (killed) {
            say(fmt::format("rank {} (process {}, {}) was killed by signal {} ({}){}", rank, pid,
                            names_[rank], number, ::strsignal(number), rest));
        } else {
            say(fmt::format("rank {} (process {}, {}) exited with code {}{}", rank, pid, names_[rank], number,
                            rest));
        }
    }
    end_job(killed ? 128 + number : number);
}

void Supervisor::end_job(int code) {
    if (code_) return;
    code_ = code;
    // Where the user's own signal has just asked all of them, a second one would cut short
    // what they do about the first.
    if (!was_asked_to_end()) order(Order::signal, SIGTERM);
    kill_at_ = Clock::now() + options_.grace;
}

bool Supervisor::was_asked_to_end() const {
    return end_request_ && Clock::now() - end_request_->passed_on < options_.grace;
}

void Supervisor::take_signals() {
    while (const auto signal = signals_.take()) {
        order(Order::signal, *signal);
        if (asks_to_end(*signal)) end_request_ = {*signal, Clock::now()};
        if (*signal == SIGTSTP) ::kill(::getpid(), SIGSTOP); // and we with them, until SIGCONT
    }
}

Supervisor::Got Supervisor::read(Stream& stream) {
    char room[kPiece];
    const ssize_t got = ::read(stream.fd.get(), room, sizeof room);
    if (got > 0) {
        stream.cutter.feed({room, static_cast<std::size_t>(got)}, stream.outlet->queue());
        return Got::bytes;
    }
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return Got::nothing;
    stream.cutter.finish(stream.outlet->queue());
    return Got::end;
}

/// The job is over: brings out what is left in its pipes, which is not much, and here.
void Supervisor::finish_output() {
    for (Stream& stream : streams_) {
        while (read(stream) == Got::bytes) {}
        stream.cutter.finish(stream.outlet->queue());
    }
    streams_.clear();
    while (stdout_.wants_to_write() || stderr_.wants_to_write()) {
        std::vector<pollfd> wanted{{signals_.fd(), POLLIN, 0}};
        for (const Outlet* outlet : {&stdout_, &stderr_})
            wanted.push_back({outlet->wants_to_write() ? outlet->fd() : -1, POLLOUT, 0});
        wait(wanted);
        if (wanted[1].revents != 0) stdout_.write_some();
        if (wanted[2].revents != 0) stderr_.write_some();
        // Whoever stalls our output must not keep the user from ending us.
        while (const auto signal = signals_.take())
            if (asks_to_end(*signal)) return;
    }
}

void Supervisor::say(const std::string& sentence) {
    stderr_.queue() += fmt::format("{}: {}\n", options_.speaker, sentence);
}

} // namespace plexus::bootstrap
