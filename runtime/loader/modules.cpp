// SPDX-License-Identifier: BSD-3-Clause
#include "loader/modules.h"

#include "base/log.h"
#include "loader/shared_object.h"

#include <algorithm>
#include <utility>

namespace plexus::loader {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kPrefix = "plexus_";
constexpr std::string_view kSuffix = ".so";

// "plexus_<name>.so" -> name; empty for other files.
std::string module_name_of(const fs::path& file) {
    const std::string name = file.filename().string();
    if (name.size() <= kPrefix.size() + kSuffix.size() || !name.starts_with(kPrefix) ||
        !name.ends_with(kSuffix))
        return {};
    return name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size());
}

} // namespace

struct Modules::Held {
    struct Row {
        const plexus_passport* passport; // tells the same module from another of its name
        std::unique_ptr<const Module> module;
    };
    std::vector<Row> rows;
    std::vector<Row> replaced; // somebody may still point to them
    std::vector<Refused> refused;

    auto row_of(std::string_view name) {
        return std::find_if(rows.begin(), rows.end(),
                            [&](const Row& row) { return row.module->name == name; });
    }

    Failure refuse(std::string_view file, Failure failure) {
        note_refused(file, failure.why);
        return failure;
    }

    // Once for each file: a program may try again and again.
    void note_refused(std::string_view file, std::string why) {
        std::erase_if(refused, [&](const Refused& earlier) { return earlier.file == file; });
        refused.push_back({std::string(file), std::move(why)});
    }

    // The row of a module that was here before, or a fresh one.
    Row take_back(const plexus_passport* passport, Module&& admitted) {
        const auto earlier = std::find_if(replaced.begin(), replaced.end(),
                                          [&](const Row& row) { return row.passport == passport; });
        if (earlier == replaced.end()) return {passport, std::make_unique<const Module>(std::move(admitted))};
        Row row = std::move(*earlier);
        replaced.erase(earlier);
        return row;
    }

    Result<const Module*> take(const plexus_passport* passport, const std::string& origin, bool replace) {
        auto admitted = admit(passport, origin);
        if (!admitted) return refuse(origin, admitted.failure());
        const auto row = row_of((*admitted).name);
        if (row != rows.end() && row->passport == passport) return row->module.get();
        if (row != rows.end() && !replace)
            return refuse(origin, fail(Status::bad_module, "{} is refused: there is a method {} already ({})",
                                       origin, (*admitted).name, row->module->origin));
        Row fresh = take_back(passport, std::move(*admitted));
        const Module* const module = fresh.module.get();
        if (row == rows.end()) {
            rows.push_back(std::move(fresh));
        } else {
            replaced.push_back(std::exchange(*row, std::move(fresh)));
        }
        return module;
    }
};

Modules::Modules()
  : held_(std::make_unique<Held>()) {}
Modules::~Modules() = default;
Modules::Modules(Modules&&) noexcept = default;
Modules& Modules::operator=(Modules&&) noexcept = default;

void Modules::add(const plexus_passport* passport) {
    constexpr const char* kOrigin = "built in";
    if (const auto taken = held_->take(passport, kOrigin, false); !taken)
        log::warn("loader", "a module is refused: {}", taken.failure().why);
}

Result<const Module*> Modules::take(const plexus_passport* passport, const std::string& origin) {
    return held_->take(passport, origin, true);
}

Result<const Module*> Modules::load(const fs::path& file, bool replace) {
    const std::string name = file.string();
    std::erase_if(held_->refused, [&](const Refused& earlier) { return earlier.file == name; });
    const auto passport = open_passport(file);
    if (!passport) return held_->refuse(name, passport.failure());
    return held_->take(*passport, name, replace);
}

void Modules::find_in(const fs::path& folder) {
    std::error_code error;
    std::vector<fs::path> files;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
        if (const std::string name = module_name_of(entry->path()); !name.empty() && !find(name))
            files.push_back(entry->path());
    if (error && error != std::errc::no_such_file_or_directory)
        log::warn("loader", "can't search {} for modules: {}", folder.string(), error.message());
    std::sort(files.begin(), files.end()); // the folder's own order is anybody's guess
    for (const fs::path& file : files)
        if (const auto loaded = load(file); !loaded) log::warn("loader", "{}", loaded.failure().why);
}

void Modules::refuse(std::string_view name, std::string why, const Module* before) {
    const auto row = held_->row_of(name);
    if (row == held_->rows.end()) return;
    held_->note_refused(row->module->origin, std::move(why));
    if (row->module.get() == before) return;
    auto& replaced = held_->replaced;
    const auto earlier = std::find_if(replaced.begin(), replaced.end(), [&](const Held::Row& each) {
        return before != nullptr && each.module.get() == before;
    });
    if (earlier != replaced.end()) return std::swap(*row, *earlier);
    replaced.push_back(std::move(*row));
    held_->rows.erase(row);
}

const Module* Modules::find(std::string_view name) const noexcept {
    const auto row = held_->row_of(name);
    return row == held_->rows.end() ? nullptr : row->module.get();
}

std::vector<const Module*> Modules::all() const {
    std::vector<const Module*> modules;
    for (const Held::Row& row : held_->rows) modules.push_back(row.module.get());
    return modules;
}

std::span<const Refused> Modules::refused() const noexcept { return held_->refused; }

} // namespace plexus::loader
