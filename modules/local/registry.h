// SPDX-License-Identifier: BSD-3-Clause
// Which contexts of this process can be reached by the local method. Each copy of this code has a
// registry: a module that is loaded twice has two, and descriptors tell them apart.
// Any thread.
#pragma once

#include "local/inbox.h"

#include <array>
#include <cstdint>
#include <map>
#include <memory>

namespace plexus::local {

/// The random name of one registry in one process; a forked child has another.
using ProcessToken = std::array<std::uint8_t, 16>;

class Registry {
  public:
    static Registry& of_process();

    /// @error false: a context of this id is there already
    bool add(const plexus_id& context, std::shared_ptr<Inbox> inbox);
    void remove(const plexus_id& context);
    /// Null: there is no such context, or it has closed.
    std::shared_ptr<Inbox> find(const plexus_id& context) const;

    ProcessToken token() const;

    /// Hold and free the lock for the time of a fork(2), so that the child finds it free.
    void before_fork() PLEXUS_NO_THREAD_SAFETY { mutex_.lock(); }
    void after_fork() PLEXUS_NO_THREAD_SAFETY { mutex_.unlock(); }

  private:
    Registry();

    using Key = std::array<std::uint8_t, sizeof(plexus_id::bytes)>;
    static Key key_of(const plexus_id& id);

    ProcessToken random_{};
    mutable Mutex mutex_;
    std::map<Key, std::shared_ptr<Inbox>> contexts_ PLEXUS_GUARDED_BY(mutex_);
};

} // namespace plexus::local
