// SPDX-License-Identifier: BSD-3-Clause
// The inside of a context: one of each room's things, wired together. No logic of its own.
#pragma once

#include "bootstrap/directory.h"
#include "bulk/bulk.h"
#include "comm/exchange.h"
#include "config/settings.h"
#include "loader/modules.h"
#include "plexus/context.h"
#include "poll/scheduler.h"
#include "request/dispatcher.h"

#include <memory>
#include <string>
#include <vector>

namespace plexus::detail {

class Core : public std::enable_shared_from_this<Core> {
  public:
    /// Starts everything. @error as Context's constructor (thrown)
    static std::shared_ptr<Core> start(const std::vector<std::string>& arguments, const Options& options);
    ~Core();

    /// The three verbs, in order; once. @thread setup
    void close();

    const ContextId& id() const noexcept { return id_; }
    const bootstrap::Job& job() const noexcept { return job_; }
    const std::vector<std::string>& arguments() const noexcept { return arguments_; }
    const config::Settings& settings() const noexcept { return settings_; }
    const loader::Modules& modules() const noexcept { return modules_; }
    const std::vector<RefusedModule>& refused() const noexcept { return refused_; }
    poll::Scheduler& scheduler() noexcept { return *scheduler_; }
    comm::Exchange& exchange() noexcept { return *exchange_; }
    request::Dispatcher& dispatcher() noexcept { return *dispatcher_; }
    bulk::Bulk& bulk() noexcept { return *bulk_; }
    bootstrap::Directory& directory() noexcept { return *directory_; }
    std::string url() const;

    /// The lane of a method. @error bad_argument there is none (thrown)
    std::size_t lane(std::string_view method) const;
    /// The route of this context's own pointers. @error closed (thrown)
    std::shared_ptr<Route> own_way();

    std::atomic<std::uint64_t> stops{0}; ///< how often stop() was called

  private:
    struct Passkey {};

  public:
    explicit Core(Passkey) {}

  private:
    void configure(const std::vector<std::string>& arguments, const Options& options);
    void find_modules(const config::Raw& raw);
    std::vector<method::ListItem> wanted_methods(const config::Raw& raw) const;
    bootstrap::Key job_key() const;
    void open_methods(const std::vector<method::ListItem>& wanted, bool chosen_by_user);
    void meet(const Options& options, const bootstrap::Key& key);

    ContextId id_;
    bootstrap::Job job_;
    std::vector<std::string> arguments_;
    loader::Modules modules_;
    config::Settings settings_;
    std::vector<RefusedModule> refused_;
    std::vector<std::string> searched_;
    std::unique_ptr<poll::Scheduler> scheduler_;
    std::unique_ptr<request::Dispatcher> dispatcher_;
    std::unique_ptr<bulk::Bulk> bulk_;
    std::unique_ptr<comm::Exchange> exchange_;
    std::unique_ptr<bootstrap::DirectoryServer> server_;
    std::shared_ptr<bootstrap::Directory> directory_;
    bool closed_ = false;
};

} // namespace plexus::detail
