// SPDX-License-Identifier: BSD-3-Clause
#include "loader/modules.h"

#include "base/log.h"
#include "loader/shared_object.h"

#include <algorithm>

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
        refused.push_back({std::string(file), failure.why});
        return failure;
    }

    Result<const Module*> take(const plexus_passport* passport, const std::string& origin, bool replace) {
        auto admitted = admit(passport, origin);
        if (!admitted) return refuse(origin, admitted.failure());
        Row fresh{passport, std::make_unique<const Module>(std::move(*admitted))};
        const Module* module = fresh.module.get();
        const auto row = row_of(module->name);
        if (row == rows.end()) {
            rows.push_back(std::move(fresh));
        } else if (row->passport == passport) {
            return row->module.get();
        } else if (replace) {
            replaced.push_back(std::exchange(*row, std::move(fresh)));
        } else {
            return refuse(origin, fail(Status::bad_module, "{} is refused: there is a method {} already ({})",
                                       origin, module->name, row->module->origin));
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

void Modules::refuse(std::string_view name, std::string why) {
    const auto row = held_->row_of(name);
    if (row == held_->rows.end()) return;
    held_->refused.push_back({row->module->origin, std::move(why)});
    held_->replaced.push_back(std::move(*row));
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
