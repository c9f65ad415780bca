// SPDX-License-Identifier: BSD-3-Clause
// What the machine allows: the same exchange by plain sockets, directly and through a process that does
// nothing but read and write.
#pragma once

#include "base/unique_fd.h"
#include "support/process.h"

#include <arpa/inet.h>
#include <array>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <span>
#include <stdexcept>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace plexus::testing {

/// Throws if the other end is gone.
inline void write_all(int fd, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t done = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (done <= 0) throw std::runtime_error("a plain socket does not take what is sent");
        bytes = bytes.subspan(static_cast<std::size_t>(done));
    }
}
inline void read_all(int fd, std::span<std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t done = ::recv(fd, bytes.data(), bytes.size(), 0);
        if (done <= 0) throw std::runtime_error("a plain socket has ended");
        bytes = bytes.subspan(static_cast<std::size_t>(done));
    }
}

inline UniqueFd connect_plainly(std::uint16_t port) {
    UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int one = 1;
    ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
        throw std::runtime_error("a plain socket does not connect");
    return fd;
}

/// A process with a listening socket, which gives each connection to `serve`, one after the other.
class PlainServer {
  public:
    explicit PlainServer(void (*serve)(int fd, std::uint16_t next), std::uint16_t next = 0)
      : process_([=](Channel& channel) {
          const UniqueFd door(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
          sockaddr_in at{};
          at.sin_family = AF_INET;
          at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
          socklen_t size = sizeof at;
          if (::bind(door.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 ||
              ::listen(door.get(), 4) != 0 ||
              ::getsockname(door.get(), reinterpret_cast<sockaddr*>(&at), &size) != 0)
              return 1;
          const std::uint16_t port = ntohs(at.sin_port);
          channel.put(std::as_bytes(std::span(&port, 1)));
          for (;;) {
              const UniqueFd taken(::accept4(door.get(), nullptr, nullptr, SOCK_CLOEXEC));
              const int one = 1;
              ::setsockopt(taken.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
              try {
                  serve(taken.get(), next);
              } catch (const std::runtime_error&) {} // the client has gone
          }
      }) {
        const auto said = process_.channel().take(std::chrono::seconds(20));
        if (!said || said->size() != sizeof port_) throw std::runtime_error("a plain server does not listen");
        std::memcpy(&port_, said->data(), sizeof port_);
    }
    std::uint16_t port() const noexcept { return port_; }

  private:
    Process process_;
    std::uint16_t port_ = 0;
};

/// Takes a number and as many bytes, and answers with the number.
inline void answer_plainly(int fd, std::uint16_t) {
    std::vector<std::byte> room(128 * 1024);
    for (;;) {
        std::uint64_t wanted = 0;
        read_all(fd, std::as_writable_bytes(std::span(&wanted, 1)));
        for (std::uint64_t left = wanted; left > 0;) {
            const auto part = std::span(room).first(std::min<std::uint64_t>(left, room.size()));
            read_all(fd, part);
            left -= part.size();
        }
        write_all(fd, std::as_bytes(std::span(&wanted, 1)));
    }
}

inline void copy_plainly(int from, int to) {
    std::vector<std::byte> room(128 * 1024);
    for (;;) {
        const ssize_t size = ::recv(from, room.data(), room.size(), 0);
        if (size <= 0) break;
        write_all(to, std::span(room).first(static_cast<std::size_t>(size)));
    }
    ::shutdown(to, SHUT_WR);
}
inline void relay_plainly(int fd, std::uint16_t next) {
    const UniqueFd onward = connect_plainly(next);
    std::thread back([&] {
        try {
            copy_plainly(onward.get(), fd);
        } catch (const std::runtime_error&) {} // whoever asked has gone
    });
    copy_plainly(fd, onward.get());
    back.join();
}

/// Sends so many bytes and waits for the answer.
inline void exchange_plainly(int fd, std::uint64_t bytes) {
    static const std::vector<std::byte> load(std::size_t{1} << 20);
    write_all(fd, std::as_bytes(std::span(&bytes, 1)));
    for (std::uint64_t left = bytes; left > 0;) {
        const auto part = std::span(load).first(std::min<std::uint64_t>(left, load.size()));
        write_all(fd, part);
        left -= part.size();
    }
    std::uint64_t answer = 0;
    read_all(fd, std::as_writable_bytes(std::span(&answer, 1)));
    if (answer != bytes) throw std::runtime_error("a plain answer is wrong");
}

} // namespace plexus::testing
