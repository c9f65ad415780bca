// SPDX-License-Identifier: BSD-3-Clause
// A call that fails ends only when no handler writes to its caller's memory any more.
#include "eco/group/party.h"

#include <barrier>
#include <csignal>
#include <ctime>
#include <sys/mman.h>
#include <thread>

namespace writers_test {

using namespace plexus;
using namespace plexus::eco;
using namespace plexus::testing;

namespace {

constexpr std::size_t kBytes = 4096;

/// A page that lets no thread write to it before release(): a thread that tries is held inside its write.
class HeldPage {
  public:
    HeldPage() {
        page =
            static_cast<std::byte*>(::mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        REQUIRE(page != MAP_FAILED);
        struct sigaction action {};
        action.sa_handler = &hold;
        REQUIRE(::sigaction(SIGSEGV, &action, &before_) == 0);
    }
    ~HeldPage() {
        release();
        ::sigaction(SIGSEGV, &before_, nullptr);
        ::munmap(page, kBytes);
    }
    static bool holds() { return held.load(std::memory_order_acquire); }
    static void release() { released.store(true, std::memory_order_release); }

    static inline std::byte* page = nullptr;

  private:
    static void hold(int) {
        held.store(true, std::memory_order_release);
        const timespec pause{0, 1'000'000};
        while (!released.load(std::memory_order_acquire)) ::nanosleep(&pause, nullptr);
        ::mprotect(page, kBytes, PROT_READ | PROT_WRITE);
    }

    static inline std::atomic<bool> held{false};
    static inline std::atomic<bool> released{false};
    struct sigaction before_ {};
};

} // namespace

TEST_CASE("a call that fails while a handler writes to its memory ends after that write") {
    if (kSanitized) SKIP_TEST("sanitizers have SIGSEGV for themselves");
    const auto late = expect_warning("");
    HeldPage memory;
    Party party(3, "local");
    std::barrier<> over(3);
    std::barrier<> begun(2); // what comes before the call has begun is written by the thread that begins it
    CHECK(complaints(party.run([&](const Group& all) -> std::string {
              const Group group = all.with(Algorithm::messages());
              const std::vector<std::byte> mine(kBytes / 4, std::byte{7});
              std::string bad;
              if (all.rank() == 0) {
                  const std::span whole(HeldPage::page, kBytes * 3 / 4);
                  Future<void> call =
                      group.async().gather(std::span<const std::byte>(whole.first(kBytes / 4)), whole, 0);
                  begun.arrive_and_wait();
                  // The context's progress thread is held in the handler of member 1's message.
                  if (!eventually(kLimit, [] { return HeldPage::holds(); })) bad = "nobody wrote; ";
                  std::thread breaker([&] { // member 2 never comes to the call
                      try {
                          group.with(deadline(std::chrono::milliseconds(1))).barrier();
                      } catch (const Error&) {}
                  });
                  std::this_thread::sleep_for(std::chrono::seconds(1)); // time to end the call too early
                  if (call.ready()) bad += "the call ended while its memory was being written; ";
                  HeldPage::release();
                  breaker.join();
                  if (!eventually(kLimit, [&] { return call.ready(); })) bad += "the call never ended";
              } else if (all.rank() == 1) {
                  std::vector<std::byte> nothing;
                  begun.arrive_and_wait();
                  try {
                      within(group.async().gather(std::span(mine), std::span(nothing), 0));
                  } catch (const std::runtime_error& error) { bad = error.what(); }
              }
              over.arrive_and_wait();
              return bad;
          })) == "");
}

} // namespace writers_test
