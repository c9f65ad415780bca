// SPDX-License-Identifier: BSD-3-Clause
// The output of a job: cuts the bytes of each process into lines with its rank in front, and writes the lines
// of all processes to one descriptor without waiting for its reader. Knows nothing of processes. One thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace plexus::bootstrap {

/// Cuts one stream into lines. A line longer than kLongestLine is cut into several, so
/// that memory stays bounded.
class LineCutter {
  public:
    static constexpr std::size_t kLongestLine = std::size_t{256} * 1024;

    explicit LineCutter(std::string prefix)
      : prefix_(std::move(prefix)) {}

    /// Appends the lines that `bytes` complete to `out`.
    void feed(std::string_view bytes, std::string& out);
    /// Appends what is left of an unfinished line, and ends it.
    void finish(std::string& out);

  private:
    void emit(std::string_view rest_of_line, std::string& out);
    std::string prefix_;
    std::string begun_;
};

/// Bytes that wait to be written to a descriptor of the user. Never changes the descriptor's flags, because
/// other processes share it.
class Outlet {
  public:
    /// Above this the caller should stop reading from the job.
    static constexpr std::size_t kEnough = std::size_t{256} * 1024;

    explicit Outlet(int fd);

    std::string& queue() noexcept { return queue_; }
    bool wants_to_write() const noexcept { return !broken_ && sent_ < queue_.size(); }
    bool is_full() const noexcept { return queue_.size() - sent_ > kEnough; }
    /// The descriptor's reader has gone: queued and later bytes are lost.
    bool is_broken() const noexcept { return broken_; }
    int fd() const noexcept { return fd_; }

    /// To be called when poll() reports room: writes as much as is certain not to block.
    void write_some();

  private:
    const int fd_;
    bool is_file_ = false;
    bool is_socket_ = false;
    bool broken_ = false;
    std::string queue_;
    std::size_t sent_ = 0;
};

} // namespace plexus::bootstrap
