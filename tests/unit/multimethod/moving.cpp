// SPDX-License-Identifier: BSD-3-Clause
// Pointers that change their method while requests are on their way, through all that there
// are: every request arrives once, in order and whole.
#include "ends.h"

#include <array>
#include <deque>
#include <thread>

using namespace plexus;
using namespace plexus::testing;

namespace moving_test {

constexpr std::size_t kSizes[] = {8, 100, 1000, 4096, 20'000, 65'536, 300'000, 1 << 20};
constexpr std::size_t kStay = 5; // requests between two moves
constexpr std::size_t kInFlight = 12;
constexpr std::uint32_t kMoves = kSanitized ? 60 : 240;

/// One thread's requests, and the answers that it waits for.
class Sender {
  public:
    Sender(std::uint32_t number, GlobalPointer<Log> far)
      : me_(number)
      , far_(std::move(far)) {}

    GlobalPointer<Log>& far() noexcept { return far_; }
    std::uint32_t sent() const noexcept { return sent_; }

    void send_some() {
        for (std::size_t i = 0; i < kStay; ++i, ++sent_) {
            // Every size meets every place in the stay: neither number divides the other.
            const std::vector<std::byte> load(kSizes[(sent_ + me_) % std::size(kSizes)], mark_of(me_, sent_));
            if (sent_ % 3 == 0) {
                answers_.emplace_back(sent_, far_.call(append_call, me_, sent_, load));
            } else {
                far_.send(append, me_, sent_, load);
            }
        }
        while (answers_.size() > kInFlight) take_answer();
    }
    void take_all() {
        while (!answers_.empty()) take_answer();
    }

  private:
    void take_answer() {
        auto [number, answer] = std::move(answers_.front());
        answers_.pop_front();
        if (within(std::move(answer)) != number) throw std::runtime_error("an answer was another's");
    }

    const std::uint32_t me_;
    GlobalPointer<Log> far_;
    std::uint32_t sent_ = 0;
    std::deque<std::pair<std::uint32_t, Future<std::uint32_t>>> answers_;
};

/// Both senders at once, each moving in its own way; gives what went wrong.
template <class Move>
std::string run(std::array<Sender, kSenders>& senders, Move&& move) {
    std::array<std::string, kSenders> failures;
    std::vector<std::thread> threads;
    for (std::uint32_t me = 0; me < kSenders; ++me)
        threads.emplace_back([&, me] {
            try {
                for (std::uint32_t at = 0; at < kMoves; ++at) {
                    move(me, at, senders[me]);
                    senders[me].send_some();
                }
                senders[me].take_all();
            } catch (const std::exception& error) { failures[me] = error.what(); }
        });
    for (std::thread& thread : threads) thread.join();
    return failures[0] + failures[1];
}

void check_arrived(const GlobalPointer<Log>& far, const std::array<Sender, kSenders>& senders) {
    // Each sender's last way is another: what went out by it is confirmed before this call leaves.
    CHECK(eventually(kLimit, [&] {
        return within(far.call(seen)) == std::vector{senders[0].sent(), senders[1].sent()};
    }));
    CHECK(within(far.call(wrong)) == 0);
}

} // namespace moving_test

using namespace moving_test;

TEST_CASE("two threads move their pointers through all methods while requests are on their way") {
    const FarEnd far_end = GENERATE(FarEnd::this_process, FarEnd::other_process);
    CAPTURE(static_cast<int>(far_end));
    Ends ends(far_end);
    const std::vector<std::string> ways = ends.ways();
    REQUIRE(ways.size() > 1);
    std::array<Sender, kSenders> senders{Sender(0, ends.pointer()), Sender(1, ends.pointer())};
    const std::string failure = run(senders, [&](std::uint32_t me, std::uint32_t at, Sender& sender) {
        // One goes through them forwards, the other backwards.
        const std::size_t way = at % ways.size();
        sender.far().use(ways[me == 0 ? way : ways.size() - 1 - way]);
        if (at % 16 == 0 && sender.far().method() != ways[me == 0 ? way : ways.size() - 1 - way])
            throw std::runtime_error("the pointer is not where it was moved to");
    });
    CHECK(failure == "");
    check_arrived(ends.pointer(), senders);
}

TEST_CASE("tables, lists, policies and fallback move a pointer as safely as use() of one method") {
    const FarEnd far_end = GENERATE(FarEnd::this_process, FarEnd::other_process);
    CAPTURE(static_cast<int>(far_end));
    Ends ends(far_end);
    const std::vector<std::string> ways = ends.ways();
    REQUIRE(ways.size() > 1);
    std::array<Sender, kSenders> senders{Sender(0, ends.pointer()), Sender(1, ends.pointer())};
    const std::string failure = run(senders, [&](std::uint32_t me, std::uint32_t at, Sender& sender) {
        const std::string& way = ways[(at + me) % ways.size()];
        GlobalPointer<Log>& far = sender.far();
        switch (at % 4) {
        case 0: {
            DescriptorTable table = far.table();
            table.prefer({way});
            far.set_table(table);
            break;
        }
        case 1:
            far.use(way + ", " + ways[(at + me + 1) % ways.size()]);
            break;
        case 2:
            far.use([way](const std::vector<RowFacts>& rows) -> std::optional<std::size_t> {
                for (std::size_t row = 0; row < rows.size(); ++row)
                    if (rows[row].descriptor.method == way) return row;
                return {};
            });
            break;
        default:
            far.use(automatic);
        }
    });
    CHECK(failure == "");
    check_arrived(ends.pointer(), senders);
}
