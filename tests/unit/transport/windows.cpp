// SPDX-License-Identifier: BSD-3-Clause
// The send and receive windows, promise by promise.
#include "support/catch.h"
#include "transport/receive_window.h"
#include "transport/send_window.h"

#include <vector>

namespace windows_test {

using namespace plexus;
using namespace plexus::transport;

namespace {

PendingFramePtr frame(std::size_t size) {
    auto made = std::make_unique<PendingFrame>(nullptr);
    made->size = size;
    made->cost_bytes = size;
    return made;
}

/// Appends frames of these sizes: the size is also their name.
void append(SendWindow& window, std::initializer_list<std::size_t> sizes) {
    for (const std::size_t size : sizes) window.append(frame(size));
}

std::vector<std::size_t> send_all(SendWindow& window) {
    std::vector<std::size_t> sent;
    while (const PendingFrame* next = window.next()) {
        sent.push_back(next->size);
        window.mark_sent();
    }
    return sent;
}

using Sizes = std::vector<std::size_t>;

Sizes sizes_of(const PendingFrames& frames) {
    Sizes sizes;
    for (const PendingFramePtr& each : frames) sizes.push_back(each->size);
    return sizes;
}

} // namespace

TEST_CASE("frames leave in order and stay until they are acknowledged") {
    SendWindow window(true);
    window.start_stream(7);
    append(window, {1, 2, 3});
    CHECK(window.held_bytes() == 6);
    CHECK_FALSE(window.clear());
    CHECK(send_all(window) == Sizes{1, 2, 3});
    CHECK(window.clear());
    CHECK_FALSE(window.empty());
    PendingFrames done;
    CHECK_FALSE(window.acked(6, 2, done)); // another stream
    CHECK_FALSE(window.acked(7, 4, done)); // more than was sent
    CHECK_FALSE(window.acked(7, 0, done)); // nothing new
    CHECK(done.empty());
    CHECK(window.acked(7, 2, done));
    CHECK(sizes_of(done) == Sizes{1, 2});
    CHECK_FALSE(window.acked(7, 2, done));
    CHECK(window.held_bytes() == 3);
    CHECK(window.settled() == 2);
    CHECK(window.appended() == 3);
    CHECK(window.unacked());
}

TEST_CASE("a window that keeps nothing gives frames back, and does not know their fate when a link breaks") {
    SendWindow window(false);
    window.start_stream(1);
    append(window, {4});
    const PendingFramePtr sent = window.mark_sent();
    REQUIRE(sent != nullptr);
    window.count_sent(8);
    CHECK(window.held_bytes() == 0);
    CHECK(window.appended() == 2);
    CHECK(window.settled() == 0);
    PendingFrames done;
    CHECK(window.acked(1, 1, done));
    CHECK(window.link_broke() == 1);
    CHECK(window.settled() == 2);
    CHECK(window.replay_requests().empty());
}

TEST_CASE("after a link broke nothing leaves before the receiver has said what arrived") {
    SendWindow window(true);
    window.start_stream(1);
    append(window, {1, 2, 3});
    send_all(window);
    append(window, {4});
    CHECK(window.link_broke() == 0);
    window.start_stream(2);
    CHECK(window.next() == nullptr);
    CHECK_FALSE(window.clear());
    REQUIRE(window.replay_requests().size() == 1);
    CHECK(window.replay_requests().front().stream == 1);
    PendingFrames done;
    PendingFrames lost;
    window.resumed(9, 3, done, lost); // nobody asked
    CHECK(window.next() == nullptr);
    window.resumed(1, 2, done, lost);
    CHECK(sizes_of(done) == Sizes{1, 2});
    CHECK(lost.empty());
    CHECK(send_all(window) == Sizes{3, 4});
}

TEST_CASE("the answers to several broken streams may come in any order") {
    SendWindow window(true);
    PendingFrames done;
    PendingFrames lost;
    window.start_stream(1);
    append(window, {1, 2});
    send_all(window);
    window.link_broke();
    Backlog backlog = window.take_backlog();
    CHECK(backlog.frames() == 2);
    SendWindow successor(true);
    successor.start_stream(2);
    append(successor, {11, 12});
    send_all(successor);
    append(successor, {13});
    successor.link_broke();
    successor.adopt(std::move(backlog));
    successor.start_stream(3);
    CHECK(successor.replay_requests().size() == 2);
    successor.resumed(1, 1, done, lost);
    CHECK(successor.next() == nullptr);
    successor.resumed(2, 0, done, lost);
    CHECK(send_all(successor) == Sizes{11, 12, 2, 13});
    CHECK(successor.appended() - successor.settled() == 4);
}

TEST_CASE("frames of a stream that the receiver does not remember are given up, not sent again") {
    SendWindow window(true);
    window.start_stream(1);
    append(window, {1, 2});
    send_all(window);
    append(window, {3});
    window.link_broke();
    window.start_stream(2);
    PendingFrames done;
    PendingFrames lost;
    window.resumed(1, std::nullopt, done, lost);
    CHECK(done.empty());
    CHECK(sizes_of(lost) == Sizes{1, 2});
    CHECK(send_all(window) == Sizes{3});
    CHECK(window.settled() == 2);
}

TEST_CASE("a frame that ends every link that carries it is given up; those behind it go on") {
    SendWindow window(true);
    PendingFrames done;
    PendingFrames lost;
    append(window, {1, 2});
    int links = 0;
    for (std::uint32_t stream = 1; lost.empty() && links < 2 * SendWindow::kMostReplays; ++stream, ++links) {
        window.start_stream(stream);
        send_all(window);
        window.link_broke();
        window.start_stream(100000 + stream);
        window.resumed(stream, 0, done, lost);
        window.link_broke();
    }
    CHECK(links == SendWindow::kMostReplays);
    CHECK(sizes_of(lost) == Sizes{1});
    window.start_stream(500000);
    CHECK(send_all(window) == Sizes{2});
}

TEST_CASE("progress between two breaks forgives a frame nothing that it did not do") {
    SendWindow window(true);
    PendingFrames done;
    PendingFrames lost;
    for (std::size_t size = 1; size <= 200; ++size) append(window, {size});
    for (std::uint32_t stream = 1; stream <= 100; ++stream) { // each link carries one frame further
        window.start_stream(stream);
        send_all(window);
        window.link_broke();
        window.start_stream(1000 + stream);
        window.resumed(stream, 1, done, lost);
        window.link_broke();
    }
    CHECK(lost.empty());
    CHECK(done.size() == 100);
}

TEST_CASE("what was dropped or taken back is neither sent nor held") {
    SendWindow window(true);
    window.start_stream(1);
    append(window, {1, 2, 3});
    window.mark_sent();
    CHECK(window.drop_next()->size == 2);
    CHECK(window.take_last()->size == 3);
    CHECK(window.next() == nullptr);
    CHECK(window.held_bytes() == 1);
    CHECK(window.unsent_bytes() == 0);
    CHECK(window.appended() == 2); // the one that was taken back never counted
    CHECK(window.settled() == 1);
}

TEST_CASE("a receiver of kept frames acknowledges after so many, so many bytes, or when asked") {
    ReceiveWindow window(true);
    window.start(3);
    CHECK(window.stream() == 3);
    CHECK(window.delivered(10, false) == ReceiveWindow::Ack::later);
    CHECK(window.delivered(10, false) == ReceiveWindow::Ack::none);
    CHECK(window.delivered(10, true) == ReceiveWindow::Ack::now);
    CHECK(window.take_ack() == 3);
    CHECK_FALSE(window.owes_ack());
    CHECK(window.delivered(ReceiveWindow::kAckBytes, false) == ReceiveWindow::Ack::now);
    CHECK(window.take_ack() == 4);
    for (std::uint64_t i = 1; i < ReceiveWindow::kAckFrames; ++i) {
        const auto due = window.delivered(1, false);
        const bool looks = window.count() % ReceiveWindow::kLookFrames == 0;
        CHECK(due == (i == 1  ? ReceiveWindow::Ack::later
                      : looks ? ReceiveWindow::Ack::look
                              : ReceiveWindow::Ack::none));
    }
    CHECK(window.delivered(1, false) == ReceiveWindow::Ack::now);
}

TEST_CASE("a receiver of frames that nobody keeps acknowledges once in a while") {
    ReceiveWindow window(false);
    CHECK(window.delivered(10, true) == ReceiveWindow::Ack::later);
    for (int i = 0; i < 10'000; ++i) REQUIRE(window.delivered(1 << 20, true) == ReceiveWindow::Ack::none);
    CHECK(window.take_ack() == 10'001);
    CHECK(window.delivered(1, false) == ReceiveWindow::Ack::later);
}

TEST_CASE("what was said of a stream stays said, and the oldest are forgotten as such") {
    PastStreams past;
    CHECK_FALSE(past.find(1));
    past.remember(1, 10);
    past.remember(1, 20);
    CHECK(past.find(1) == 10);
    CHECK_FALSE(past.forgotten(1));
    for (std::uint32_t stream = 2; stream <= PastStreams::kMost + 1; ++stream) past.remember(stream, stream);
    CHECK_FALSE(past.find(1));
    CHECK(past.forgotten(1));
    CHECK_FALSE(past.forgotten(2));
    CHECK(past.find(2) == 2);
}

} // namespace windows_test
