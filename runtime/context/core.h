// SPDX-License-Identifier: BSD-3-Clause
// The inside of a context: one of each room's things, wired together. No logic of its own.
#pragma once

#include "base/fork.h"
#include "base/log_names.h"
#include "bootstrap/directory.h"
#include "config/settings.h"
#include "context/added_modules.h"
#include "context/closing_actions.h"
#include "context/shown_groups.h"
#include "counters/publisher.h"
#include "forward/hub.h"
#include "loader/modules.h"
#include "memory/transfers.h"
#include "plexus/context.h"
#include "poll/scheduler.h"
#include "request/dispatcher.h"
#include "transport/transport.h"

#include <atomic>
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
    const AddedModules& added() const noexcept { return added_; }
    AddedModules& added() { return refuse_forked(), added_; }
    poll::Scheduler& scheduler() noexcept { return *stack_.scheduler; }
    poll::Scheduler& live_scheduler() { return refuse_forked(), *stack_.scheduler; } ///< as endpoint()
    // @error closed in a forked child (thrown)
    transport::Endpoint& endpoint() { return refuse_forked(), stack_.transport->endpoint(); }
    request::Dispatcher& dispatcher() { return refuse_forked(), *stack_.dispatcher; }
    memory::Transfers& transfers() { return refuse_forked(), *stack_.transfers; }
    forward::Hub& hub() { return refuse_forked(), *stack_.hub; }
    bootstrap::Directory& directory() { return refuse_forked(), *meeting_.directory; }
    ClosingActions& closing_actions() { return refuse_forked(), closing_actions_; }
    ShownGroups& shown_groups() { return refuse_forked(), shown_groups_; }
    std::string url() const;

    /// The lane of a method. @error bad_argument there is none (thrown)
    std::size_t lane(std::string_view method) const;
    /// @error bad_config nobody could find this context, or the rules allow what they have no memory for
    /// (thrown)
    void forward(ForwardRules rules);
    /// The route of this context's own pointers. @error closed (thrown)
    std::shared_ptr<Route> own_way();

    std::atomic<std::uint64_t> stops{0}; ///< how often stop() was called

  private:
    struct Passkey {};

  public:
    explicit Core(Passkey) {}

  private:
    void configure(const std::vector<std::string>& arguments, const Options& options);
    void open_methods(const std::vector<method::ListItem>& wanted, bool chosen_by_user);
    void meet(const Options& options, const bootstrap::Key& key,
              std::chrono::steady_clock::time_point deadline);
    void show(bool to_the_job);
    void abandon() noexcept;
    void refuse_forked() const;

    /// One of each room, in the order in which they stand upon one another.
    struct Stack {
        std::unique_ptr<poll::Scheduler> scheduler;
        std::unique_ptr<request::Dispatcher> dispatcher;
        std::unique_ptr<memory::Transfers> transfers;
        std::unique_ptr<transport::Transport> transport;
        std::unique_ptr<forward::Hub> hub;
    };
    /// Where contexts of a job find each other.
    struct Meeting {
        std::unique_ptr<bootstrap::DirectoryServer> server; ///< null: another process serves
        std::shared_ptr<bootstrap::Directory> directory;
    };

    const BirthProcess birth_;

    ContextId id_;
    bootstrap::Job job_;
    std::vector<std::string> arguments_;
    loader::Modules modules_;
    config::Settings settings_;
    std::optional<log::Name> log_name_;
    AddedModules added_{modules_, job_};
    Stack stack_;
    Meeting meeting_;
    std::shared_ptr<counters::Publisher> counters_; ///< also of handlers that read it
    ClosingActions closing_actions_;
    ShownGroups shown_groups_;
    bool closed_ = false;
};

} // namespace plexus::detail
