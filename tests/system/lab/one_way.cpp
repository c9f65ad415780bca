// SPDX-License-Identifier: BSD-3-Clause
// The program of the cuts' test: rank 1 floods rank 0, on another host, with requests and calls, while the
// connection between them, which only rank 1 can make, is cut in turn at either end. Rank 1 prints
//   sent N, called N, answered N; came N and N, M out of order
// and each rank what went wrong, if something did. Arguments: the port of rank 0, the number of cuts.
#include "plexus/plexus.h"
#include "soak/cut.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using plexus::Future;
using plexus::GlobalPointer;

constexpr auto kLimit = 60s;

struct Inbox {
    std::uint16_t port = 0;
    // The next three belong to inline handlers, which run one at a time.
    std::uint64_t sent = 0;
    std::uint64_t called = 0;
    std::uint64_t wrong = 0;
};
constexpr plexus::Request<void(Inbox&, std::uint64_t, std::vector<std::uint8_t>)> note{"one_way.note"};
constexpr plexus::Request<std::vector<std::uint64_t>(Inbox&, std::uint64_t)> ask{"one_way.ask"};
constexpr plexus::Request<std::uint64_t(Inbox&)> cut{"one_way.cut"};
constexpr plexus::Request<std::vector<std::uint64_t>(Inbox&)> report{"one_way.report"};

/// Up to 4 KiB, another one for each number.
std::vector<std::uint64_t> result_of(std::uint64_t number) {
    return std::vector<std::uint64_t>(1 + number % 512, 3 * number);
}

template <class R>
R answer_of(Future<R> call) {
    if (!call.wait_for(kLimit)) throw std::runtime_error("a call does not end");
    return call.get();
}

/// Sends and calls until it is told to stop.
class Flood {
  public:
    explicit Flood(GlobalPointer<Inbox> far)
      : far_(std::move(far))
      , sender_([this] {
          guarded([this] {
              for (; !stop_; ++sent) far_.send(note, sent, std::vector<std::uint8_t>(sent % 64));
          });
      })
      , caller_([this] { guarded([this] { call(); }); }) {}
    void stop() {
        stop_ = true;
        sender_.join();
        caller_.join();
        if (!failure_.empty()) throw std::runtime_error(failure_);
    }

    // Read after stop().
    std::uint64_t sent = 0;
    std::uint64_t called = 0;
    std::uint64_t answered = 0;

  private:
    void call() {
        constexpr std::size_t kUnderWay = 8;
        std::deque<Future<std::vector<std::uint64_t>>> waiting;
        while (!stop_ || !waiting.empty()) {
            if (!stop_) waiting.push_back(far_.call(ask, called++));
            if (!stop_ && waiting.size() < kUnderWay) continue;
            if (answer_of(std::move(waiting.front())) != result_of(answered))
                throw std::runtime_error("a call has the result of another");
            waiting.pop_front();
            ++answered;
        }
    }
    template <class Work>
    void guarded(Work work) {
        try {
            work();
        } catch (const std::exception& error) {
            const std::lock_guard hold(mutex_);
            failure_ = error.what();
        }
    }

    const GlobalPointer<Inbox> far_;
    std::atomic<bool> stop_{false}; // alone is the message
    std::mutex mutex_;
    std::string failure_; // under the mutex; read after both threads have ended
    std::thread sender_;
    std::thread caller_;
};

/// Until a link is there again, a call waits; so each cut finds one.
void cut_in_turn(const GlobalPointer<Inbox>& far, std::uint16_t port, int cuts) {
    for (int i = 0; i < cuts; ++i) {
        answer_of(far.call(report));
        const std::uint64_t count = i % 2 == 0 ? plexus::soak::cut_tcp({port}) : answer_of(far.call(cut));
        if (count == 0) throw std::runtime_error("a call was answered, and there is no link to cut");
    }
}

void flood_and_cut(const GlobalPointer<Inbox>& far, std::uint16_t port, int cuts) {
    Flood flood(far);
    try {
        cut_in_turn(far, port, cuts);
    } catch (...) {
        flood.stop();
        throw;
    }
    flood.stop();
    const std::vector<std::uint64_t> came = answer_of(far.call(report)); // behind all that was sent
    std::printf("sent %llu, called %llu, answered %llu; came %llu and %llu, %llu out of order\n",
                static_cast<unsigned long long>(flood.sent), static_cast<unsigned long long>(flood.called),
                static_cast<unsigned long long>(flood.answered), static_cast<unsigned long long>(came[0]),
                static_cast<unsigned long long>(came[1]), static_cast<unsigned long long>(came[2]));
}

void work(plexus::Context& here, Inbox& inbox, int cuts) {
    const auto bound = here.bind(inbox);
    if (here.rank() == 0) here.publish("inbox", bound.pointer());
    here.fence().get();
    if (here.rank() == 1) flood_and_cut(here.lookup<Inbox>("inbox").get(), inbox.port, cuts);
    here.fence().get();
}

} // namespace

int main(int argc, char** argv) {
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    plexus::Context here(argc, argv);
    if (argc != 3) return 2;
    Inbox inbox;
    inbox.port = static_cast<std::uint16_t>(std::atoi(argv[1]));
    here.on_error(
        [&](const plexus::Error& error) { std::printf("rank %u: %s\n", here.rank(), error.what()); });
    here.on(note, [](Inbox& to, std::uint64_t number, const std::vector<std::uint8_t>&) {
        to.wrong += number == to.sent++ ? 0 : 1;
    });
    here.on(ask, [](Inbox& to, std::uint64_t number) {
        to.wrong += number == to.called++ ? 0 : 1;
        return result_of(number);
    });
    here.on(cut, [](Inbox& to) { return plexus::soak::cut_tcp({to.port}); });
    here.on(report, [](Inbox& to) { return std::vector<std::uint64_t>{to.sent, to.called, to.wrong}; });
    try {
        work(here, inbox, std::atoi(argv[2]));
    } catch (const std::exception& error) {
        std::printf("rank %u: %s\n", here.rank(), error.what());
        return 1;
    }
}
