// SPDX-License-Identifier: BSD-3-Clause
#include "tools/benchmark/stream.h"

#include "tools/common/quantity.h"

#include <algorithm>
#include <deque>
#include <exception>
#include <fmt/format.h>
#include <latch>
#include <thread>

namespace plexus::tools::benchmark {

/// One sender: a pointer of its own to a sink of its own.
class Source {
  public:
    Source(Initiator& end, std::size_t at)
      : far_(end.here().lookup<Sink>(sink_name(at)).get())
      , bound_(end.here().bind(*this))
      , payload_(end.options().buffers) {
        far_.call(drain_for, bound_.pointer()).get();
    }
    Source(const Source&) = delete;
    Source& operator=(const Source&) = delete;

    std::string method() const { return far_.method(); }
    void size(std::uint64_t bytes) { payload_.assign(bytes, std::byte{7}); }

    void announce(std::uint64_t messages) {
        arrived_.store(false, std::memory_order_relaxed); // the call that follows carries it over
        far_.call(expect, messages).get();
        expected_ = payload_.bytes() == sizeof(std::uint64_t) ? messages * (messages - 1) / 2
                    : payload_.bytes() == 0                   ? 0
                                                              : messages * 14;
    }
    /// @thread one of its own
    void send(std::uint64_t messages) {
        if (payload_.bytes() == sizeof(std::uint64_t)) {
            for (std::uint64_t message = 0; message < messages; ++message) far_.send(take_word, message);
        } else {
            for (std::uint64_t message = 0; message < messages; ++message)
                far_.send(take_bytes, Bytes(payload_.next()));
        }
    }
    void confirm(std::uint64_t sum) {
        sum_ = sum;
        arrived_.store(true, std::memory_order_release); // pairs with arrived()
    }
    bool arrived() const noexcept { return arrived_.load(std::memory_order_acquire); }
    void check() const {
        if (sum_ != expected_)
            throw Error(
                Status::bad_archive,
                fmt::format("the responder read other bytes than were sent: their sum is {} and not {}", sum_,
                            expected_));
    }

  private:
    GlobalPointer<Sink> far_;
    Bound<Source> bound_;
    Buffers payload_;
    std::uint64_t expected_ = 0;
    std::uint64_t sum_ = 0;
    std::atomic<bool> arrived_{false};
};

namespace {

/// Several threads at once: the first that failed gives the reason.
void send_from_threads(std::deque<Source>& sources, std::uint64_t messages, Clock::time_point& start) {
    std::latch ready(static_cast<std::ptrdiff_t>(sources.size()) + 1);
    std::vector<std::exception_ptr> failures(sources.size());
    std::vector<std::thread> threads;
    for (std::size_t at = 0; at < sources.size(); ++at) {
        threads.emplace_back([&, at] {
            ready.arrive_and_wait();
            try {
                sources[at].send(messages);
            } catch (...) { failures[at] = std::current_exception(); }
        });
    }
    ready.arrive_and_wait();
    start = Clock::now();
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& failure : failures)
        if (failure) std::rethrow_exception(failure);
}

} // namespace

std::vector<Row> measure_stream(Initiator& end, Kind kind, const std::vector<std::uint64_t>& sizes) {
    if (end.begins_streams())
        end.here().on(all_here, [](Source& source, std::uint64_t sum) { source.confirm(sum); });
    std::deque<Source> sources;
    for (std::uint32_t thread = 0; thread < end.options().threads; ++thread)
        sources.emplace_back(end, thread);

    const auto stream = [&](std::uint64_t messages) {
        for (Source& source : sources) source.announce(messages);
        auto start = Clock::now();
        if (sources.size() == 1) {
            sources.front().send(messages);
        } else {
            send_from_threads(sources, messages, start);
        }
        end.end().until([&] {
            return std::all_of(sources.begin(), sources.end(),
                               [](const Source& each) { return each.arrived(); });
        });
        const double taken = seconds_since(start);
        for (const Source& source : sources) source.check();
        return taken;
    };
    std::vector<Row> rows;
    for (const std::uint64_t size : sizes) {
        for (Source& source : sources) source.size(size);
        const Best best = end.best_of(fmt::format("{}, {}", name_of(kind), show_size(size)), 10, stream);
        Row& row = rows.emplace_back();
        row.kind = kind;
        row.used = sources.front().method();
        row.size_bytes = size;
        row.iterations = best.iterations;
        row.threads = end.options().threads;
        row.buffers = end.options().buffers;
        row.messages_per_s = static_cast<double>(sources.size()) / best.each();
        row.bytes_per_s = row.messages_per_s * static_cast<double>(size);
        row.skip_poll = end.skip_poll_of(row.used);
    }
    return rows;
}

} // namespace plexus::tools::benchmark
