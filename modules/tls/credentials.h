// SPDX-License-Identifier: BSD-3-Clause
// Who this context is, and whom it trusts, as the library wants it: made of the files that the options
// name, and again when a file has changed, or of the job's key. Links that are up keep what they have.
#pragma once

#include "base/lock.h"
#include "base/secret.h"
#include "tls/options.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

typedef struct ssl_ctx_st SSL_CTX;
typedef struct ssl_st SSL;

namespace plexus::tls {

struct FreeSession {
    void operator()(SSL* ssl) const noexcept;
};
using Session = std::unique_ptr<SSL, FreeSession>;

class Credentials {
  public:
    /// `host` and `options` outlive this.
    Credentials(const plexus_host& host, const Options& options);
    ~Credentials();
    Credentials(const Credentials&) = delete;
    Credentials& operator=(const Credentials&) = delete;

    /// Reads the files. @return empty, or what is wrong with which. @thread setup
    std::string load();

    /// A session that has not begun. If files have changed since, they are read first; if these can't be
    /// used the log says so, once, those from before count, and the files are read again each second. Null:
    /// no memory. @thread any
    Session make_session(bool is_client);

    /// The job's key as sessions use it: never the key itself.
    using JobSecret = Secret<32>;

  private:
    struct FreeContext {
        void operator()(SSL_CTX* context) const noexcept;
    };
    using LibraryContext = std::unique_ptr<SSL_CTX, FreeContext>;
    /// What tells a changed file; of each file in the order of files().
    struct Stamp {
        std::uint64_t inode = 0;
        std::uint64_t size = 0;
        std::int64_t changed_ns = 0;
        bool operator==(const Stamp&) const = default;
    };
    using Clock = std::chrono::steady_clock;

    std::vector<const std::string*> files() const;
    std::vector<Stamp> stamps() const;
    LibraryContext make_context(std::string& why) const;
    std::string use_files(SSL_CTX* context) const;
    void refresh() PLEXUS_REQUIRES(mutex_);

    const plexus_host& host_;
    const Options& options_;
    JobSecret secret_;

    Mutex mutex_;
    LibraryContext context_ PLEXUS_GUARDED_BY(mutex_);
    std::vector<Stamp> stamps_ PLEXUS_GUARDED_BY(mutex_);  // of the files that count
    std::vector<Stamp> refused_ PLEXUS_GUARDED_BY(mutex_); // of those that the log has refused
    Clock::time_point looked_at_ PLEXUS_GUARDED_BY(mutex_);
};

} // namespace plexus::tls
