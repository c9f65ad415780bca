// SPDX-License-Identifier: BSD-3-Clause
// Reads a passport: plain data of somebody else's making. Calls none of the module's functions.
#include "base/log.h"
#include "loader/modules.h"

#include <cstddef>
#include <cstring>
#include <set>

namespace plexus::loader {
namespace {

constexpr std::size_t kMaxName = 31;
constexpr std::uint32_t kMaxParameters = 256;
constexpr std::uint32_t kMaxParameterSize = 4096;

// [a-z][a-z0-9_]*, at most kMaxName: it becomes part of keys, files and descriptors.
bool is_name(const char* text) noexcept {
    if (!text || text[0] < 'a' || text[0] > 'z') return false;
    for (std::size_t i = 1; i <= kMaxName; ++i) {
        const char c = text[i];
        if (c == '\0') return true;
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_')) return false;
    }
    return false;
}

bool is_type(std::string_view word) noexcept {
    for (const char* type : {"bool", "count", "size", "duration", "text", "list"})
        if (word == type) return true;
    return false;
}

Result<plexus_parameter> read_parameter(const std::byte* at, std::uint32_t size, std::uint32_t index) {
    plexus_parameter parameter{};
    std::memcpy(&parameter, at, std::min<std::size_t>(size, sizeof parameter));
    if (!is_name(parameter.key))
        return fail(Status::bad_module,
                    "its parameter {} has no proper name: [a-z][a-z0-9_]*, at most {} characters", index,
                    kMaxName);
    if (!parameter.type || !is_type(parameter.type))
        return fail(Status::bad_module,
                    "its parameter {} is of the type \"{}\", not bool, count, size, duration, text or list",
                    parameter.key, parameter.type ? parameter.type : "");
    if (!parameter.preset || !parameter.help)
        return fail(Status::bad_module, "its parameter {} lacks a default or a help line", parameter.key);
    return parameter;
}

Result<std::vector<plexus_parameter>> read_parameters(const plexus_passport& passport) {
    std::vector<plexus_parameter> parameters;
    if (passport.parameter_count == 0) return parameters;
    const std::uint32_t stride = passport.parameter_size;
    if (passport.parameter_count > kMaxParameters || !passport.parameters)
        return fail(Status::bad_module, "it claims {} parameters{}", passport.parameter_count,
                    passport.parameters ? fmt::format("; {} are the most", kMaxParameters)
                                        : " and shows none");
    constexpr std::size_t kLeast = offsetof(plexus_parameter, help) + sizeof(plexus_parameter::help);
    if (stride < kLeast || stride > kMaxParameterSize || stride % alignof(plexus_parameter) != 0)
        return fail(Status::bad_module, "it claims parameters of {} bytes each; {} are the least", stride,
                    kLeast);

    std::set<std::string_view> keys;
    const auto* first = reinterpret_cast<const std::byte*>(passport.parameters);
    for (std::uint32_t i = 0; i < passport.parameter_count; ++i) {
        const auto parameter = read_parameter(first + std::size_t{i} * stride, stride, i);
        if (!parameter) return parameter.failure();
        if (!keys.insert(parameter->key).second)
            return fail(Status::bad_module, "it declares the parameter {} twice", parameter->key);
        parameters.push_back(*parameter);
    }
    return parameters;
}

Result<Module> read(const plexus_passport* passport) {
    if (!passport) return fail(Status::bad_module, "it has no passport");
    if (reinterpret_cast<std::uintptr_t>(passport) % alignof(plexus_passport) != 0 ||
        passport->magic != PLEXUS_ABI_MAGIC)
        return fail(Status::bad_module,
                    "its passport does not start with the magic number: this is no Plexus module");
    if (passport->abi_major != PLEXUS_ABI_MAJOR)
        return fail(Status::bad_module,
                    "it was built for ABI {}.{}, this library has {}.{}: rebuild the module",
                    passport->abi_major, passport->abi_minor, PLEXUS_ABI_MAJOR, PLEXUS_ABI_MINOR);
    if (passport->abi_minor > PLEXUS_ABI_MINOR)
        return fail(Status::bad_module,
                    "it was built for the newer ABI {}.{}, this library has {}.{}: use a newer library or an "
                    "older module",
                    passport->abi_major, passport->abi_minor, PLEXUS_ABI_MAJOR, PLEXUS_ABI_MINOR);
    if (!passport->ops) return fail(Status::bad_module, "its passport has no function table");
    const auto ops = seal(*passport->ops);
    if (!ops) return ops.failure();
    if (!is_name(passport->name))
        return fail(Status::bad_module,
                    "its passport has no proper name: [a-z][a-z0-9_]*, at most {} characters", kMaxName);
    auto parameters = read_parameters(*passport);
    if (!parameters) return parameters.failure();
    return Module{passport->name, {}, passport->help ? passport->help : "", *ops, std::move(*parameters)};
}

} // namespace

Result<Module> admit(const plexus_passport* passport, std::string_view origin) {
    auto module = read(passport);
    if (!module) return fail(module.status(), "{} is refused: {}", origin, module.failure().why);
    module->origin = origin;
    return module;
}

} // namespace plexus::loader
