// SPDX-License-Identifier: BSD-3-Clause
#include "tools/lab/switch.h"

#include "tools/lab/address.h"
#include "tools/lab/alarm_clock.h"
#include "tools/lab/control.h"
#include "tools/lab/fabric.h"
#include "tools/lab/frame_room.h"
#include "tools/lab/interface.h"
#include "tools/lab/refusal.h"
#include "tools/lab/report.h"

#include <cerrno>
#include <csignal>
#include <ctime>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

namespace plexus::tools::lab {
namespace {

constexpr std::size_t kFrameHead = 14;
constexpr int kFramesInOneGo = 16; // of one host, before other hosts and due frames are served

Time clock_now(clockid_t clock) {
    timespec now{};
    ::clock_gettime(clock, &now);
    return std::chrono::seconds(now.tv_sec) + Time(now.tv_nsec);
}

/// The source of an epoll event: a host's number, or one of these.
enum Source : std::uint32_t { kFromLab = kLabNumber, kFromListener = 0x10000, kFromOwner, kFromGuest };

/// What the switch counts and measures, since the last reset.
class Counting {
  public:
    /// `now`: the switch's time; `spun`: for so long it has spun so far.
    void begin(Time now, Time spun) {
        count_ = {};
        since_ = now;
        processor_before_ = clock_now(CLOCK_PROCESS_CPUTIME_ID);
        spun_before_ = spun;
    }
    void note_lateness(Time late) { count_.lateness.add(late); }
    void note_not_carried() { ++count_.not_carried; }

    const SwitchCount& up_to(Time now, Time spun) {
        count_.time = now - since_;
        count_.processor = clock_now(CLOCK_PROCESS_CPUTIME_ID) - processor_before_;
        count_.spun = spun - spun_before_;
        return count_;
    }

  private:
    SwitchCount count_;
    Time since_{0}, processor_before_{0}, spun_before_{0};
};

class Switch {
  public:
    Switch(const Network& network, const SwitchWires& wires)
      : network_(network)
      , wires_(wires)
      , routes_(network)
      , fabric_(network, routes_)
      , room_(kTapHeaderBytes + kFrameHead + network.mtu + 4)
      , poll_(::epoll_create1(EPOLL_CLOEXEC)) {
        if (!poll_) cannot("the switch cannot wait for frames");
        for (std::uint32_t host = 0; host < wires.taps.size(); ++host) watch(wires.taps[host], host);
        watch(wires.lab_tap, kFromLab);
        watch(wires.listener, kFromListener);
        watch(wires.owner, kFromOwner);
        paused_.resize(wires.taps.size(), false);
        reset();
    }

    void run() {
        while (!over_) {
            settle();
            wait();
        }
    }

  private:
    Time now() const { return clock_now(CLOCK_MONOTONIC) - start_; }

