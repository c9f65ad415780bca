// SPDX-License-Identifier: BSD-3-Clause
// Limits of this process that a test lowers, and what it has of the limited.
#pragma once

#include <cstdio>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace plexus::testing {

/// Lowers a limit of this process for its lifetime.
class Limit {
  public:
    Limit(decltype(RLIMIT_NOFILE) what, rlim_t value)
      : what_(what) {
        ::getrlimit(what_, &before_);
        const rlimit lower{value, before_.rlim_max};
        ::setrlimit(what_, &lower);
    }
    ~Limit() { ::setrlimit(what_, &before_); }
    Limit(const Limit&) = delete;
    Limit& operator=(const Limit&) = delete;

  private:
    decltype(RLIMIT_NOFILE) what_;
    rlimit before_{};
};

/// The descriptor that this process would get next: with RLIMIT_NOFILE at that it gets none.
inline rlim_t next_descriptor() {
    const int next = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::close(next);
    return static_cast<rlim_t>(next);
}

/// Bytes of addresses that a process has in use, for RLIMIT_AS: of this one, or of `pid`.
inline rlim_t address_space(pid_t pid = ::getpid()) {
    char name[64];
    std::snprintf(name, sizeof name, "/proc/%d/statm", static_cast<int>(pid));
    long pages = 0;
    std::FILE* const file = std::fopen(name, "r");
    if (file == nullptr || std::fscanf(file, "%ld", &pages) != 1) pages = 0;
    if (file != nullptr) std::fclose(file);
    return static_cast<rlim_t>(pages) * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
}

} // namespace plexus::testing
