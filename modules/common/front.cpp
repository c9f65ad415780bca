// SPDX-License-Identifier: BSD-3-Clause
#include "common/front.h"

#include <array>
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

} // namespace

const plexus_ops* open_body(const char* file, std::string& why) {
    static const char here = 0;
    Dl_info front{};
    if (::dladdr(&here, &front) == 0) {
        why = "the folder of this module can't be found";
        return nullptr;
    }
    const std::string path = (fs::path(front.dli_fname).parent_path() / file).string();
    void* const object = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    const void* const symbol = object != nullptr ? ::dlsym(object, "plexus_module_body") : nullptr;
    if (symbol == nullptr) {
        const char* const said = ::dlerror();
        why = "its second part can't be loaded: " + std::string(said != nullptr ? said : path);
        return nullptr;
    }
    return *static_cast<const plexus_ops* const*>(symbol);
}

bool nothing_to_reach(const plexus_host& host, std::initializer_list<const char*> parameters) {
    for (const char* parameter : parameters)
        if (!setting(host, parameter).empty()) return false;
    for (const char* folder : kDeviceFolders)
        if (has_entries(folder)) return false;
    return true;
}

} // namespace plexus::module
