// SPDX-License-Identifier: BSD-3-Clause
// The handlers that the program has installed: one for each name of a request. They stay until the context
// ends.
#pragma once

#include "base/mutex.h"
#include "plexus/handler.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace plexus::request {

/// @thread any
class HandlerTable {
  public:
    struct Found {
        detail::Handler* handler = nullptr;
        Status status = Status::ok; ///< why there is none: no_handler or bad_signature
        std::string_view types{};   ///< of the handler whose signature is another one
    };

    /// @error busy (thrown) there is a handler for that name.
    void install(const detail::RequestInfo& request, std::unique_ptr<detail::Handler> handler)
        PLEXUS_EXCLUDES(mutex_);
    Found find(std::string_view name, std::uint64_t signature) const PLEXUS_EXCLUDES(mutex_);
    /// The name that a handler was installed for; "?" if it is in no table. For messages.
    std::string name_of(const void* handler) const PLEXUS_EXCLUDES(mutex_);

  private:
    struct Installed {
        std::uint64_t signature;
        std::string_view types; ///< what the signature is the hash of
        std::unique_ptr<detail::Handler> handler;
    };
    mutable RankedMutex<21> mutex_;
    std::map<std::string, Installed, std::less<>> handlers_ PLEXUS_GUARDED_BY(mutex_);
};

} // namespace plexus::request
