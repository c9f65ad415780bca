// SPDX-License-Identifier: BSD-3-Clause
// A flood both ways, with calls among it, over links that are cut all the time and that only one end can
// make: nothing is lost, doubled or out of order, and every call ends. PLEXUS_TEST_CUTS asks for another
// number of cuts than the suite's.
#include "context/core.h"
#include "plexus/plexus.h"
#include "support/arguments.h"
#include "support/catch.h"
#include "support/eventually.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace cuts_test {

using namespace plexus::testing;
using plexus::Context;
using plexus::Future;
using plexus::GlobalPointer;

/// Taken out of the environment before any context looks at it: no setting has that name.
std::uint64_t take_cuts_wanted() {
    const char* const asked = std::getenv("PLEXUS_TEST_CUTS");
    if (asked == nullptr) return kSanitized ? 100 : 300;
    const std::uint64_t wanted = std::strtoull(asked, nullptr, 10);
    ::unsetenv("PLEXUS_TEST_CUTS");
    return wanted;
}
const std::uint64_t kCutsWanted = take_cuts_wanted();

/// Numbers that must come as 0, 1, 2, …; taken by inline handlers, one at a time.
struct Order {
    std::uint64_t wrong = 0;
    std::atomic<std::uint64_t> next{0}; // [next] released after `wrong` was written

    void take(std::uint64_t number) {
        const std::uint64_t expected = next.load(std::memory_order_relaxed);
        if (number != expected) ++wrong;
        next.store(expected + 1, std::memory_order_release); // [next]
    }
    std::uint64_t count() const { return next.load(std::memory_order_acquire); } // pairs with [next]
};

struct Inbox {
    Order sent;
    Order called;
};
constexpr plexus::Request<void(Inbox&, std::uint64_t, std::vector<std::uint8_t>)> note{"cuts.note"};
constexpr plexus::Request<std::uint64_t(Inbox&, std::uint64_t)> ask{"cuts.ask"};

plexus::Options options(const std::string& methods) {
    plexus::Options made;
    made.set["module_path"] = std::filesystem::path(arguments().objects.at("faults")).parent_path().string();
    made.set["methods"] = methods;
    made.set["progress.close_timeout"] = "500 ms"; // what the plan swallowed is not worth more
    return made;
}

struct End {
    explicit End(const std::string& methods)
      : context(options(methods)) {
        context.on_error([this](const plexus::Error& error) {
            const std::lock_guard hold(mutex);
            // Closing over links that break leaves open what had arrived.
            if (!ending && first_error.empty()) first_error = error.what();
        });
        context.on(note, [](Inbox& to, std::uint64_t number, const std::vector<std::uint8_t>&) {
            to.sent.take(number);
        });
        context.on(ask, [](Inbox& to, std::uint64_t number) {
            to.called.take(number);
            return 3 * number;
        });
        bound = context.bind(inbox);
    }
    /// The number of the stream to `peer`, which is that of its link: they are counted. 0: there is no link.
    std::uint64_t stream_to(const End& peer) {
        std::uint64_t stream = 0;
        for (auto* channel : context.core()->endpoint().peer(peer.context.id())->all_channels())
            stream = std::max<std::uint64_t>(
                stream, channel->on_way_out([](plexus_link*, std::uint32_t number) { return number; }));
        return stream;
    }

    Inbox inbox;
    std::mutex mutex;
    bool ending = false; // this and the next under the mutex
    std::string first_error;
    Context context;
    plexus::Bound<Inbox> bound;
};

/// Sends and calls from one end to the other until it is told to stop.
class Flood {
  public:
    Flood(End& from, const End& to)
      : far_(GlobalPointer<Inbox>::load(from.context, to.bound.pointer().save()))
      , sender_([this] {
          try {
              for (; !stop_; ++sent) far_.send(note, sent, std::vector<std::uint8_t>(sent % 64));
          } catch (const plexus::Error& error) { refused = error.what(); }
      })
      , caller_([this] {
          try {
              call();
          } catch (const plexus::Error& error) { failed = error.what(); }
      }) {}
    void stop() {
        stop_ = true;
        sender_.join();
        caller_.join();
    }

    // Read after stop().
    std::uint64_t sent = 0;
    std::uint64_t called = 0;
    std::uint64_t ended = 0; ///< calls, with the right result
    std::string refused;     ///< why a send was
    std::string failed;      ///< why a call did

  private:
    void call() {
        constexpr std::size_t kUnderWay = 8;
        std::deque<Future<std::uint64_t>> waiting;
        const auto finish_one = [&] {
            Future<std::uint64_t> first = std::move(waiting.front());
            waiting.pop_front();
            if (!first.wait_for(60s * kPatience)) return void(failed = "it did not end");
            if (first.get() != 3 * ended) return void(failed = "it has another result");
            ++ended;
        };
        for (; !stop_ && failed.empty(); ++called) {
            waiting.push_back(far_.call(ask, called));
            if (waiting.size() == kUnderWay) finish_one();
        }
        while (!waiting.empty() && failed.empty()) finish_one();
    }

    GlobalPointer<Inbox> far_;
    std::atomic<bool> stop_{false}; // alone is the message
    std::thread sender_;
    std::thread caller_;
};

TEST_CASE("links that only one end can make are cut hundreds of times in a flood, and nothing is lost") {
    const std::uint64_t wanted = kCutsWanted;
    End server("faults?refuse_connect=1&drop_link_every=40&seed=21");
    End client("faults?drop_link_every=40&seed=22");
    const auto first = GlobalPointer<Inbox>::load(client.context, server.bound.pointer().save());
    CHECK(first.call(ask, 0).get() == 0); // the first link is the client's
    server.inbox.called.next = 0;

    Flood to_server(client, server);
    Flood to_client(server, client);
    std::uint64_t links = 1;
    const auto newer = [&] {              // as long as links are made, all is well
        std::this_thread::sleep_for(1ms); // the flood needs the processors
        const std::uint64_t now = client.stream_to(server);
        if (now <= links) return false;
        links = now;
        return true;
    };
    while (links <= wanted && eventually(60s, newer)) continue;
    CHECK(links > wanted); // each link but the last was cut
    to_server.stop();
    to_client.stop();
    for (const auto& way : {std::pair(&to_server, &server), std::pair(&to_client, &client)}) {
        auto* const flood = way.first;
        End* const end = way.second;
        CHECK(flood->refused.empty());
        CHECK(flood->failed.empty());
        CHECK(flood->ended == flood->called);
        CHECK(flood->sent > 0);
        CHECK(eventually(60s, [&] { return end->inbox.sent.count() >= flood->sent; }));
        CHECK(end->inbox.sent.count() == flood->sent);
        CHECK(end->inbox.sent.wrong == 0);
        CHECK(end->inbox.called.count() == flood->called);
        CHECK(end->inbox.called.wrong == 0);
    }
    for (End* end : {&server, &client}) {
        const std::lock_guard hold(end->mutex);
        CHECK(end->first_error.empty());
        end->ending = true;
    }
}

} // namespace cuts_test
