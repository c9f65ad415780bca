// SPDX-License-Identifier: BSD-3-Clause
#include "common/front.h"

#include <array>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>

namespace plexus::module {
namespace {

namespace fs = std::filesystem;

// Where the kernel shows what a fabric's library can reach: InfiniBand, RoCE, EFA, Omni-Path, usNIC;
// Slingshot; Aries.
constexpr std::array kDeviceFolders{"/sys/class/infiniband", "/sys/class/cxi", "/sys/class/gni"};

bool has_entries(const char* folder) {
    std::error_code error;
    const fs::directory_iterator first(folder, error);
    return !error && first != fs::directory_iterator();
}

std::string version(std::uint32_t major, std::uint32_t minor) {
    return std::to_string(major) + "." + std::to_string(minor);
}

// Why this body does not go with this front; empty: it does. Until the magic number is known to be there,
// nothing behind it is read: bodies once had a bare pointer here.
std::string misfit(const Body& body, std::uint32_t caps) {
    if (body.magic != kBodyMagic) return "is of another version of Plexus";
    if (body.abi_major != PLEXUS_ABI_MAJOR || body.abi_minor != PLEXUS_ABI_MINOR)
        return "was built for ABI " + version(body.abi_major, body.abi_minor) + ", this part for " +
               version(PLEXUS_ABI_MAJOR, PLEXUS_ABI_MINOR);
    if (body.ops_size != PLEXUS_OPS_SIZE)
        return "has a function table of " + std::to_string(body.ops_size) + " bytes, this part one of " +
               std::to_string(PLEXUS_OPS_SIZE);
    if (body.ops->caps != caps) return "claims other abilities than this part";
    for (const Slot& slot : kSlots) {
        void (*function)() = nullptr;
        std::memcpy(&function, reinterpret_cast<const std::byte*>(body.ops) + slot.offset, sizeof function);
        if (function == nullptr && has_function(slot.demand, caps))
            return "lacks " + std::string(slot.name) + " in its function table";
    }
    return {};
}

} // namespace

const plexus_ops* open_body(const char* file, std::uint32_t caps, std::string& why) {
    static const char here = 0;
    Dl_info front{};
    if (::dladdr(&here, &front) == 0) {
        why = "the folder of this module can't be found";
        return nullptr;
    }
    const std::string path = (fs::path(front.dli_fname).parent_path() / file).string();
    void* const object = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (object == nullptr) {
        const char* const said = ::dlerror();
        why = "its second part can't be loaded: " + std::string(said != nullptr ? said : path);
        return nullptr;
    }
    const auto* const body = static_cast<const Body*>(::dlsym(object, kBodySymbol));
    why = body != nullptr ? misfit(*body, caps) : "is no part of a module";
    if (why.empty()) return body->ops;
    why = "its second part, " + path + ", " + why + ": install both parts from one build of Plexus";
    return nullptr;
}

bool nothing_to_reach(const plexus_host& host, std::initializer_list<const char*> parameters) {
    for (const char* parameter : parameters)
        if (!setting(host, parameter).empty()) return false;
    for (const char* folder : kDeviceFolders)
        if (has_entries(folder)) return false;
    return true;
}

} // namespace plexus::module
