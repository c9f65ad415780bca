// SPDX-License-Identifier: BSD-3-Clause
#include "context/core.h"

#include "base/crypto.h"
#include "base/host_id.h"
#include "base/log.h"
#include "bootstrap/manager/managed_job.h"
#include "bootstrap/url.h"
#include "context/shown_counters.h"
#include "context/told_counters.h"
#include "forward/module.h"
#include "loader/shared_object.h"
#include "transport/reach.h"
#include "transport/route.h"

#include <algorithm>
#include <fmt/core.h>
#include <thread>

namespace plexus::detail {
namespace {

using Clock = std::chrono::steady_clock;

/// With more contexts than cores a thread that spins keeps from running what it waits for.
constexpr std::chrono::nanoseconds kShortSpin{2'000};
/// For a process manager to say which process this is: it runs on this host.
constexpr std::chrono::seconds kManagerTime{10};
/// For handlers that were sending when the links ended.
constexpr std::chrono::milliseconds kLastChance{200};

std::vector<std::string> texts(const std::vector<std::filesystem::path>& paths) {
    std::vector<std::string> all;
    for (const auto& path : paths) all.push_back(path.string());
    return all;
}

/// A key for contexts of this process alone, where nobody gave one.
const bootstrap::Key& process_key() {
    static const bootstrap::Key key = bootstrap::random_key();
    return key;
}

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
    sources.environment.erase(bootstrap::kJobKey); // no setting; and the sources are kept
    sources.program = options.set;
    sources.defaults = options.defaults;
    if (!options.file.empty()) sources.file = options.file;
    config::Raw raw = config::Raw::gather(sources).value();
    arguments_ = raw.remaining_arguments();
    warn_of(raw);
    const config::Raw::Entry* const launcher = raw.find("launcher");
    job_ = bootstrap::Job::find(launcher != nullptr ? launcher->value : "auto", Clock::now() + kManagerTime)
               .value();
    const std::vector<std::string> searched = find_modules(raw);
    // `tcp?sndbuf=4MiB` in the list of methods sets that method's parameter.
    if (const config::Raw::Entry* written = raw.find("methods")) {
        auto list = method::parse_list(written->value);
        if (!list) throw Error(list.status(), fmt::format("{}: {}", written->origin, list.failure().why));
        for (const method::ListItem& item : *list)
            for (const auto& [key, value] : item.parameters)
                if (method::method_of(item.method) != item.method)
                    throw Error(Status::bad_config,
                                fmt::format("{}: {} is one row of a method, which is opened once for all: "
                                            "write {}?{}={}",
                                            written->origin, item.method, method::method_of(item.method), key,
                                            value));
                else
                    raw.imply("methods", fmt::format("method.{}.{}", item.method, key), value);
    }

    settings_ = checked(raw).value();
    sources_ = raw;
    if (const auto filter = log::set_filter(settings_.text("log")); !filter)
        throw Error(filter.status(), fmt::format("{}: {}", settings_.origin("log"), filter.failure().why));

    if (const std::string name = settings_.text("name"); !name.empty()) log_name_.emplace(name);
    for (const std::string& warning : settings_.warnings()) log::warn("config", "{}", warning);

    poll::SchedulerOptions polling;
    polling.spin = settings_.duration("progress.spin");
    polling.yield = settings_.duration("progress.yield");
    polling.handover = settings_.duration("progress.handover");
    polling.idle_share =
        static_cast<double>(std::max<std::uint64_t>(1, settings_.count("progress.idle_permille"))) / 1000;
    if (job_.local_size > std::thread::hardware_concurrency())
        polling.spin = std::min(polling.spin, kShortSpin);
    scheduler_ = std::make_unique<poll::Scheduler>(polling);

    request::DispatcherOptions dispatching;
    dispatching.handler_threads = settings_.count("handlers.threads");
    dispatching.handler_queue = settings_.bytes("limits.handler_queue");
    dispatching.calls = settings_.count("limits.calls");
    if (const auto limit = settings_.duration("limits.call_deadline"); limit.count() > 0)
        dispatching.call_deadline = deadline(limit);
    dispatching.name = settings_.text("name");
    dispatcher_ = std::make_unique<request::Dispatcher>(dispatching);
    transfers_ = std::make_unique<memory::Transfers>(*dispatcher_);

    const auto meeting = Clock::now() + settings_.duration("progress.lookup_timeout");
    const bootstrap::Key key = job_key(meeting);
    transport::EndpointOptions carrying;
    carrying.max_message = settings_.bytes("limits.max_message");
    carrying.handler_queue = settings_.bytes("limits.handler_queue");
    carrying.retain = settings_.bytes("limits.retain");
    carrying.silence = settings_.duration("limits.silence");
    carrying.forget_after = settings_.duration("limits.forget_peer");
    carrying.reconnect_timeout = settings_.duration("limits.reconnect");
    carrying.key = key.bytes;
    carrying.place = find_place();
    const std::string fallback = settings_.text("fallback");
    carrying.fallback = fallback == "forbid" ? Fallback::forbid
                        : fallback == "warn" ? Fallback::warn
                                             : Fallback::allow;
    transport_ = std::make_unique<transport::Transport>(id_, carrying, *scheduler_, *dispatcher_);
    endpoint().set_keeper(weak_from_this());
    dispatcher_->serve(*transport_);
    transfers_->serve(*transport_);

    hub_ = std::make_unique<forward::Hub>(*dispatcher_, endpoint(), key,
                                          settings_.duration("progress.lookup_timeout"));
    open_methods(wanted_methods(raw, searched), raw.find("methods") != nullptr);
    hub_->serve();
    meet(options, key, meeting);
    begin_forwarding();
    hub_->attach(); // leads by itself: what it looks at is the leader's own
    if (settings_.boolean("progress.thread")) scheduler_->start_progress_thread();
    if (settings_.boolean("counters")) show(options.url.empty());
}

Result<config::Settings> Core::checked(config::Raw raw) const {
    // One file may serve machines with and without the optional methods.
    for (const std::string& name : config::split_list(config::default_methods()))
        if (modules_.find(name) == nullptr) raw.leave_out(fmt::format("method.{}", name));
    std::vector<std::string> names;
    for (const loader::Module* module : modules_.all()) names.push_back(module->name);
    config::Schema schema = config::core_schema(names);
    for (const loader::Module* module : modules_.all()) {
        const auto keys = config::module_keys(module->name, module->parameters);
        if (!keys) return keys.failure();
        schema.insert(schema.end(), (*keys).begin(), (*keys).end());
    }
    open_where_listening(raw);
    return config::Settings::check(raw, std::move(schema));
}

// Before anything can fail because of what was passed over. The filter is checked, and a bad one
// refused, with all other values.
void Core::warn_of(const config::Raw& raw) {
    if (raw.warnings().empty()) return;
    if (const config::Raw::Entry* filter = raw.find("log")) static_cast<void>(log::set_filter(filter->value));
    for (const std::string& warning : raw.warnings()) log::warn("config", "{}", warning);
}

// Who may join from other hosts must also be able to send requests here: the methods that listen do so
// where the directory does, unless somebody says where; and on all interfaces where the job has other hosts.
void Core::open_where_listening(config::Raw& raw) const {
    const config::Raw::Entry* listen = raw.find("listen");
    const bool serves = listen != nullptr && !listen->value.empty();
    const std::string where = serves ? bootstrap::interfaces_of(listen->value) : std::string();
    const bool many_hosts = job_.is_managed() && job_.local_size < job_.size;
    for (const loader::Module* module : modules_.all())
        for (const plexus_parameter& parameter : module->parameters) {
            if (std::string_view(parameter.key) != "listen") continue;
            const std::string key = fmt::format("method.{}.listen", module->name);
            if (!where.empty()) raw.complete("listen", key, where);
            if (many_hosts) raw.presume("the job has processes on other hosts", key, "all");
        }
}

std::vector<std::string> Core::find_modules(const config::Raw& raw) {
    for (const plexus_passport* passport : loader::builtin_passports()) modules_.add(passport);
    modules_.add(&forward::passport());
    std::vector<std::filesystem::path> folders;
    if (const config::Raw::Entry* path = raw.find("module_path"))
        for (const std::string& folder : config::split_list(path->value)) folders.emplace_back(folder);
    for (const auto& folder : loader::default_module_path()) folders.push_back(folder);
    for (const auto& folder : folders) modules_.find_in(folder);
    for (const loader::Module* module : modules_.all())
        if (const auto keys = config::module_keys(module->name, module->parameters); !keys) {
            log::warn("loader", "{} is refused: {}", module->origin, keys.failure().why);
            modules_.refuse(module->name, keys.failure().why);
        }
    Lock hold(later_mutex_);
    for (const loader::Refused& refused : modules_.refused()) refused_.push_back({refused.file, refused.why});
    return texts(folders);
}

std::vector<method::ListItem> Core::wanted_methods(const config::Raw& raw,
                                                   const std::vector<std::string>& searched) const {
    const auto list = method::without_rows(method::parse_list(settings_.text("methods")).value());
    std::vector<std::string> present;
    for (const loader::Module* module : modules_.all()) present.push_back(module->name);
    if (const config::Raw::Entry* written = raw.find("methods"))
        config::check_methods(method::names_of(list), present, searched, written->origin).value();
    // A list that only excludes keeps the default order, and adds nothing that is not in it.
    std::vector<std::string> ordered;
    for (const method::ListItem& item : method::parse_list(config::default_methods()).value())
        if (modules_.find(item.method) != nullptr) ordered.push_back(item.method);
    const bool names_some =
        std::any_of(list.begin(), list.end(), [](const auto& item) { return !item.excluded; });
    return method::apply_list(list, names_some ? present : ordered);
}

bootstrap::Key Core::job_key(Clock::time_point deadline) const {
    std::optional<bootstrap::Key> from_file;
    if (const std::string file = settings_.text("job.key_file"); !file.empty())
        from_file = bootstrap::key_from_file(file).value();
    if (job_.is_managed()) return bootstrap::meet_under(from_file, deadline).value();
    if (from_file) return *from_file;
    return job_.key ? *job_.key : process_key();
}

// Also of methods that are not opened: nobody is to believe that a rule holds which is none.
Place Core::find_place() const {
    Place place{settings_.text("site"), host_id()};
    if (const auto good = method::check_site(place.site); !good)
        throw Error(Status::bad_config,
                    fmt::format("{}: site: {}", settings_.origin("site"), good.failure().why));
    for (const loader::Module* module : modules_.all())
        transport::boundary_in(settings_, module->name, place, false).value();
    return place;
}

void Core::open_methods(const std::vector<method::ListItem>& wanted, bool chosen_by_user) {
    for (const method::ListItem& item : wanted) {
        transport::boundary_in(settings_, item.method, endpoint().options().place, true).value();
        const auto opened = transport_->open(*modules_.find(item.method), settings_, modules_);
        if (opened) continue;
        note_refused(item.method, opened.failure().why);
        const bool forbidden = settings_.text("fallback") == "forbid";
        if (chosen_by_user &&
            (forbidden || opened.status() == Status::bad_config || opened.status() == Status::busy))
            throw Error(opened.status(), opened.failure().why);
        log::info("transport", "{}", opened.failure().why);
    }
    if (endpoint().interfaces().empty())
        throw Error(Status::no_method, "no method could be opened: see plexus info");
    const auto order = method::parse_list(settings_.text("methods")).value();
    endpoint().seal_table(order);
    if (endpoint().own_table()->table.empty())
        throw Error(Status::no_method, fmt::format("the list of methods \"{}\" leaves none of the rows that "
                                                   "the methods here have: see plexus info",
                                                   method::to_text(order)));
}

// Of a module that comes while the context runs. What its file said of the method counts as at the start.
Result<void> Core::open_later(const loader::Module& module, const Parameters& parameters) {
    config::Raw raw = sources_;
    for (const auto& [key, value] : parameters)
        raw.presume("add_module", fmt::format("method.{}.{}", module.name, key), value);
    auto settings = checked(std::move(raw));
    if (!settings) return settings.failure();
    const auto order = method::parse_list(settings->text("methods")).value();
    const auto excluded = [&](const std::string& row) {
        return std::any_of(order.begin(), order.end(), [&](const method::ListItem& item) {
            return item.excluded && means_row(item.method, row);
        });
    };
    if (excluded(module.name))
        return fail(Status::bad_config, "{}: the list of methods \"{}\" excludes {}",
                    settings->origin("methods"), method::to_text(order), module.name);
    const auto within = transport::boundary_in(*settings, module.name, endpoint().options().place, true);
    if (!within) return within.failure();
    const config::Settings* kept = nullptr;
    {
        Lock hold(later_mutex_);
        kept = &later_settings_.emplace_back(std::move(*settings));
    }
    const auto opened = transport_->open(module, *kept, modules_);
    if (!opened) {
        Lock hold(later_mutex_);
        later_settings_.pop_back();
        return opened.failure();
    }
    std::vector<Descriptor> wanted;
    for (const Descriptor& row : (*opened)->rows)
        if (!excluded(row.method)) wanted.push_back(row);
    if (const std::size_t there = endpoint().own_table()->table.size();
        there + wanted.size() > DescriptorTable::kMaxRows)
        log::warn("transport", "the table of this context is full: {} of the {} rows of {} are left out",
                  there + wanted.size() - DescriptorTable::kMaxRows, wanted.size(), module.name);
    endpoint().append_rows(wanted);
    log::info("transport", "method {} was added ({})", module.name, module.origin);
    return {};
}

template <class Load>
void Core::add(const std::string& origin, const Result<loader::Module>& found, const Parameters& parameters,
               Load load) {
    Adding now = Adding::none;
    if (!adding_.compare_exchange_strong(now, Adding::one, std::memory_order_acquire)) // pairs with [adding]
        throw now == Adding::one ? Error(Status::busy, "another thread adds a module just now: try again")
                                 : Error(Status::closed, "this context closes: no module is added to it");
    struct Added {
        std::atomic<Adding>& adding;
        ~Added() { adding.store(Adding::none, std::memory_order_release); } // [adding]
    } const added{adding_};
    const auto open = [&]() -> Result<void> {
        if (!found) return found.failure();
        const std::string name = (*found).name;
        if (const transport::Interface* const present = endpoint().find_interface(name))
            return fail(Status::busy, "{} is not added: this context has the method {} already ({})", origin,
                        name, present->origin);
        if (endpoint().own_table()->table.size() == DescriptorTable::kMaxRows)
            return fail(Status::too_large,
                        "{} is not added: the table of this context has {} rows, which is the most", origin,
                        DescriptorTable::kMaxRows);
        if (const auto keys = config::module_keys(name, (*found).parameters); !keys)
            return fail(keys.status(), "{} is refused: {}", origin, keys.failure().why);
        const loader::Module* const before = modules_.find(name);
        const Result<const loader::Module*> module = load();
        if (!module) return module.failure();
        const auto opened = open_later(**module, parameters);
        // What the sources say of its keys is checked again with the next module.
        if (!opened) modules_.refuse(name, opened.failure().why, before);
        return opened;
    };
    if (const auto opened = open(); !opened) {
        note_refused(origin, opened.failure().why);
        throw Error(opened.status(), opened.failure().why);
    }
}

void Core::add_module(const std::filesystem::path& file, const Parameters& parameters) {
    refuse_in_turn();
    const auto passport = loader::open_passport(file);
    const auto found = passport ? loader::admit(*passport, file.string()) : passport.failure();
    // One of the name that no context uses may be there: built in, or found in a folder.
    add(file.string(), found, parameters, [&] { return modules_.load(file, true); });
}

void Core::add_module(const plexus_passport& passport, const Parameters& parameters) {
    refuse_in_turn();
    constexpr const char* kOrigin = "the program's own";
    add(kOrigin, loader::admit(&passport, kOrigin), parameters,
        [&] { return modules_.take(&passport, kOrigin); });
}

void Core::refuse_in_turn() {
    if (live_scheduler().inside_turn())
        throw Error(Status::would_deadlock, "opening a module may block: not inside an inline handler");
}

// Once for each module: a program may try again and again.
void Core::note_refused(const std::string& what, const std::string& why) {
    Lock hold(later_mutex_);
    std::erase_if(refused_, [&](const RefusedModule& earlier) { return earlier.what == what; });
    refused_.push_back({what, why});
}

std::vector<RefusedModule> Core::refused() const {
    Lock hold(later_mutex_);
    return refused_;
}

config::Settings Core::all_settings() const {
    Lock hold(later_mutex_);
    return later_settings_.empty() ? settings_ : later_settings_.back();
}

void Core::meet(const Options& options, const bootstrap::Key& key, Clock::time_point deadline) {
    if (const std::string listen = settings_.text("listen"); !listen.empty()) {
        server_ = bootstrap::DirectoryServer::listen(listen, key, 1).value();
        directory_ = server_->local();
        // Who joins can ask which way leads to the server itself.
        Target self;
        self.context = id_;
        directory_->publish("plexus.server", PointerBase(self, own_way()).save()).value();
    } else if (!options.url.empty()) {
        directory_ = bootstrap::join(options.url, key, id_, deadline).value();
    } else if (job_.is_managed()) {
        directory_ = bootstrap::enter_managed(key, id_, deadline).value();
    } else if (!job_.url.empty()) {
        directory_ = bootstrap::join(job_.url, job_.key.value_or(key), id_, deadline).value();
    } else {
        directory_ = bootstrap::process_directory();
    }
}

void Core::begin_forwarding() {
    ForwardRules rules;
    rules.allow = settings_.list("forward.allow");
    rules.memory = settings_.bytes("forward.memory");
    rules.links = static_cast<std::uint32_t>(settings_.count("forward.links"));
    std::erase(rules.allow, "none");
    if (!rules.allow.empty()) forward(std::move(rules));
}

// Without it a context works as well.
void Core::show(bool to_the_job) {
    auto shown = show_counters(*this);
    if (!shown) {
        log::warn("counters", "plexus top will not see this context: {}", shown.failure().why);
        return;
    }
    counters_ = std::move(*shown);
    if (to_the_job && !directory_->url().empty()) tell_counters(*this, counters_);
}

void Core::forward(ForwardRules rules) {
    refuse_forked();
    if (server_ == nullptr && !rules.allow.empty())
        throw Error(Status::bad_config, "a context that relays is found by its directory: set listen");
    if (rules.links == 0 || rules.memory / rules.links < 2 * forward::kLeastWindow)
        throw Error(
            Status::bad_config,
            fmt::format(
                "forward.memory of {} bytes is too little for {} links (forward.links): each needs {}",
                rules.memory, rules.links, 2 * forward::kLeastWindow));
    const bool relays = !rules.allow.empty();
    hub_->set_rules(std::move(rules));
    if (relays) directory_->publish(forward::Hub::kPublished, hub_->published().value()).value();
}

void Core::close() {
    if (std::exchange(closed_, true) || transport_ == nullptr) return;
    if (birth_.left()) return abandon();
    const auto patience = settings_.duration("progress.close_timeout");
    for (Adding now = Adding::none;
         !adding_.compare_exchange_weak(now, Adding::never_again,
                                        std::memory_order_acquire); // pairs with [adding]
         now = Adding::none)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const auto deadline = Clock::now() + patience;
    scheduler_->limit_waits(deadline - patience / 2);
    closing_actions_.run();
    scheduler_->limit_waits(Clock::time_point::max());
    // Their answers still have a way. A quarter of the time remains for what was accepted to leave.
    dispatcher_->finish_handlers(*scheduler_, deadline - patience / 4);
    // From here on every lane counts: a confined one may hold what closing waits for.
    for (const auto& lane : scheduler_->lanes().all()) lane->confined.store(false, std::memory_order_relaxed);
    transport_->close(deadline);
    if (counters_ != nullptr) counters_->stop(); // it looks at what ends now
    counters_.reset();
    directory_.reset();
    scheduler_->stop();
    if (hub_ != nullptr) hub_->close();
    transport_->destroy(); // also ends what handlers may still be sending
    server_.reset();
    log_name_.reset();
    dispatcher_->release_handlers(Clock::now() + kLastChance, weak_from_this().lock());
}

// In a forked child: nothing here may be destroyed. Threads that would have to be joined do not exist,
// locks may be held for ever, and ending a link would end the parent's.
void Core::abandon() noexcept {
    static auto& parts = *new std::vector<std::shared_ptr<void>>; // reachable: not a leak
    try {
        if (auto self = weak_from_this().lock()) return parts.push_back(std::move(self));
        parts.emplace_back(scheduler_.release(), [](void*) {});
        parts.emplace_back(dispatcher_.release(), [](void*) {});
        parts.emplace_back(transfers_.release(), [](void*) {});
        parts.emplace_back(transport_.release(), [](void*) {});
        parts.emplace_back(hub_.release(), [](void*) {});
        parts.emplace_back(server_.release(), [](void*) {});
        parts.push_back(std::move(counters_));
        parts.push_back(std::move(directory_));
    } catch (const std::bad_alloc&) {} // released is released
}

void Core::refuse_forked() const {
    if (birth_.left()) throw Error(Status::closed, kForkedText);
}

std::string Core::url() const {
    refuse_forked();
    return server_ != nullptr ? server_->url() : directory_ != nullptr ? directory_->url() : std::string();
}

std::size_t Core::lane(std::string_view method) const {
    refuse_forked();
    const transport::Interface* const found = transport_->endpoint().find_interface(method);
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
