// SPDX-License-Identifier: BSD-3-Clause
// Members of one arena, each on a thread of this process. Threads report, the test asserts.
#pragma once

#include "host/collective.h"
#include "host/shared_arena.h"
#include "support/catch.h"
#include "support/eventually.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace plexus::testing {

using eco::Rank;
using eco::host::SharedArena;
using eco::host::SharedMemory;

/// Nothing here takes so long, unless it hangs.
inline constexpr std::chrono::seconds kLimit{40};

/// Waits until the limit has passed, or until the test gives up.
class Patient final : public eco::host::WaitPolicy {
  public:
    explicit Patient(const std::atomic<bool>& given_up)
      : given_up_(given_up) {}
    bool idle(Rank, std::uint32_t) override {
        std::this_thread::yield();
        return !given_up_.load(std::memory_order_relaxed) && std::chrono::steady_clock::now() < end_;
    }

  private:
    const std::atomic<bool>& given_up_; // a hint to stop: nothing else depends on it
    const std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + kLimit * kPatience;
};

class Members {
  public:
    explicit Members(Rank count, bool crowded = false) {
        eco::host::Offer offer;
        const auto memory = SharedMemory::create(eco::host::arena_bytes(count), offer);
        for (Rank rank = 0; rank < count; ++rank)
            arenas_.push_back(std::make_unique<SharedArena>(memory, rank, count, crowded));
        header = memory->at<eco::host::ArenaHeader>(0);
    }

    Rank size() const { return static_cast<Rank>(arenas_.size()); }
    SharedArena& arena(Rank rank) { return *arenas_[rank]; }
    /// All members may read each other's memory.
    void allow_fetching() {
        for (const auto& each : arenas_) each->announce_process();
        for (const auto& each : arenas_) {
            REQUIRE(each->can_fetch_from_all());
            each->allow_fetching();
        }
    }

    /// Runs `body(arena)` on a thread for each member, inside one call. What they complained about, by rank.
    template <class Body>
    std::vector<std::string> run(Body body) {
        std::vector<std::string> said(size());
        std::vector<std::thread> threads;
        std::atomic<bool> given_up{false};
        for (Rank rank = 0; rank < size(); ++rank)
            threads.emplace_back([&, rank] {
                Patient policy(given_up);
                arena(rank).begin(1, policy);
                try {
                    said[rank] = body(arena(rank));
                } catch (const eco::host::Aborted&) {
                    said[rank] = "gave up";
                } catch (const eco::host::CallMismatch& found) {
                    said[rank] = "member " + std::to_string(found.member) + " calls something else";
                } catch (const eco::host::LengthMismatch& found) {
                    said[rank] = "member " + std::to_string(found.member) + " sent " +
                                 std::to_string(found.sent) + " of " + std::to_string(found.expected);
                } catch (const eco::host::Unreadable& found) {
                    said[rank] = "member " + std::to_string(found.member) + " can't be read";
                }
                if (!said[rank].empty()) given_up.store(true, std::memory_order_relaxed);
            });
        for (std::thread& each : threads) each.join();
        return said;
    }
    /// All complaints, a line each, or nothing.
    template <class Body>
    std::string complaints(Body body) {
        std::string all;
        const auto said = run(body);
        for (Rank rank = 0; rank < size(); ++rank)
            if (!said[rank].empty()) all += "member " + std::to_string(rank) + ": " + said[rank] + "\n";
        return all;
    }

    eco::host::ArenaHeader* header = nullptr;

  private:
    std::vector<std::unique_ptr<SharedArena>> arenas_;
};

/// The arguments of a call on spans of one type.
template <class T>
eco::detail::CollectiveArgs args_of(eco::Operation operation, Rank root, const std::vector<T>& send,
                                    std::vector<T>& receive, eco::detail::Combine combine = {}) {
    eco::detail::CollectiveArgs args;
    args.operation = operation;
    args.root = root;
    args.element_bytes = sizeof(T);
    args.send = reinterpret_cast<const std::byte*>(send.data());
    args.receive = reinterpret_cast<std::byte*>(receive.data());
    args.send_elements = send.size();
    args.receive_elements = receive.size();
    args.combine = std::move(combine);
    return args;
}

} // namespace plexus::testing
