// SPDX-License-Identifier: BSD-3-Clause
// Peers in processes of their own that are killed or stopped: whoever waits is told, and so is the program.
#include "contexts.h"
#include "key_file.h"
#include "support/process.h"

#include <csignal>

namespace vanished_test {

using namespace plexus;
using namespace plexus::testing;

struct Store {};
constexpr Request<int(Store&)> ask{"vanished.ask"};
constexpr Request<void(Store&)> nap{"vanished.nap"};
constexpr Request<void(Store&, int)> drop{"vanished.drop"};

/// A peer in a process of its own; `nap` keeps it in a handler until it is killed.
class Remote {
  public:
    explicit Remote(const std::string& method)
      : process_([&](Channel& channel) {
          Context context(by(method, {{"job.key_file", key_.path()}}));
          Store store;
          context.on(ask, [](Store&) { return 1; });
          context.on(nap, [](Store&) { std::this_thread::sleep_for(std::chrono::seconds(60)); });
          context.on(drop, [](Store&, int) {});
          const auto bound = context.bind(store);
          channel.put(bound.pointer().save());
          context.run();
          return 0;
      }) {
        const auto saved = process_.channel().take(std::chrono::seconds(20));
        if (!saved) throw std::runtime_error("the peer did not start");
        pointer_ = *saved;
    }
    GlobalPointer<Store> reached_from(Context& here) const {
        return GlobalPointer<Store>::load(here, pointer_);
    }
    void send(int signal) { process_.kill(signal); }
    const std::string& key() const { return key_.path(); }

  private:
    KeyFile key_;
    Process process_;
    std::vector<std::byte> pointer_;
};

/// What the program hears, on whichever thread, until its context ends: the handlers own what they write to.
class Heard {
  public:
    explicit Heard(Context& context) {
        context.on_error([all = all_](const Error& error) {
            std::lock_guard hold(all->mutex);
            all->errors.push_back({error.status(), error.what()});
        });
        context.on_peer([all = all_](const PeerEvent& event) {
            std::lock_guard hold(all->mutex);
            all->peers.push_back(event);
        });
    }
    bool error(Status status, std::string_view part) const {
        std::lock_guard hold(all_->mutex);
        return std::any_of(all_->errors.begin(), all_->errors.end(), [&](const auto& each) {
            return each.first == status && each.second.find(part) != std::string::npos;
        });
    }
    bool lost(const ContextId& id) const {
        std::lock_guard hold(all_->mutex);
        return std::any_of(all_->peers.begin(), all_->peers.end(), [&](const PeerEvent& each) {
            return each.context == id && each.status == Status::peer_lost;
        });
    }

  private:
    struct All {
        std::mutex mutex;
        std::vector<std::pair<Status, std::string>> errors;
        std::vector<PeerEvent> peers;
    };
    std::shared_ptr<All> all_ = std::make_shared<All>();
};

TEST_CASE(
    "of a peer that is killed with requests under way calls end, and the program hears what may be lost") {
    const std::string method = GENERATE(as<std::string>{}, "shm", "tcp");
    CAPTURE(method);
    Remote remote(method);
    Context here(by(method, {{"job.key_file", remote.key()}}));
    const Heard heard(here);
    const auto far = remote.reached_from(here);
    REQUIRE(within(far.call(ask)) == 1);
    far.send(nap);
    for (int i = 0; i < 100; ++i) far.send(drop, i);
    Future<int> waiting = far.call(ask);
    remote.send(SIGKILL);
    const Refusal refusal = refusal_of(std::move(waiting));
    CAPTURE(refusal.why);
    CHECK(refusal.status == Status::peer_lost);
    CHECK(eventually(kLimit, [&] { return heard.lost(far.context()); }));
    CHECK(
        eventually(kLimit, [&] { return heard.error(Status::message_lost, "may not have been delivered"); }));
}

TEST_CASE("a peer that is killed while nothing is under way is told of") {
    const std::string method = GENERATE(as<std::string>{}, "shm", "tcp");
    CAPTURE(method);
    Remote remote(method);
    Context here(by(method, {{"job.key_file", remote.key()}}));
    const Heard heard(here);
    const auto far = remote.reached_from(here);
    REQUIRE(within(far.call(ask)) == 1);
    remote.send(SIGKILL);
    CHECK(eventually(kLimit, [&] { return heard.lost(far.context()); }));
}

TEST_CASE("a peer that is stopped is lost after limits.silence, although its kernel answers for it") {
    Remote remote("tcp");
    Context here(by("tcp", {{"job.key_file", remote.key()},
                            {"limits.silence", "400 ms"},
                            {"limits.reconnect", "400 ms"},
                            {"method.tcp.connect_timeout", "300 ms"}}));
    const Heard heard(here);
    const auto far = remote.reached_from(here);
    REQUIRE(within(far.call(ask)) == 1);
    remote.send(SIGSTOP);
    const Refusal refusal = refusal_of(far.call(ask));
    CHECK(refusal.status == Status::peer_lost);
    CHECK(eventually(kLimit, [&] { return heard.lost(far.context()); }));
}

} // namespace vanished_test
