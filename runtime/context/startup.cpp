// SPDX-License-Identifier: BSD-3-Clause
#include "context/startup.h"

#include "base/host_id.h"
#include "base/log.h"
#include "bootstrap/manager/managed_job.h"
#include "bootstrap/url.h"
#include "forward/module.h"
#include "transport/reach.h"

#include <algorithm>
#include <filesystem>
#include <fmt/core.h>
#include <optional>
#include <thread>

namespace plexus::detail {
namespace {

using Clock = std::chrono::steady_clock;

/// With more contexts than cores a thread that spins keeps from running what it waits for.
constexpr std::chrono::nanoseconds kShortSpin{2'000};

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

// Who may join from other hosts must also be able to send requests here: the methods that listen do so
// where the directory does, unless somebody says where; and on all interfaces where the job has other hosts.
void open_where_listening(config::Raw& raw, const loader::Modules& modules, const bootstrap::Job& job) {
    const config::Raw::Entry* listen = raw.find("listen");
    const bool serves = listen != nullptr && !listen->value.empty();
    const std::string where = serves ? bootstrap::interfaces_of(listen->value) : std::string();
    const bool many_hosts = job.is_managed() && job.local_size < job.size;
    for (const loader::Module* module : modules.all())
        for (const plexus_parameter& parameter : module->parameters) {
            if (std::string_view(parameter.key) != "listen") continue;
            const std::string key = fmt::format("method.{}.listen", module->name);
            if (!where.empty()) raw.complete("listen", key, where);
            if (many_hosts) raw.presume("the job has processes on other hosts", key, "all");
        }
}

} // namespace

void warn_of(const config::Raw& raw) {
    if (raw.warnings().empty()) return;
    if (const config::Raw::Entry* filter = raw.find("log")) static_cast<void>(log::set_filter(filter->value));
    for (const std::string& warning : raw.warnings()) log::warn("config", "{}", warning);
}

std::vector<std::string> find_modules(const config::Raw& raw, loader::Modules& modules) {
    for (const plexus_passport* passport : loader::builtin_passports()) modules.add(passport);
    modules.add(&forward::passport());
    std::vector<std::filesystem::path> folders;
    if (const config::Raw::Entry* path = raw.find("module_path"))
        for (const std::string& folder : config::split_list(path->value)) folders.emplace_back(folder);
    for (const auto& folder : loader::default_module_path()) folders.push_back(folder);
    for (const auto& folder : folders) modules.find_in(folder);
    for (const loader::Module* module : modules.all())
        if (const auto keys = config::module_keys(module->name, module->parameters); !keys) {
            log::warn("loader", "{} is refused: {}", module->origin, keys.failure().why);
            modules.refuse(module->name, keys.failure().why);
        }
    return texts(folders);
}

void imply_parameters(config::Raw& raw) {
    const config::Raw::Entry* const written = raw.find("methods");
    if (written == nullptr) return;
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

Result<config::Settings> check_settings(config::Raw raw, const loader::Modules& modules,
                                        const bootstrap::Job& job) {
    // One file may serve machines with and without the optional methods.
    for (const std::string& name : config::split_list(config::default_methods()))
        if (modules.find(name) == nullptr) raw.leave_out(fmt::format("method.{}", name));
    std::vector<std::string> names;
    for (const loader::Module* module : modules.all()) names.push_back(module->name);
    config::Schema schema = config::core_schema(names);
    for (const loader::Module* module : modules.all()) {
        const auto keys = config::module_keys(module->name, module->parameters);
        if (!keys) return keys.failure();
        schema.insert(schema.end(), (*keys).begin(), (*keys).end());
    }
    open_where_listening(raw, modules, job);
    return config::Settings::check(raw, std::move(schema));
}

std::vector<method::ListItem> wanted_methods(const config::Raw& raw, const config::Settings& settings,
                                             const loader::Modules& modules,
                                             const std::vector<std::string>& searched) {
    const auto list = method::without_rows(method::parse_list(settings.text("methods")).value());
    std::vector<std::string> present;
    for (const loader::Module* module : modules.all()) present.push_back(module->name);
    if (const config::Raw::Entry* written = raw.find("methods"))
        config::check_methods(method::names_of(list), present, searched, written->origin).value();
    // A list that only excludes keeps the default order, and adds nothing that is not in it.
    std::vector<std::string> ordered;
    for (const method::ListItem& item : method::parse_list(config::default_methods()).value())
        if (modules.find(item.method) != nullptr) ordered.push_back(item.method);
    const bool names_some =
        std::any_of(list.begin(), list.end(), [](const auto& item) { return !item.excluded; });
    return method::apply_list(list, names_some ? present : ordered);
}

bootstrap::Key job_key(const config::Settings& settings, const bootstrap::Job& job,
                       Clock::time_point deadline) {
    std::optional<bootstrap::Key> from_file;
    if (const std::string file = settings.text("job.key_file"); !file.empty())
        from_file = bootstrap::key_from_file(file).value();
    if (job.is_managed()) return bootstrap::meet_under(from_file, deadline).value();
    if (from_file) return *from_file;
    return job.key ? *job.key : process_key();
}

Place find_place(const config::Settings& settings, const loader::Modules& modules) {
    Place place{settings.text("site"), host_id()};
    if (const auto good = method::check_site(place.site); !good)
        throw Error(Status::bad_config,
                    fmt::format("{}: site: {}", settings.origin("site"), good.failure().why));
    for (const loader::Module* module : modules.all())
        transport::boundary_in(settings, module->name, module->ops.caps, place, false).value();
    return place;
}

void limit_relayed(const transport::Endpoint& endpoint, const config::Settings& settings) {
    const std::string relaying = forward::passport().name;
    if (settings.origin(fmt::format("method.{}.{}", relaying, method::kWithin)) != config::kDefaultOrigin)
        return;
    const auto is_relayed = [&](const transport::Interface& each) {
        return each.name == relaying || each.works_over(relaying);
    };
    std::optional<method::Boundary> widest;
    for (const auto& each : endpoint.interfaces())
        if (each->shows({}) && !each->one_host() && !each->unreliable() && !is_relayed(*each))
            widest = widest ? method::wider(*widest, each->within) : each->within;
    if (!widest || !widest->limits()) return;
    // What is relayed passes from one subnet to the next.
    if (widest->kind == method::Boundary::Kind::subnet)
        widest = method::Boundary{method::Boundary::Kind::host, {}};
    for (const auto& each : endpoint.interfaces())
        if (is_relayed(*each) && (each->name == relaying || each->shows(relaying))) each->limit(*widest);
}

poll::SchedulerOptions polling_options(const config::Settings& settings, const bootstrap::Job& job) {
    poll::SchedulerOptions polling;
    polling.spin = settings.duration("progress.spin");
    polling.yield = settings.duration("progress.yield");
    polling.handover = settings.duration("progress.handover");
    polling.idle_share =
        static_cast<double>(std::max<std::uint64_t>(1, settings.count("progress.idle_permille"))) / 1000;
    if (job.local_size > std::thread::hardware_concurrency())
        polling.spin = std::min(polling.spin, kShortSpin);
    return polling;
}

request::DispatcherOptions dispatching_options(const config::Settings& settings) {
    request::DispatcherOptions dispatching;
    dispatching.handler_threads = settings.count("handlers.threads");
    dispatching.handler_queue = settings.bytes("limits.handler_queue");
    dispatching.calls = settings.count("limits.calls");
    if (const auto limit = settings.duration("limits.call_deadline"); limit.count() > 0)
        dispatching.call_deadline = deadline(limit);
    dispatching.name = settings.text("name");
    return dispatching;
}

transport::EndpointOptions carrying_options(const config::Settings& settings) {
    transport::EndpointOptions carrying;
    carrying.max_message = settings.bytes("limits.max_message");
    carrying.handler_queue = settings.bytes("limits.handler_queue");
    carrying.retain = settings.bytes("limits.retain");
    carrying.silence = settings.duration("limits.silence");
    carrying.forget_after = settings.duration("limits.forget_peer");
    carrying.reconnect_timeout = settings.duration("limits.reconnect");
    const std::string fallback = settings.text("fallback");
    carrying.fallback = fallback == "forbid" ? Fallback::forbid
                        : fallback == "warn" ? Fallback::warn
                                             : Fallback::allow;
    return carrying;
}

ForwardRules forward_rules(const config::Settings& settings) {
    ForwardRules rules;
    rules.allow = settings.list("forward.allow");
    rules.memory = settings.bytes("forward.memory");
    rules.links = static_cast<std::uint32_t>(settings.count("forward.links"));
    std::erase(rules.allow, "none");
    return rules;
}

} // namespace plexus::detail
