// SPDX-License-Identifier: BSD-3-Clause
// A process that has forked: the child holds every socket of the parent. What the parent closes is closed
// for its peers all the same, its epoll set forgets it, and what the child closes is not closed here.
#include "raw_peer.h"
#include "support/catch.h"
#include "support/log_guard.h"
#include "support/process.h"

#include <csignal>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>

namespace fork_test {

using namespace plexus::testing;

namespace {

/// A child that holds what this process has open at this moment.
class Holder {
  public:
    Holder()
      : pid_(::fork()) {
        if (pid_ < 0) throw std::runtime_error("fork failed");
        if (pid_ > 0) return;
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;) ::pause();
    }
    ~Holder() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    Holder(const Holder&) = delete;
    Holder& operator=(const Holder&) = delete;

  private:
    pid_t pid_;
};

bool is_readable(BareHost& host) {
    pollfd item{host.wait_fd(), POLLIN, 0};
    return ::poll(&item, 1, 0) > 0;
}

/// Runs `body` in a process of its own, since no other thread may run when it forks. 0: all held.
int alone(int (*body)()) {
    Process child([body](Channel&) { return body(); });
    return child.wait(20s).value_or(-1);
}

} // namespace

TEST_CASE("a link that ends while a forked child holds its socket ends on both sides, and leaves epoll") {
    CHECK(alone([] {
              // Longer than the test may take: who waits for the far side's end must get it.
              Pair pair(tcp(), with({{"linger", "60 s"}}), with({{"linger", "60 s"}}));
              const Holder holder;
              pair.a.disconnect(*pair.to_b);
              if (!pair.pump(5s, [&] { return pair.to_a->is_lost(); })) return 1;
              if (!pair.pump(5s, [&] { return pair.b.query(PLEXUS_QUERY_LINKS) == 0; })) return 2;
              if (!pair.pump(5s, [&] { return pair.a.query(PLEXUS_QUERY_LINKS) == 0; })) return 3;
              for (int i = 0; i < 100; ++i)
                  if (pair.a.poll() + pair.b.poll() != 0) return 4;
              if (is_readable(pair.a) || is_readable(pair.b)) return 5;
              return link_up(pair.a, pair.b) != nullptr ? 0 : 6;
          }) == 0);
}

TEST_CASE("a connection that is refused while a forked child holds its socket is closed, and leaves epoll") {
    CHECK(alone([] {
              BareHost host(tcp(), with({{"handshake_timeout", "200 ms"}}));
              RawPeer silent(host);
              RawPeer noisy(host);
              for (int i = 0; i < 100; ++i) host.poll();
              const Holder holder;
              noisy.send(Bytes(4096, std::byte{0x5a}));
              if (!noisy.closed_by(host, 5s)) return 1;
              if (!silent.closed_by(host, 5s)) return 2;
              for (int i = 0; i < 100; ++i)
                  if (host.poll() != 0) return 3;
              return is_readable(host) ? 4 : 0;
          }) == 0);
}

TEST_CASE("an attempt that fails while a forked child holds its socket leaves epoll") {
    CHECK(alone([] {
              BareHost from(tcp(), with({{"connect_timeout", "200 ms"}}));
              BareHost deaf(tcp());
              End* end = from.connect(deaf.descriptor(), deaf.id());
              for (int i = 0; i < 100; ++i) from.poll();
              const Holder holder;
              if (!pump({&from}, 5s, [&] { return end->is_lost(); })) return 1;
              for (int i = 0; i < 100; ++i) deaf.poll(); // takes the greeting, answers, sees the end
              if (!pump({&from}, 5s, [&] { return from.query(PLEXUS_QUERY_LINKS) == 0; })) return 2;
              for (int i = 0; i < 100; ++i)
                  if (from.poll() != 0) return 3;
              return is_readable(from) ? 4 : 0;
          }) == 0);
}

TEST_CASE("a context that has ended is not listened for by its forked child") {
    CHECK(alone([] {
              BareHost other(tcp(), with({{"connect_timeout", "10 s"}}));
              Bytes descriptor;
              plexus_id id{};
              std::optional<Holder> holder;
              {
                  BareHost host(tcp());
                  descriptor = host.descriptor();
                  id = host.id();
                  holder.emplace();
              }
              End* end = other.connect(descriptor, id);
              if (!pump({&other}, 3s, [&] { return end->is_lost(); })) return 1;
              return end->lost_why().find("refused") != std::string::npos ? 0 : 2;
          }) == 0);
}

TEST_CASE("a forked child that ends its copy of a context does not disturb its parent's links") {
    CHECK(alone([] {
              Pair pair(tcp());
              RawPeer stranger(pair.b);
              for (int i = 0; i < 100; ++i) pair.b.poll();
              if (pair.end_in_a_child() != 0) return 1;
              if (!pair.a.push(*pair.to_b, std::make_shared<const Bytes>(40))) return 2;
              if (!pair.b.push(*pair.to_a, std::make_shared<const Bytes>(3'000'000))) return 3;
              if (!pair.pump(5s, [&] { return pair.to_a->received() == 1 && pair.to_b->received() == 1; }))
                  return 4;
              if (pair.to_a->is_lost() || pair.to_b->is_lost()) return 5;
              return link_up(pair.a, pair.b) != nullptr ? 0 : 6;
          }) == 0);
}

} // namespace fork_test
