// SPDX-License-Identifier: BSD-3-Clause
// Finds, checks and opens modules, built in or in shared objects, and holds their sealed
// function tables. A module's passport is read and checked before any of its functions is
// called; one that is refused is remembered with the reason, the others go on.
#pragma once

#include "base/result.h"
#include "plexus/module/abi.h"

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plexus::loader {

/// A module that passed every check. Lives as long as its Modules.
struct Module {
    std::string name;
    std::string origin; ///< "built in", or the file
    std::string help;
    plexus_ops ops; ///< sealed: every slot may be called
    std::vector<plexus_parameter> parameters;
};

struct Refused {
    std::string file;
    std::string why;
};

/// Copies `raw`, fills each hole with a function that answers PLEXUS_UNSUPPORTED.
/// @error bad_module a claimed ability or a mandatory slot is missing
Result<plexus_ops> seal(const plexus_ops& raw);

/// Checks magic, version, name, parameters; then seals. `origin` is for the texts.
Result<Module> admit(const plexus_passport* passport, std::string_view origin);

/// The modules of one context. Filled while it starts, then changed by one thread at a time.
class Modules {
  public:
    Modules();
    ~Modules();
    Modules(Modules&&) noexcept;
    Modules& operator=(Modules&&) noexcept;

    /// Adds a built-in module. A name that is there already wins over later ones.
    void add(const plexus_passport* passport);
    /// The same, for whoever wants to know why not; it wins over an earlier one of its name.
    Result<const Module*> take(const plexus_passport* passport, const std::string& origin);
    /// Loads one shared object; refusals are remembered too. Names that are taken: refused
    /// unless `replace` (then the file wins over what was there).
    Result<const Module*> load(const std::filesystem::path& file, bool replace = false);
    /// Loads every `plexus_*.so` of a folder that is not yet there by name; a folder that
    /// does not exist is no error.
    void find_in(const std::filesystem::path& folder);

    /// Takes a module out again, for a reason that only its user can see. `before`: what find() gave before
    /// it came, which is there again afterwards.
    void refuse(std::string_view name, std::string why, const Module* before = nullptr);

    const Module* find(std::string_view name) const noexcept;
    std::vector<const Module*> all() const;
    std::span<const Refused> refused() const noexcept;

  private:
    struct Held;
    std::unique_ptr<Held> held_;
};

/// The modules that were linked into the library (a build option), as passports.
std::span<const plexus_passport* const> builtin_passports();

/// Where modules are that nobody named: beside the library that this code is part of, in
/// <libdir>/plexus/modules-abi<major version>. No other folder is looked at: who can write there could
/// replace the library.
std::vector<std::filesystem::path> default_module_path();

} // namespace plexus::loader
