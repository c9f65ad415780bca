// SPDX-License-Identifier: BSD-3-Clause
// A model of two contexts whose links are cut, half open, slow and replaced: the send windows of two
// channels on one side, the receive windows of all links on the other. Whatever a history does,
// the receiver gets the numbers 0, 1, 2, … once each.
#pragma once

#include "transport/receive_window.h"
#include "transport/send_window.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace plexus::testing {

class WindowModel {
  public:
    /// Choices of a history: one byte each; what a history lacks counts as 0.
    explicit WindowModel(const std::vector<std::uint8_t>& choices, bool retains)
      : choices_(choices)
      , retains_(retains)
      , windows_{transport::SendWindow(retains), transport::SendWindow(retains)} {}

    /// Plays the history, then lets everything arrive. Empty: all promises were kept.
    std::string run() {
        while (at_ < choices_.size() && wrong_.empty()) step();
        settle();
        return wrong_;
    }

  private:
    /// A message on a link, either way.
    struct Message {
        enum class Kind : std::uint8_t { frame, hello, replay_request, ack, replay_answer } kind;
        std::uint32_t stream = 0;
        std::uint64_t count = 0; ///< frame: its number
    };
    struct Link {
        explicit Link(bool retained)
          : received(retained) {}
        std::deque<Message> out;  ///< to the receiver
        std::deque<Message> back; ///< to the sender
        bool sender_knows = true; ///< the sender has not noticed that it is cut
        bool cut = false;         ///< nothing is added any more; what is under way may arrive
        bool ignored = false;     ///< by the receiver
        transport::ReceiveWindow received;
        std::uint32_t stream = 0; ///< the sender's
    };

    std::uint8_t choose() { return at_ < choices_.size() ? choices_[at_++] : 0; }
    void fail(std::string what) {
        if (wrong_.empty()) wrong_ = std::move(what);
    }

    void step() {
        switch (choose() % 12) {
        case 0:
        case 1:
        case 2:
            append();
            break;
        case 3:
        case 4:
            pump();
            break;
        case 5:
        case 6:
        case 7:
            arrive_by_choice(choose());
            break;
        case 8:
            return_by_choice(choose());
            break;
        case 9:
            cut();
            break;
        case 10:
            notice();
            break;
        default:
            if (choose() % 4 == 0) move();
        }
    }

    void append() {
        auto frame = std::make_unique<transport::PendingFrame>(nullptr);
        frame->size = sizeof next_number_;
        std::memcpy(frame->room, &next_number_, sizeof next_number_);
        ++next_number_;
        window().append(std::move(frame));
    }

    transport::SendWindow& window() { return windows_[active_]; }

    void connect() {
        Link& link = *links_.emplace_back(std::make_unique<Link>(retains_));
        link.stream = ++streams_;
        way_ = &link;
        window().start_stream(link.stream);
        link.out.push_back({Message::Kind::hello, link.stream, 0});
        for (const transport::ReplayRequest& request : window().replay_requests())
            if (!request.answered) link.out.push_back({Message::Kind::replay_request, request.stream, 0});
    }

    // The sender sends what it may.
    void pump() {
        if (way_ == nullptr) connect();
        while (transport::PendingFrame* frame = window().next()) {
            std::uint64_t number = 0;
            std::memcpy(&number, frame->room, sizeof number);
            if (!way_->cut) way_->out.push_back({Message::Kind::frame, way_->stream, number});
            const auto released = window().mark_sent();
            if ((released == nullptr) != retains_) fail("a frame was kept or given back wrongly");
        }
    }

    void arrive_by_choice(std::uint8_t choice) {
        if (!links_.empty()) arrive(*links_[choice % links_.size()], choice);
    }

    // One message reaches the receiver; the choice says whether it is acknowledged at once.
    void arrive(Link& link, std::uint8_t choice) {
        if (link.out.empty()) return;
        const Message message = link.out.front();
        link.out.pop_front();
        switch (message.kind) {
        case Message::Kind::hello:
            link.received.start(message.stream);
            if (past_.find(message.stream)) link.ignored = true;
            break;
        case Message::Kind::replay_request:
            answer(link, message.stream);
            break;
        default:
            if (link.ignored) return;
            if (message.count != delivered_ && retains_)
                fail("a frame came twice, was left out, or overtook another");
            delivered_ = std::max(delivered_, message.count + 1);
            if (link.received.delivered(8, choice % 3 == 0) == transport::ReceiveWindow::Ack::now ||
                choice % 5 == 0)
                send_back(link, {Message::Kind::ack, link.stream, link.received.take_ack()});
        }
    }

