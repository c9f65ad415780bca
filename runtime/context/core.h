// SPDX-License-Identifier: BSD-3-Clause
// The inside of a context: one of each room's things, wired together. No logic of its own.
#pragma once

#include "base/fork.h"
#include "base/log_names.h"
#include "base/mutex.h"
#include "bootstrap/directory.h"
#include "config/settings.h"
#include "context/closing_actions.h"
#include "counters/publisher.h"
#include "forward/hub.h"
#include "loader/modules.h"
#include "memory/transfers.h"
#include "plexus/context.h"
#include "poll/scheduler.h"
#include "request/dispatcher.h"
#include "transport/transport.h"

#include <atomic>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace plexus::detail {

class Core : public std::enable_shared_from_this<Core> {
  public:
    /// Starts everything. @error as Context's constructor (thrown)
    static std::shared_ptr<Core> start(const std::vector<std::string>& arguments, const Options& options);
    ~Core();

    /// The three verbs, in order; once. Takes little longer than progress.close_timeout, whatever threaded
    /// handlers do, and whatever closing actions and continuations wait for. In a forked child it does
    /// nothing. @thread setup
    void close();
    /// True in a process that was forked from the one that started this. @thread any
    bool forked() const noexcept { return birth_.left(); }

    const ContextId& id() const noexcept { return id_; }
    const bootstrap::Job& job() const noexcept { return job_; }
    const std::vector<std::string>& arguments() const noexcept { return arguments_; }
    const config::Settings& settings() const noexcept { return settings_; }
    const loader::Modules& modules() const noexcept { return modules_; }
    std::vector<RefusedModule> refused() const PLEXUS_EXCLUDES(later_mutex_);
    /// Every key with its value, those of modules that came later, too. @thread any
    config::Settings all_settings() const PLEXUS_EXCLUDES(later_mutex_);
    poll::Scheduler& scheduler() noexcept { return *scheduler_; }
    poll::Scheduler& live_scheduler() { return refuse_forked(), *scheduler_; } ///< as endpoint()
    // @error closed in a forked child (thrown)
    transport::Endpoint& endpoint() { return refuse_forked(), transport_->endpoint(); }
    request::Dispatcher& dispatcher() { return refuse_forked(), *dispatcher_; }
    memory::Transfers& transfers() { return refuse_forked(), *transfers_; }
    forward::Hub& hub() { return refuse_forked(), *hub_; }
    bootstrap::Directory& directory() { return refuse_forked(), *directory_; }
    ClosingActions& closing_actions() { return refuse_forked(), closing_actions_; }
    std::string url() const;

    /// The lane of a method. @error bad_argument there is none (thrown)
    std::size_t lane(std::string_view method) const;
    /// As Context::add_module(). @error as there (thrown)
    void add_module(const std::filesystem::path& file, const Parameters& parameters);
    void add_module(const plexus_passport& passport, const Parameters& parameters);
    /// @error bad_config nobody could find this context, or the rules allow what they have no memory for
    /// (thrown)
    void forward(ForwardRules rules);
    /// The route of this context's own pointers. @error closed (thrown)
    std::shared_ptr<Route> own_way();

    std::atomic<std::uint64_t> stops{0}; ///< how often stop() was called

  private:
    struct Passkey {};
    /// One thread adds a module at a time, or closes.
    enum class Adding : std::uint8_t { none, one, never_again };

  public:
    explicit Core(Passkey) {}

  private:
    void configure(const std::vector<std::string>& arguments, const Options& options);
    static void warn_of(const config::Raw& raw);
    void open_where_listening(config::Raw& raw) const;
    /// What these sources say to all modules that there are. @error bad_config
    Result<config::Settings> checked(config::Raw raw) const;
    template <class Load>
    void add(const std::string& origin, const Result<loader::Module>& found, const Parameters& parameters,
             Load load);
    Result<void> open_later(const loader::Module& module, const Parameters& parameters);
    /// The folders that it searched.
    std::vector<std::string> find_modules(const config::Raw& raw);
    std::vector<method::ListItem> wanted_methods(const config::Raw& raw,
                                                 const std::vector<std::string>& searched) const;
    bootstrap::Key job_key(std::chrono::steady_clock::time_point deadline) const;
    Place find_place() const;
    void open_methods(const std::vector<method::ListItem>& wanted, bool chosen_by_user);
    void meet(const Options& options, const bootstrap::Key& key,
              std::chrono::steady_clock::time_point deadline);
    void begin_forwarding();
    void show(bool to_the_job);
    void abandon() noexcept;
    void refuse_forked() const;
    void refuse_in_turn();
    void note_refused(const std::string& what, const std::string& why) PLEXUS_EXCLUDES(later_mutex_);

    const BirthProcess birth_;

    ContextId id_;
    bootstrap::Job job_;
    std::vector<std::string> arguments_;
    loader::Modules modules_;
    config::Settings settings_;
    std::optional<log::Name> log_name_;
    // Modules that come later.
    config::Raw sources_;                      ///< of the settings, with what no module has read yet
    std::atomic<Adding> adding_{Adding::none}; // [adding]
    std::deque<config::Settings>
        later_settings_ PLEXUS_GUARDED_BY(later_mutex_); ///< each as of one more module
    std::vector<RefusedModule> refused_ PLEXUS_GUARDED_BY(later_mutex_);
    mutable RankedMutex<13> later_mutex_;
    std::unique_ptr<poll::Scheduler> scheduler_;
    std::unique_ptr<request::Dispatcher> dispatcher_;
    std::unique_ptr<memory::Transfers> transfers_;
    std::unique_ptr<transport::Transport> transport_;
    std::unique_ptr<forward::Hub> hub_;
    std::unique_ptr<bootstrap::DirectoryServer> server_;
    std::shared_ptr<bootstrap::Directory> directory_;
    std::shared_ptr<counters::Publisher> counters_; ///< also of handlers that read it
    ClosingActions closing_actions_;
    bool closed_ = false;
};

} // namespace plexus::detail
