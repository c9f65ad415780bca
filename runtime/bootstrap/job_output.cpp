// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/job_output.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace plexus::bootstrap {

void LineCutter::emit(std::string_view rest_of_line, std::string& out) {
    out += prefix_;
    out += begun_;
    out += rest_of_line;
    out += '\n';
    begun_.clear();
}

void LineCutter::feed(std::string_view bytes, std::string& out) {
    for (std::size_t end = 0; (end = bytes.find('\n')) != std::string_view::npos;) {
        emit(bytes.substr(0, end), out);
        bytes.remove_prefix(end + 1);
    }
    while (begun_.size() + bytes.size() >= kLongestLine) {
        const std::size_t fits = kLongestLine - begun_.size();
        emit(bytes.substr(0, fits), out);
        bytes.remove_prefix(fits);
    }
    begun_ += bytes;
}

void LineCutter::finish(std::string& out) {
    if (!begun_.empty()) emit({}, out);
}

Outlet::Outlet(int fd)
  : fd_(fd) {
    struct stat about {};
    if (::fstat(fd, &about) != 0) {
        broken_ = true;
        return;
    }
    is_file_ = S_ISREG(about.st_mode);
    is_socket_ = S_ISSOCK(about.st_mode);
}

void Outlet::write_some() {
    // A pipe that poll() calls writable has room for PIPE_BUF bytes: more might wait.
    constexpr std::size_t kFilePiece = std::size_t{64} * 1024;
    const std::size_t size = std::min<std::size_t>(queue_.size() - sent_, is_file_ ? kFilePiece : PIPE_BUF);
    const char* data = queue_.data() + sent_;
    const ssize_t wrote =
        is_socket_ ? ::send(fd_, data, size, MSG_DONTWAIT | MSG_NOSIGNAL) : ::write(fd_, data, size);
    if (wrote > 0) {
        sent_ += static_cast<std::size_t>(wrote);
    } else if (wrote < 0 && errno != EAGAIN && errno != EINTR) {
        broken_ = true;
        sent_ = queue_.size();
    }
    if (sent_ == queue_.size() || sent_ > kEnough) {
        queue_.erase(0, sent_);
        sent_ = 0;
    }
}

} // namespace plexus::bootstrap
