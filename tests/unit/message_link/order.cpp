// SPDX-License-Identifier: BSD-3-Clause
// The order of what arrives: by number, each once, whatever the order on the way was.
#include "support/catch.h"

#include "message_link/order.h"

#include <algorithm>
#include <random>
#include <vector>

namespace order_test {

using Order = plexus::message_link::ReceiveOrder<int>;
using Place = Order::Place;

TEST_CASE("the next message passes, an early one is kept, another one is wrong") {
    Order order;
    CHECK(order.place(0) == Place::next);
    CHECK(order.place(1) == Place::early);
    CHECK(order.place(65'535) == Place::wrong);
    order.keep(2, 12);
    CHECK(order.place(2) == Place::wrong); // twice
    CHECK_FALSE(order.take());
    order.pass();
    CHECK(order.place(0) == Place::wrong);
    CHECK_FALSE(order.take());
    order.keep(1, 11);
    CHECK(order.take() == 11);
    CHECK(order.take() == 12);
    CHECK_FALSE(order.take());
    CHECK(order.place(3) == Place::next);
}

TEST_CASE("what is kept is dropped once") {
    Order order;
    order.keep(1, 11);
    order.keep(5, 15);
    std::vector<int> dropped;
    order.clear([&](int item) { dropped.push_back(item); });
    order.clear([&](int item) { dropped.push_back(item); });
    CHECK(dropped == std::vector<int>{11, 15});
    CHECK_FALSE(order.has_early());
}

TEST_CASE("messages that overtake each other come out in order, also where the numbers begin again at zero") {
    constexpr int kCount = 300'000;
    constexpr int kReach = 40; // how far one may be overtaken
    std::mt19937 random(7);
    Order order;
    int expected = 0;
    for (int first = 0; first < kCount; first += kReach) {
        std::vector<int> block(kReach);
        for (int i = 0; i < kReach; ++i) block[static_cast<std::size_t>(i)] = first + i;
        std::shuffle(block.begin(), block.end(), random);
        for (const int item : block) {
            const auto number = static_cast<std::uint16_t>(item);
            if (order.place(number) == Place::early) {
                order.keep(number, item);
                continue;
            }
            REQUIRE(order.place(number) == Place::next);
            order.pass();
            REQUIRE(item == expected++);
            while (const auto next = order.take()) REQUIRE(*next == expected++);
        }
    }
    CHECK(expected == kCount);
}

} // namespace order_test
