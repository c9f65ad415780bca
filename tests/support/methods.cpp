// SPDX-License-Identifier: BSD-3-Clause
#include "support/methods.h"

#include "loader/modules.h"
#include "support/arguments.h"

#include <stdexcept>

namespace plexus::testing {
namespace {

Method method_of(const loader::Module& module) { return {module.name, module.ops, module.parameters}; }

// Built in, and over that what the command line says.
loader::Modules load_modules() {
    loader::Modules modules;
    for (const plexus_passport* passport : loader::builtin_passports()) modules.add(passport);
    for (const auto& [name, file] : arguments().objects) modules.load(file, true).value();
    return modules;
}

} // namespace

const char* Method::preset(const std::string& key) const {
    for (const plexus_parameter& parameter : parameters)
        if (key == parameter.key) return parameter.preset;
    return nullptr;
}

Method method_of(const plexus_passport& passport) {
    return method_of(loader::admit(&passport, "built in").value());
}

const Method& find_method(const std::string& name) {
    static const loader::Modules modules = load_modules();
    static std::map<std::string, Method> known;
    const auto found = known.find(name);
    if (found != known.end()) return found->second;
    const loader::Module* module = modules.find(name);
    if (module == nullptr)
        throw std::runtime_error("no module \"" + name + "\": give --object " + name + "=FILE");
    return known[name] = method_of(*module);
}

const Method& method_under_test() {
    if (arguments().module.empty())
        throw std::runtime_error("say which module to test: --module NAME (and --object NAME=FILE)");
    return find_method(arguments().module);
}

} // namespace plexus::testing
