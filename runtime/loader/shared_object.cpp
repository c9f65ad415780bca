// SPDX-License-Identifier: BSD-3-Clause
#include "loader/shared_object.h"

#include "base/log.h"
#include "loader/modules.h"

#include <dlfcn.h>
#include <link.h>

namespace plexus::loader {

namespace fs = std::filesystem;

Result<const plexus_passport*> open_passport(const fs::path& file) {
    const std::string name = file.string();
    std::error_code error;
    const fs::file_status status = fs::status(file, error);
    if (!fs::exists(status))
        return fail(Status::bad_module, "{} is refused: {}", name,
                    error ? error.message() : "there is no such file");
    if (!fs::is_regular_file(status))
        return fail(Status::bad_module, "{} is refused: it is not a file", name);

    // With a slash in its name no search path has a say.
    const fs::path whole = fs::absolute(file, error);
    void* object = ::dlopen(whole.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!object) return fail(Status::bad_module, "{} is refused: it can't be loaded: {}", name, ::dlerror());

    const void* symbol = ::dlsym(object, PLEXUS_PASSPORT_SYMBOL);
    if (!symbol)
        return fail(Status::bad_module,
                    "{} is refused: it is a library without a passport ({}), not a Plexus module", name,
                    PLEXUS_PASSPORT_SYMBOL);
    // Whatever has that name may be smaller than a passport: do not read past its end.
    Dl_info info{};
    void* extra = nullptr;
    if (::dladdr1(symbol, &info, &extra, RTLD_DL_SYMENT) != 0 && extra) {
        const auto bytes = static_cast<const ElfW(Sym)*>(extra)->st_size;
        if (bytes != 0 && bytes < sizeof(plexus_passport))
            return fail(Status::bad_module, "{} is refused: its passport has {} bytes, not {}", name, bytes,
                        sizeof(plexus_passport));
    }
    return static_cast<const plexus_passport*>(symbol);
}

namespace {

// The file that this code is part of: the shared library, or a program that took it in.
fs::path own_file() {
    Dl_info info{};
    void* extra = nullptr;
    std::error_code error;
    static const char anchor = 0; // its address is in this very object
    if (::dladdr1(&anchor, &info, &extra, RTLD_DL_LINKMAP) != 0 && extra) {
        const char* name = static_cast<const link_map*>(extra)->l_name;
        if (name && *name) return fs::canonical(name, error); // the program itself has an empty name
    }
    return fs::read_symlink("/proc/self/exe", error);
}

} // namespace

// Weak: a program that has the rooms linked in, as tests do, may say where its modules are.
[[gnu::weak]] std::vector<fs::path> default_module_path() {
    const fs::path file = own_file();
    if (file.empty()) return {};
    return {file.parent_path() / "plexus" / fmt::format("modules-abi{}", PLEXUS_ABI_MAJOR)};
}

} // namespace plexus::loader
