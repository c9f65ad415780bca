// SPDX-License-Identifier: BSD-3-Clause
#include "context/core.h"

#include "base/crypto.h"
#include "base/log.h"
#include "bootstrap/manager/managed_job.h"
#include "context/shown_counters.h"
#include "context/startup.h"
#include "context/told_counters.h"
#include "transport/reach.h"
#include "transport/route.h"

#include <fmt/core.h>

namespace plexus::detail {
namespace {

using Clock = std::chrono::steady_clock;

/// For a process manager to say which process this is: it runs on this host.
constexpr std::chrono::seconds kManagerTime{10};
/// For handlers that were sending when the links ended: on a busy machine a thread waits long for a
/// processor.
constexpr std::chrono::seconds kLastChance{1};

} // namespace

std::shared_ptr<Core> Core::start(const std::vector<std::string>& arguments, const Options& options) {
    auto core = std::make_shared<Core>(Passkey{});
    try {
        core->configure(arguments, options);
    } catch (...) {
        core->close(); // routes that its own parts hold keep it alive
        throw;
    }
    return core;
}

Core::~Core() { close(); }

void Core::configure(const std::vector<std::string>& arguments, const Options& options) {
    crypto::fill_random(id_.bytes.data(), id_.bytes.size());
    config::Sources sources;
    sources.privileged = config::has_more_rights_than_caller();
    sources.arguments = arguments;
    sources.environment = config::plexus_environment();
    if (const auto key = sources.environment.find(bootstrap::kJobKey); key != sources.environment.end()) {
        wipe(key->second.data(), key->second.size());
        sources.environment.erase(key); // no setting; and the sources are kept
    }
    sources.program = options.set;
    sources.defaults = options.defaults;
    if (!options.file.empty()) sources.file = options.file;
    config::Raw raw = config::Raw::gather(sources).value();
    arguments_ = raw.remaining_arguments();
    warn_of(raw);
    const config::Raw::Entry* const launcher = raw.find("launcher");
    job_ = bootstrap::Job::find(launcher != nullptr ? launcher->value : "auto", Clock::now() + kManagerTime)
               .value();
    const std::vector<std::string> searched = find_modules(raw, modules_);
    for (const loader::Refused& refused : modules_.refused()) added_.note_refused(refused.file, refused.why);
    imply_parameters(raw);
    settings_ = check_settings(raw, modules_, job_).value();
    if (const auto filter = log::set_filter(settings_.text("log")); !filter)
        throw Error(filter.status(), fmt::format("{}: {}", settings_.origin("log"), filter.failure().why));

    if (const std::string name = settings_.text("name"); !name.empty()) log_name_.emplace(name);
    for (const std::string& warning : settings_.warnings()) log::warn("config", "{}", warning);

    stack_.scheduler = std::make_unique<poll::Scheduler>(polling_options(settings_, job_));

    stack_.dispatcher = std::make_unique<request::Dispatcher>(dispatching_options(settings_));
    stack_.transfers = std::make_unique<memory::Transfers>(*stack_.dispatcher);

    const auto meeting = Clock::now() + settings_.duration("progress.lookup_timeout");
    const bootstrap::Key key = job_key(settings_, job_, meeting);
    transport::EndpointOptions carrying = carrying_options(settings_);
    carrying.key = key.bytes;
    carrying.place = find_place(settings_, modules_);
    stack_.transport =
        std::make_unique<transport::Transport>(id_, carrying, *stack_.scheduler, *stack_.dispatcher);
    endpoint().set_keeper(weak_from_this());
    stack_.dispatcher->serve(*stack_.transport);
    stack_.transfers->serve(*stack_.transport);

    stack_.hub = std::make_unique<forward::Hub>(*stack_.dispatcher, endpoint(), key,
                                                settings_.duration("progress.lookup_timeout"));
    added_.begin(raw, *stack_.transport);
    open_methods(wanted_methods(raw, settings_, modules_, searched), raw.find("methods") != nullptr);
    stack_.hub->serve();
    meet(options, key, meeting);
    if (ForwardRules rules = forward_rules(settings_); !rules.allow.empty()) forward(std::move(rules));
    stack_.hub->attach(); // leads by itself: what it looks at is the leader's own
    if (settings_.boolean("progress.thread")) stack_.scheduler->start_progress_thread();
    if (settings_.boolean("counters")) show(options.url.empty());
}

void Core::open_methods(const std::vector<method::ListItem>& wanted, bool chosen_by_user) {
    for (const method::ListItem& item : wanted) {
        const loader::Module& module = *modules_.find(item.method);
        transport::boundary_in(settings_, item.method, module.ops.caps, endpoint().options().place, true)
            .value();
        const auto opened = stack_.transport->open(module, settings_, modules_);
        if (opened) continue;
        added_.note_refused(item.method, opened.failure().why);
        const bool forbidden = settings_.text("fallback") == "forbid";
        if (chosen_by_user &&
            (forbidden || opened.status() == Status::bad_config || opened.status() == Status::busy))
            throw Error(opened.status(), opened.failure().why);
        log::info("transport", "{}", opened.failure().why);
    }
    limit_relayed(endpoint(), settings_);
    if (endpoint().interfaces().empty())
        throw Error(Status::no_method, "no method could be opened: see plexus info");
    const auto order = method::parse_list(settings_.text("methods")).value();
    endpoint().seal_table(order);
    if (endpoint().own_table()->table.empty())
        throw Error(Status::no_method, fmt::format("the list of methods \"{}\" leaves none of the rows that "
                                                   "the methods here have: see plexus info",
                                                   method::to_text(order)));
}

void Core::meet(const Options& options, const bootstrap::Key& key, Clock::time_point deadline) {
    if (const std::string listen = settings_.text("listen"); !listen.empty()) {
        meeting_.server = bootstrap::DirectoryServer::listen(listen, key, 1).value();
        meeting_.directory = meeting_.server->local();
        // Who joins can ask which way leads to the server itself.
        Target self;
        self.context = id_;
        meeting_.directory->publish("plexus.server", PointerBase(self, own_way()).save()).value();
    } else if (!options.url.empty()) {
        meeting_.directory = bootstrap::join(options.url, key, id_, deadline).value();
    } else if (job_.is_managed()) {
        meeting_.directory = bootstrap::enter_managed(key, id_, deadline).value();
    } else if (!job_.url.empty()) {
        meeting_.directory = bootstrap::join(job_.url, job_.key.value_or(key), id_, deadline).value();
    } else {
        meeting_.directory = bootstrap::process_directory();
    }
}

// Without it a context works as well.
void Core::show(bool to_the_job) {
    auto shown = show_counters(*this);
    if (!shown) {
        log::warn("counters", "plexus top will not see this context: {}", shown.failure().why);
        return;
    }
    counters_ = std::move(*shown);
    if (to_the_job && !meeting_.directory->url().empty()) tell_counters(*this, counters_);
}

void Core::forward(ForwardRules rules) {
    refuse_forked();
    if (meeting_.server == nullptr && !rules.allow.empty())
        throw Error(Status::bad_config, "a context that relays is found by its directory: set listen");
    if (rules.links == 0 || rules.memory / rules.links < 2 * forward::kLeastWindow)
        throw Error(
            Status::bad_config,
            fmt::format(
                "forward.memory of {} bytes is too little for {} links (forward.links): each needs {}",
                rules.memory, rules.links, 2 * forward::kLeastWindow));
    // First: a context that others cannot find relays nothing either.
    if (!rules.allow.empty())
        meeting_.directory->publish(forward::Hub::kPublished, stack_.hub->published().value()).value();
    stack_.hub->rules.set(std::move(rules));
}

void Core::close() {
    if (std::exchange(closed_, true) || stack_.transport == nullptr) return;
    if (birth_.left()) return abandon();
    const auto patience = settings_.duration("progress.close_timeout");
    added_.stop();
    const auto deadline = Clock::now() + patience;
    stack_.scheduler->limit_waits(deadline - patience / 2);
    closing_actions_.run();
    stack_.scheduler->limit_waits(Clock::time_point::max());
    // Their answers still have a way. A quarter of the time remains for what was accepted to leave.
    stack_.dispatcher->server().finish_handlers(*stack_.scheduler, deadline - patience / 4);
    // From here on every lane counts: a confined one may hold what closing waits for.
    for (const auto& lane : stack_.scheduler->lanes().all())
        lane->confined.store(false, std::memory_order_relaxed);
    stack_.transport->close(deadline);
    if (counters_ != nullptr) counters_->stop(); // it looks at what ends now
    counters_.reset();
    shown_groups_.clear();
    meeting_.directory.reset();
    stack_.scheduler->stop();
    if (stack_.hub != nullptr) stack_.hub->close();
    stack_.transport->destroy(); // also ends what handlers may still be sending
    meeting_.server.reset();
    log_name_.reset();
    stack_.dispatcher->server().release_handlers(Clock::now() + kLastChance, weak_from_this().lock());
}

// In a forked child: nothing here may be destroyed. Threads that would have to be joined do not exist,
// locks may be held for ever, and ending a link would end the parent's.
void Core::abandon() noexcept {
    static auto& parts = *new std::vector<std::shared_ptr<void>>; // reachable: not a leak
    try {
        if (auto self = weak_from_this().lock()) return parts.push_back(std::move(self));
        parts.emplace_back(stack_.scheduler.release(), [](void*) {});
        parts.emplace_back(stack_.dispatcher.release(), [](void*) {});
        parts.emplace_back(stack_.transfers.release(), [](void*) {});
        parts.emplace_back(stack_.transport.release(), [](void*) {});
        parts.emplace_back(stack_.hub.release(), [](void*) {});
        parts.emplace_back(meeting_.server.release(), [](void*) {});
        parts.push_back(std::move(counters_));
        parts.push_back(std::move(meeting_.directory));
    } catch (const std::bad_alloc&) {} // released is released
}

void Core::refuse_forked() const {
    if (birth_.left()) throw Error(Status::closed, kForkedText);
}

std::string Core::url() const {
    refuse_forked();
    return meeting_.server != nullptr      ? meeting_.server->url()
           : meeting_.directory != nullptr ? meeting_.directory->url()
                                           : std::string();
}

std::size_t Core::lane(std::string_view method) const {
    refuse_forked();
    const transport::Interface* const found = stack_.transport->endpoint().find_interface(method);
    if (found == nullptr)
        throw Error(Status::bad_argument,
                    "this context has no method \"" + std::string(method) + "\": see plexus info");
    return found->lane;
}

std::shared_ptr<Route> Core::own_way() {
    refuse_forked();
    return endpoint().way(endpoint().peer(id_), endpoint().own_table());
}

} // namespace plexus::detail
