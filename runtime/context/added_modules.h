// SPDX-License-Identifier: BSD-3-Clause
// Modules that come while a context runs, and all that were refused, at its start or later.
#pragma once

#include "base/mutex.h"
#include "config/settings.h"
#include "loader/modules.h"
#include "plexus/context.h"

#include <atomic>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <string>
#include <vector>

namespace plexus::bootstrap {
struct Job;
}
namespace plexus::transport {
class Endpoint;
class Transport;
} // namespace plexus::transport

namespace plexus::detail {

class AddedModules {
  public:
    AddedModules(loader::Modules& modules, const bootstrap::Job& job) noexcept
      : modules_(modules)
      , job_(job) {}
    AddedModules(const AddedModules&) = delete;
    AddedModules& operator=(const AddedModules&) = delete;

    /// Before add(). `sources`: of the settings, with what no module has read yet. @thread setup
    void begin(config::Raw sources, transport::Transport& transport);
    /// As Context::add_module(). @error as there (thrown)  @thread any
    void add(const std::filesystem::path& file, const Parameters& parameters) PLEXUS_EXCLUDES(mutex_);
    void add(const plexus_passport& passport, const Parameters& parameters) PLEXUS_EXCLUDES(mutex_);
    /// Waits for a module that is being added; none is afterwards. @thread setup
    void stop() noexcept;

    // @thread any
    /// Once for each module: a program may try again and again.
    void note_refused(const std::string& what, const std::string& why) PLEXUS_EXCLUDES(mutex_);
    std::vector<RefusedModule> refused() const PLEXUS_EXCLUDES(mutex_);
    /// Every key with its value, those of modules that came later, too. `first`: those of the start.
    config::Settings settings(const config::Settings& first) const PLEXUS_EXCLUDES(mutex_);

  private:
    /// One thread adds a module at a time, or closes.
    enum class Adding : std::uint8_t { none, one, never_again };

    template <class Load>
    void add(const std::string& origin, const Result<loader::Module>& found, const Parameters& parameters,
             Load load) PLEXUS_EXCLUDES(mutex_);
    Result<void> open(const loader::Module& module, const Parameters& parameters) PLEXUS_EXCLUDES(mutex_);
    transport::Endpoint& endpoint() const noexcept;
    void refuse_in_turn() const;

    loader::Modules& modules_;
    const bootstrap::Job& job_;
    transport::Transport* transport_ = nullptr;
    config::Raw sources_;
    std::atomic<Adding> adding_{Adding::none}; // [adding]
    mutable RankedMutex<13> mutex_;
    std::deque<config::Settings> settings_ PLEXUS_GUARDED_BY(mutex_); ///< each as of one more module
    std::vector<RefusedModule> refused_ PLEXUS_GUARDED_BY(mutex_);
};

} // namespace plexus::detail
