// SPDX-License-Identifier: BSD-3-Clause
#include "config/trust.h"

#include "base/unique_fd.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace plexus::config {

namespace fs = std::filesystem;

namespace {

std::optional<std::string> distrust_owner(const struct stat& about, std::string_view what,
                                          const std::string& name) {
    if (about.st_uid != ::geteuid() && about.st_uid != 0)
        return fmt::format("the {} {} belongs to user {}", what, name, about.st_uid);
    if ((about.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return fmt::format("others may write to the {} {} (chmod go-w on it ends that)", what, name);
    return {};
}

fs::path folder_of(const fs::path& file) { return file.has_parent_path() ? file.parent_path() : "."; }

} // namespace

std::optional<std::string> distrust_folder(const std::string& path) {
    const fs::path folder = folder_of(path);
    std::error_code error;
    fs::path whole = fs::absolute(folder, error).lexically_normal();
    if (whole.has_relative_path() && !whole.has_filename()) whole = whole.parent_path(); // "/a/" is "/a"
    const UniqueFd fd(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    struct stat about {};
    if (!fd || ::fstat(fd.get(), &about) != 0)
        return fmt::format("its folder {} cannot be examined: {}", whole.string(),
                           std::system_category().message(errno));
    return distrust_owner(about, "folder", whole.string());
}

std::optional<std::string> distrust(int fd, const std::string& path) {
    // Of the file that is open, not of the path, which may lead elsewhere by now.
    struct stat about {};
    if (::fstat(fd, &about) != 0)
        return fmt::format("it cannot be examined: {}", std::system_category().message(errno));
    if (auto why = distrust_folder(path)) return why;
    if (auto why = distrust_owner(about, "file", path)) return why;
    std::error_code error;
    fs::path real = fs::read_symlink(fmt::format("/proc/self/fd/{}", fd), error);
    if (error) real = fs::canonical(path, error); // without /proc
    if (error) return fmt::format("where it lies cannot be found out: {}", error.message());
    return distrust_folder(real.string());
}

bool needs_named_file(std::string_view key) noexcept {
    if (key == "module_path" || key == "job.key_file" || key == "listen" || key == "forward.allow")
        return true;
    if (!key.starts_with("method.")) return false;
    // Who is let in and by what, and through whom messages go, by whatever method.
    static constexpr std::string_view kWithheld[] = {".listen", ".key",   ".certificate", ".ca",
                                                     ".crl",    ".names", ".via"};
    return std::any_of(std::begin(kWithheld), std::end(kWithheld),
                       [&](std::string_view each) { return key.ends_with(each); });
}

} // namespace plexus::config
