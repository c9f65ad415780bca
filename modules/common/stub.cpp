// SPDX-License-Identifier: BSD-3-Clause
#include "common/stub.h"

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

// Why this implementation does not go with this stub; empty: it does. Until the magic number is known to be
// there, nothing behind it is read: the symbol of another version may be something else.
std::string misfit(const Impl& impl, std::uint32_t caps) {
    if (impl.magic != kImplMagic) return "is of another version of Plexus";
    if (impl.abi_major != PLEXUS_ABI_MAJOR || impl.abi_minor != PLEXUS_ABI_MINOR)
        return "was built for ABI " + version(impl.abi_major, impl.abi_minor) + ", this part for " +
               version(PLEXUS_ABI_MAJOR, PLEXUS_ABI_MINOR);
    if (impl.ops_size != PLEXUS_OPS_SIZE)
        return "has a function table of " + std::to_string(impl.ops_size) + " bytes, this part one of " +
               std::to_string(PLEXUS_OPS_SIZE);
    if (impl.ops->caps != caps) return "claims other abilities than this part";
    for (const Slot& slot : kSlots) {
        void (*function)() = nullptr;
        std::memcpy(&function, reinterpret_cast<const std::byte*>(impl.ops) + slot.offset, sizeof function);
        if (function == nullptr && has_function(slot.demand, caps))
            return "lacks " + std::string(slot.name) + " in its function table";
    }
    return {};
}

} // namespace

const plexus_ops* open_impl(const char* file, std::uint32_t caps, std::string& why) {
    static const char here = 0;
    Dl_info stub{};
    if (::dladdr(&here, &stub) == 0) {
        why = "the folder of this module can't be found";
        return nullptr;
    }
    const std::string path = (fs::path(stub.dli_fname).parent_path() / file).string();
    void* const object = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (object == nullptr) {
        const char* const said = ::dlerror();
        why = "its second part can't be loaded: " + std::string(said != nullptr ? said : path);
        return nullptr;
    }
    const auto* const impl = static_cast<const Impl*>(::dlsym(object, kImplSymbol));
    why = impl != nullptr ? misfit(*impl, caps) : "is no part of a module";
    if (why.empty()) return impl->ops;
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
