// SPDX-License-Identifier: BSD-3-Clause
// Views of a registry for contexts of this process, and the registry that contexts without a job and a URL
// share.
#include "base/fork.h"
#include "base/mutex.h"
#include "bootstrap/io_thread.h"
#include "bootstrap/registry.h"

#include <unistd.h>

namespace plexus::bootstrap {
namespace {

class LocalDirectory final : public Directory {
  public:
    LocalDirectory(std::shared_ptr<Registry> registry, std::string url, std::shared_ptr<void> keep)
      : keep_(std::move(keep))
      , registry_(std::move(registry))
      , url_(std::move(url))
      , me_(registry_->enter()) {}
    ~LocalDirectory() override { registry_->leave(me_); }

    Result<void> publish(std::string_view name, std::span<const std::byte> value) override {
        return registry_->publish(me_, name, value);
    }
    void unpublish(std::string_view name) override { registry_->unpublish(me_, name); }
    void lookup(std::string_view name, Clock::time_point deadline, Found found) override {
        registry_->lookup(me_, name, deadline,
                          [found = std::move(found)](const Result<Registry::Payload>& said) {
                              if (!said) return found(said.failure());
                              found(**said);
                          });
    }
    void fence(Clock::time_point deadline, Done done) override {
        registry_->fence(me_, deadline, std::move(done));
    }
    std::string url() const override { return url_; }

  private:
    const std::shared_ptr<void> keep_; // first in, last out
    const std::shared_ptr<Registry> registry_;
    const std::string url_;
    const Registry::User me_;
};

/// The registry of this process, with the thread for its deadlines.
struct ProcessRegistry {
    IoThread thread;
    // A job of one member: a fence never waits.
    const std::shared_ptr<Registry> registry = std::make_shared<Registry>(thread.io(), 1);
    const pid_t process = ::getpid();

    ~ProcessRegistry() { registry->close(); }
    bool on_own_thread() const { return thread.is_current(); }
};

struct Shared {
    RankedMutex<20> mutex;
    std::weak_ptr<ProcessRegistry> registry PLEXUS_GUARDED_BY(mutex);
};

Shared& shared() {
    // Never destroyed: contexts may end after static objects do.
    static Shared& the = *new Shared;
    return the;
}
const HeldAcrossFork kSharedAcrossFork{shared().mutex};

} // namespace

std::shared_ptr<Directory> view_of(std::shared_ptr<Registry> registry, std::string url,
                                   std::shared_ptr<void> keep) {
    return std::make_shared<LocalDirectory>(std::move(registry), std::move(url), std::move(keep));
}

std::shared_ptr<Directory> process_directory() {
    Shared& found = shared();
    std::shared_ptr<ProcessRegistry> mine;
    {
        Lock hold(found.mutex);
        mine = found.registry.lock();
        // After a fork the child has the registry but not its thread: the child makes its own.
        if (!mine || mine->process != ::getpid()) {
            mine.reset(new ProcessRegistry, delete_elsewhere<ProcessRegistry>);
            found.registry = mine;
        }
    }
    return view_of(mine->registry, {}, mine);
}

} // namespace plexus::bootstrap
