// SPDX-License-Identifier: BSD-3-Clause
// Somebody on the way between two contexts, who holds no key: takes connections at a port of its own and
// hands the bytes on to another. At a word of the test it alters what the caller's side sends next, or sends
// it again, or is slow.
#pragma once

#include "base/unique_fd.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <thread>
#include <vector>

namespace plexus::testing {

class Proxy {
  public:
    enum class Deed : std::uint8_t { none, alter, repeat };

    /// Hands on to this port of 127.0.0.1. Throws std::runtime_error.
    explicit Proxy(std::uint16_t to);
    ~Proxy();
    Proxy(const Proxy&) = delete;
    Proxy& operator=(const Proxy&) = delete;

    std::uint16_t port() const noexcept { return port_; }
    /// Once, with what is read next from a caller. @thread any
    void disturb(Deed deed) noexcept { deed_ = deed; }
    /// Hands on so many bytes a second from now on, both ways together. @thread any
    void slow_down(std::size_t bytes_per_second) noexcept { rate_ = bytes_per_second; }
    /// What was asked for has been done. @thread any
    bool is_done() const noexcept { return deed_ == Deed::none; }
    /// Connections taken so far. @thread any
    std::size_t taken() const noexcept { return taken_; }

  private:
    struct Way {
        UniqueFd caller;
        UniqueFd called;
    };

    void run();
    bool hand_on(const UniqueFd& from, const UniqueFd& to, bool of_caller);
    void accept();

    const std::uint16_t to_;
    std::uint16_t port_ = 0;
    UniqueFd listener_;
    std::list<Way> ways_; // the thread's
    std::atomic<Deed> deed_{Deed::none};
    std::atomic<std::size_t> rate_{0}; // 0: as fast as it can
    std::atomic<std::size_t> taken_{0};
    std::atomic<bool> ends_{false};
    std::thread thread_;
};

/// A port of 127.0.0.1 that nobody uses now.
std::uint16_t free_port();

/// A saved pointer to a context that listens at 127.0.0.1:`from` alone, as if it listened at `to`. Throws
/// std::runtime_error if it names another port.
std::vector<std::byte> redirected(std::vector<std::byte> saved, std::uint16_t from, std::uint16_t to);

} // namespace plexus::testing