    void watch(int fd, std::uint32_t source) {
        if (fd < 0) return;
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.u64 = static_cast<std::uint64_t>(fd) << 32 | source;
        if (::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
            cannot("the switch cannot wait for a host");
    }

    void listen_to(std::uint32_t host, bool listen) {
        epoll_event event{};
        if (listen) event.events = EPOLLIN;
        event.data.u64 = static_cast<std::uint64_t>(wires_.taps[host]) << 32 | host;
        ::epoll_ctl(poll_.get(), EPOLL_CTL_MOD, wires_.taps[host], &event);
        paused_[host] = !listen;
    }

    /// Delivers all frames that are due.
    void settle() {
        fabric_.advance(now(), outcomes_);
        for (const Fabric::Outcome& one : outcomes_) {
            if (one.arrived) {
                deliver(wires_.taps[one.to], one.ticket);
                counting_.note_lateness(now() - one.due);
            }
            room_.give_back(one.ticket);
        }
        outcomes_.clear();
        if (paused_hosts_ == 0) return;
        for (std::uint32_t host = 0; host < paused_.size(); ++host) {
            if (!paused_[host] || !fabric_.has_room(host)) continue;
            listen_to(host, true);
            --paused_hosts_;
        }
    }

    void deliver(int tap, std::uint32_t ticket) {
        // A device whose host is ending takes no frame: the frame is lost.
        [[maybe_unused]] const ssize_t ignored = ::write(tap, room_.data(ticket), room_.size(ticket));
    }

    void wait() {
        const Time before = now();
        const Time due = fabric_.next_due();
        epoll_event events[32];
        int ready = 0;
        if (due == Time::max()) {
            ready = ::epoll_wait(poll_.get(), events, 32, -1);
        } else {
            const Time sleep = alarm_.sleep(before, due - before);
            const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(sleep);
            const timespec limit{seconds.count(), (sleep - seconds).count()};
            ready = ::epoll_pwait2(poll_.get(), events, 32, &limit, nullptr);
            if (ready <= 0 && sleep == Time(0) && due > before) alarm_.note_spun(now() - before);
        }
        for (int i = 0; i < ready; ++i)
            take(static_cast<std::uint32_t>(events[i].data.u64), static_cast<int>(events[i].data.u64 >> 32));
    }

    void take(std::uint32_t source, int fd) {
        switch (source) {
        case kFromListener: {
            const int guest = ::accept4(fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
            if (guest >= 0) watch(guest, kFromGuest);
            return;
        }
        case kFromOwner:
            over_ = !serve(fd);
            return;
        case kFromGuest:
            if (!serve(fd)) ::close(fd);
            return;
        default:
            take_frames(source, fd);
        }
    }

    void take_frames(std::uint32_t host, int tap) {
        for (int i = 0; i < kFramesInOneGo; ++i) {
            if (host != kLabNumber && !fabric_.has_room(host)) {
                listen_to(host, false);
                ++paused_hosts_;
                return;
            }
            const std::uint32_t ticket = room_.take();
            const ssize_t got = ::read(tap, room_.data(ticket), room_.capacity());
            if (got < static_cast<ssize_t>(kTapHeaderBytes + kFrameHead)) {
                room_.give_back(ticket);
                // The device of a host that has ended would wake the switch for ever.
                if (got < 0 && errno != EAGAIN && errno != EINTR)
                    ::epoll_ctl(poll_.get(), EPOLL_CTL_DEL, tap, nullptr);
                return;
            }
            room_.size(ticket) = static_cast<std::size_t>(got);
            forward(host, ticket);
        }
    }

    void forward(std::uint32_t from, std::uint32_t ticket) {
        const auto to = number_in(room_.data(ticket) + kTapHeaderBytes);
        if (to == kLabNumber || (from == kLabNumber && to && *to < wires_.taps.size())) {
            deliver(to == kLabNumber ? wires_.lab_tap : wires_.taps[*to], ticket);
        } else if (to && *to < wires_.taps.size() && *to != from) {
            const auto bytes = static_cast<std::uint32_t>(room_.size(ticket) - kTapHeaderBytes);
            // Events that are due before this frame must happen first.
            const Time at = now();
            fabric_.advance(at, outcomes_);
            fabric_.offer(at, from, *to, bytes, ticket);
            return;
        } else {
            counting_.note_not_carried();
        }
        room_.give_back(ticket);
    }

    /// False: the other end has gone.
    bool serve(int connection) {
        const std::string request = take_request(connection);
        if (request.empty()) return false;
        give_answer(connection, answer(request));
        return true;
    }

    Answer answer(const std::string& request) {
        const SwitchCount& count = counting_.up_to(now(), alarm_.spun());
        if (request == "report json") return {true, report_json(network_, routes_, fabric_, count)};
        if (request == "report text") return {true, report_text(network_, routes_, fabric_, count)};
        if (request == "verdict") return {true, verdict(network_, count)};
        if (request == "reset") {
            reset();
            return {true, ""};
        }
        const std::size_t blank = request.find(' ');
        const std::string verb = request.substr(0, blank);
        if ((verb != "up" && verb != "down" && verb != "rate") || blank == std::string::npos)
            return {false, "a lab takes report json, report text, verdict, reset, up PART, down PART and "
                           "rate PART RATE"};
        std::string part = request.substr(blank + 1);
        if (verb == "rate") {
            const std::size_t end = part.find(' ');
            const auto rate = parse_rate(end == std::string::npos ? "" : part.substr(end + 1));
            if (!rate) return {false, "rate takes a part and a rate, as in: rate left 10 Mb/s"};
            part.resize(end);
            const Fabric::RateChange change = fabric_.set_rate(part, *rate);
            if (change == Fabric::RateChange::changed) return {true, ""};
            if (change == Fabric::RateChange::no_limit)
                return {false, "\"" + part +
                                   "\" has no rate that could be changed: give it one in the network's file"};
        } else if (fabric_.set_up(part, verb == "up")) {
            return {true, ""};
        }
        return {false, "the network \"" + network_.name + "\" has no host, segment, bridge or link \"" +
                           part + "\""};
    }

    void reset() {
        fabric_.reset_counts();
        counting_.begin(now(), alarm_.spun());
    }

    const Network& network_;
    const SwitchWires& wires_;
    const Routes routes_;
    Fabric fabric_;
    FrameRoom room_;
    AlarmClock alarm_;
    UniqueFd poll_;
    const Time start_ = clock_now(CLOCK_MONOTONIC);
    std::vector<Fabric::Outcome> outcomes_;
    std::vector<bool> paused_; // hosts that wait because the queue of their own wire is full
    std::size_t paused_hosts_ = 0;
    Counting counting_;
    bool over_ = false;
};

/// Runs before all other processes if that is allowed, else before most of them.
void raise_priority() {
    ::prctl(PR_SET_TIMERSLACK, 1UL);
    sched_param first{};
    first.sched_priority = 1;
    if (::sched_setscheduler(0, SCHED_FIFO, &first) != 0) ::setpriority(PRIO_PROCESS, 0, -20);
}

} // namespace

void run_switch(const Network& network, const SwitchWires& wires) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::prctl(PR_SET_NAME, "lab-switch");
    ::signal(SIGPIPE, SIG_IGN);
    // Signals of the terminal are for the job.
    for (const int one : {SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGUSR1, SIGUSR2}) ::signal(one, SIG_IGN);
    raise_priority();
    Switch(network, wires).run();
}

} // namespace plexus::tools::lab
