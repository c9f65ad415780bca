// SPDX-License-Identifier: BSD-3-Clause
// Peers in processes of their own that are killed or stopped: whoever waits is told, and so is the program.
#include "contexts.h"
#include "key_file.h"
#include "support/process.h"

#include <csignal>
#include <semaphore.h>
#include <unistd.h>

namespace vanished_test {

using namespace plexus;
using namespace plexus::testing;

struct Store {};
constexpr Request<int(Store&)> ask{"vanished.ask"};
constexpr Request<void(Store&)> nap{"vanished.nap"};
constexpr Request<void(Store&, int)> drop{"vanished.drop"};
constexpr Request<void(Store&)> spin{"vanished.spin"};
constexpr Request<int(Store&)> fork_child{"vanished.fork_child"}; // its process id
constexpr Request<void(Store&)> lock_twice{"vanished.lock_twice"};
constexpr Request<int(Store&, int)> work{"vanished.work"}; // so many ms, on the polling thread
constexpr Request<int(Store&, int)> work_on_the_pool{"vanished.work_on_the_pool"}; // the same, threaded

int work_for(int ms) {
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
    return ms;
}

/// Waits for a lock that this thread has.
void deadlock() {
    sem_t once;
    sem_init(&once, 0, 1);
    for (int i = 0; i < 2; ++i)
        while (sem_wait(&once) != 0) {}
}

/// A peer in a process of its own; `nap`, `spin` and `lock_twice` keep it in a handler until it is killed.
class Remote {
  public:
    explicit Remote(const std::string& method)
      : process_([&](Channel& channel) {
          Context context(by(method, {{"job.key_file", key_.path()}}));
          Store store;
          context.on(ask, [](Store&) { return 1; });
          context.on(nap, [](Store&) { std::this_thread::sleep_for(std::chrono::seconds(60)); });
          context.on(drop, [](Store&, int) {});
          context.on(spin, [](Store&) {
              volatile bool never = false; // else a compiler may take the loop for one that ends
              while (!never) {}
          });
          context.on(lock_twice, [](Store&) { deadlock(); });
          context.on(fork_child, [](Store&) {
              const pid_t child = ::fork();
              while (child == 0) ::pause();
              return static_cast<int>(child);
          });
          context.on(work, [](Store&, int ms) { return work_for(ms); });
          context.on(work_on_the_pool, threaded, [](Store&, int ms) { return work_for(ms); });
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
    const std::string method = GENERATE(from_range(that_survive_kills(and_fabrics({"shm", "tcp"}))));
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
    const std::string method = GENERATE(from_range(that_survive_kills(and_fabrics({"shm", "tcp"}))));
    CAPTURE(method);
    Remote remote(method);
    Context here(by(method, {{"job.key_file", remote.key()}}));
    const Heard heard(here);
    const auto far = remote.reached_from(here);
    REQUIRE(within(far.call(ask)) == 1);
    remote.send(SIGKILL);
    CHECK(eventually(kLimit, [&] { return heard.lost(far.context()); }));
}

/// What bounds the time until a peer that says nothing is lost.
Values impatient(const Remote& remote, const char* silence) {
    return {{"job.key_file", remote.key()},
            {"limits.silence", silence},
            {"limits.reconnect", "400 ms"},
            {"method.tcp.connect_timeout", "300 ms"}};
}

TEST_CASE("a peer that is stopped is lost after limits.silence, although its kernel answers for it") {
    Remote remote("tcp");
    Context here(by("tcp", impatient(remote, "400 ms")));
    const Heard heard(here);
    const auto far = remote.reached_from(here);
    REQUIRE(within(far.call(ask)) == 1);
    remote.send(SIGSTOP);
    const Refusal refusal = refusal_of(far.call(ask));
    CHECK(refusal.status == Status::peer_lost);
    CHECK(eventually(kLimit, [&] { return heard.lost(far.context()); }));
}

TEST_CASE("a peer whose handler does not return is lost after limits.silence") {
    const auto& request = GENERATE(std::cref(spin), std::cref(lock_twice)).get();
    CAPTURE(request.name());
    Remote remote("tcp");
    Context here(by("tcp", impatient(remote, "400 ms")));
    const Heard heard(here);
    const auto far = remote.reached_from(here);
    REQUIRE(within(far.call(ask)) == 1);
    far.send(request);
    const Refusal refusal = refusal_of(far.call(ask));
    CAPTURE(refusal.why);
    CHECK(refusal.status == Status::peer_lost);
    CHECK(eventually(kLimit, [&] { return heard.lost(far.context()); }));
    CHECK(heard.error(Status::message_lost, "may not have been delivered"));
}

TEST_CASE("a peer whose threaded handlers take several times limits.silence is not lost") {
    Remote remote("tcp");
    Context here(by("tcp", impatient(remote, "1 s")));
    const Heard heard(here);
    const auto far = remote.reached_from(here);
    Future<int> slow = far.call(work_on_the_pool, 4'000);
    CHECK(within(std::move(slow)) == 4'000);
    CHECK_FALSE(heard.lost(far.context()));
}

TEST_CASE(
    "a peer whose inline handlers take longer than limits.silence together, but not each, is not lost") {
    constexpr int kHandlers = 24;
    constexpr int kEach = 120; // ms
    Remote remote("tcp");
    Context here(by("tcp", impatient(remote, "1 s")));
    const Heard heard(here);
    const auto far = remote.reached_from(here);
    REQUIRE(within(far.call(ask)) == 1);
    for (int i = 1; i < kHandlers; ++i) far.send(work, kEach); // read at once
    CHECK(within(far.call(work, kEach)) == kEach);
    CHECK_FALSE(heard.lost(far.context()));
}

// Over shm the end of the process itself is noticed at once.
TEST_CASE("over tcp alone a killed process whose forked child keeps its sockets open is lost after "
          "limits.silence") {
    constexpr std::chrono::seconds kNoticed{5}; // silence, and the dials that nobody answers
    struct Child {
        ~Child() {
            if (id > 0) ::kill(id, SIGKILL);
        }
        pid_t id = 0;
    } child;
    Remote remote("tcp");
    Context here(by("tcp", impatient(remote, "400 ms")));
    const Heard heard(here);
    const auto far = remote.reached_from(here);
    child.id = within(far.call(fork_child));
    REQUIRE(child.id > 0);
    remote.send(SIGKILL);
    const auto start = std::chrono::steady_clock::now();
    const Refusal refusal = refusal_of(far.call(ask));
    CHECK(refusal.status == Status::peer_lost);
    CHECK(eventually(kLimit, [&] { return heard.lost(far.context()); }));
    CHECK(std::chrono::steady_clock::now() - start < kNoticed * kPatience);
    CHECK(::kill(child.id, 0) == 0); // it was there all the time
}

} // namespace vanished_test
