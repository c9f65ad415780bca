// SPDX-License-Identifier: BSD-3-Clause
#include "context/added_modules.h"

#include "base/log.h"
#include "context/startup.h"
#include "loader/shared_object.h"
#include "transport/reach.h"
#include "transport/transport.h"

#include <algorithm>
#include <fmt/core.h>
#include <thread>

namespace plexus::detail {

void AddedModules::begin(config::Raw sources, transport::Transport& transport) {
    sources_ = std::move(sources);
    transport_ = &transport;
}

transport::Endpoint& AddedModules::endpoint() const noexcept { return transport_->endpoint(); }

// Of a module that comes while the context runs. What its file said of the method counts as at the start.
Result<void> AddedModules::open(const loader::Module& module, const Parameters& parameters) {
    config::Raw raw = sources_;
    for (const auto& [key, value] : parameters)
        raw.presume("add_module", fmt::format("method.{}.{}", module.name, key), value);
    auto settings = check_settings(std::move(raw), modules_, job_);
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
    const auto within =
        transport::boundary_in(*settings, module.name, module.ops.caps, endpoint().options().place, true);
    if (!within) return within.failure();
    const config::Settings* kept = nullptr;
    {
        Lock hold(mutex_);
        kept = &settings_.emplace_back(std::move(*settings));
    }
    const auto opened = transport_->open(module, *kept, modules_);
    if (!opened) {
        Lock hold(mutex_);
        settings_.pop_back();
        return opened.failure();
    }
    std::vector<Descriptor> wanted;
    for (const Descriptor& row : (*opened)->rows)
        if (!excluded(row.method)) wanted.push_back(row);
    if (const std::size_t there = endpoint().own_table()->table.size();
        there + wanted.size() > DescriptorTable::kMaxRows)
        log::warn("transport", "the table of this context is full: {} of the {} rows of {} are left out",
                  there + wanted.size() - DescriptorTable::kMaxRows, wanted.size(), module.name);
    endpoint().change_own_table([&](DescriptorTable& table) {
        for (const Descriptor& row : wanted)
            if (table.size() < DescriptorTable::kMaxRows) table.push_back(row);
    });
    log::info("transport", "method {} was added ({})", module.name, module.origin);
    return {};
}

template <class Load>
void AddedModules::add(const std::string& origin, const Result<loader::Module>& found,
                       const Parameters& parameters, Load load) {
    Adding now = Adding::none;
    if (!adding_.compare_exchange_strong(now, Adding::one, std::memory_order_acquire)) // pairs with [adding]
        throw now == Adding::one ? Error(Status::busy, "another thread adds a module just now: try again")
                                 : Error(Status::closed, "this context closes: no module is added to it");
    struct Added {
        std::atomic<Adding>& adding;
        ~Added() { adding.store(Adding::none, std::memory_order_release); } // [adding]
    } const added{adding_};
    const auto try_to_open = [&]() -> Result<void> {
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
        const auto opened = open(**module, parameters);
        // What the sources say of its keys is checked again with the next module.
        if (!opened) modules_.refuse(name, opened.failure().why, before);
        return opened;
    };
    if (const auto opened = try_to_open(); !opened) {
        note_refused(origin, opened.failure().why);
        throw Error(opened.status(), opened.failure().why);
    }
}

void AddedModules::add(const std::filesystem::path& file, const Parameters& parameters) {
    refuse_in_turn();
    const auto passport = loader::open_passport(file);
    const auto found = passport ? loader::admit(*passport, file.string()) : passport.failure();
    // One of the name that no context uses may be there: built in, or found in a folder.
    add(file.string(), found, parameters, [&] { return modules_.load(file, true); });
}

void AddedModules::add(const plexus_passport& passport, const Parameters& parameters) {
    refuse_in_turn();
    const auto found = loader::admit(&passport, "the program's own module");
    const std::string origin =
        found ? fmt::format("the program's own module {}", (*found).name) : "the program's own module";
    add(origin, found, parameters, [&] { return modules_.take(&passport, origin); });
}

void AddedModules::refuse_in_turn() const {
    if (endpoint().scheduler().inside_turn())
        throw Error(Status::would_deadlock, "opening a module may block: not inside an inline handler");
}

void AddedModules::stop() noexcept {
    Adding now = Adding::none;
    while (!adding_.compare_exchange_weak(now, Adding::never_again,
                                          std::memory_order_acquire)) { // pairs with [adding]
        now = Adding::none;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

void AddedModules::note_refused(const std::string& what, const std::string& why) {
    Lock hold(mutex_);
    std::erase_if(refused_, [&](const RefusedModule& earlier) { return earlier.what == what; });
    refused_.push_back({what, why});
}

std::vector<RefusedModule> AddedModules::refused() const {
    Lock hold(mutex_);
    return refused_;
}

config::Settings AddedModules::settings(const config::Settings& first) const {
    Lock hold(mutex_);
    return settings_.empty() ? first : settings_.back();
}

} // namespace plexus::detail