    void answer(Link& on, std::uint32_t stream) {
        std::uint64_t count = 0;
        for (const auto& other : links_)
            if (other->received.stream() == stream) {
                other->ignored = true;
                count = other->received.count();
            }
        if (const auto known = past_.find(stream)) count = *known;
        past_.remember(stream, count);
        send_back(on, {Message::Kind::replay_answer, stream, count});
    }

    void send_back(Link& link, Message message) {
        if (!link.cut) link.back.push_back(message);
    }

    void return_by_choice(std::uint8_t choice) {
        if (!links_.empty()) return_one(*links_[choice % links_.size()]);
    }

    // One message reaches the sender, unless the sender has given the link up.
    void return_one(Link& link) {
        if (link.back.empty()) return;
        const Message message = link.back.front();
        link.back.pop_front();
        if (&link != way_) return;
        transport::PendingFrames done;
        transport::PendingFrames lost;
        const std::uint64_t before = window().settled();
        if (message.kind == Message::Kind::ack) {
            window().acked(message.stream, message.count, done);
        } else {
            window().resumed(message.stream, message.count, done, lost);
        }
        if (window().settled() < before + done.size() + lost.size()) fail("settled frames were not counted");
        given_up_ += lost.size();
    }

    void cut() {
        if (way_ == nullptr || way_->cut) return;
        way_->cut = true;
        way_->back.clear();
        const std::size_t arrives = choose(); // so many messages under way still arrive
        while (way_->out.size() > arrives) way_->out.pop_back();
    }

    void notice() {
        if (way_ == nullptr || !way_->cut) return;
        way_ = nullptr;
        const std::uint64_t unknown = window().link_broke();
        if (unknown > 0 && retains_) fail("a window that keeps frames does not know their fate");
    }

    // Another method takes over.
    void move() {
        if (way_ != nullptr) way_->cut = true; // the channel lets go of the link
        way_ = nullptr;
        const std::uint64_t open = window().appended() - window().settled();
        transport::Backlog backlog = window().take_backlog();
        if (retains_ && backlog.frames() != open) fail("frames were lost in a move");
        if (window().held_bytes() != 0 || !window().empty()) fail("a window that was emptied holds frames");
        active_ = 1 - active_;
        window().adopt(std::move(backlog));
    }

    // The network is whole again: everything must arrive.
    void settle() {
        if (way_ != nullptr && way_->cut) notice();
        for (int round = 0; round < 64 && wrong_.empty(); ++round) {
            pump();
            bool quiet = true;
            for (std::size_t i = 0; i < links_.size(); ++i) {
                while (!links_[i]->out.empty()) {
                    quiet = false;
                    arrive(*links_[i], static_cast<std::uint8_t>(i));
                }
            }
            if (way_->received.owes_ack())
                send_back(*way_, {Message::Kind::ack, way_->stream, way_->received.take_ack()});
            while (!way_->back.empty()) {
                quiet = false;
                return_one(*way_);
            }
            if (quiet) break;
        }
        if (!wrong_.empty() || given_up_ > 0) return;
        if (retains_ && delivered_ != next_number_) fail("not every frame arrived");
        if (window().settled() != window().appended())
            fail("a window is not settled although all has arrived");
        if (!window().empty() || window().held_bytes() != 0)
            fail("a window holds frames that were delivered");
        if (!window().clear()) fail("a window is not clear although it is empty");
    }

    const std::vector<std::uint8_t>& choices_;
    const bool retains_;
    std::size_t at_ = 0;
    std::array<transport::SendWindow, 2> windows_;
    std::size_t active_ = 0;
    std::vector<std::unique_ptr<Link>> links_;
    Link* way_ = nullptr;
    transport::PastStreams past_;
    std::uint32_t streams_ = 0;
    std::uint64_t next_number_ = 0;
    std::uint64_t delivered_ = 0;
    std::uint64_t given_up_ = 0;
    std::string wrong_;
};

} // namespace plexus::testing
