// SPDX-License-Identifier: BSD-3-Clause
#include "tools/common/output.h"

#include "plexus/error.h"
#include "runtime/base/replace_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <memory>

namespace plexus::tools {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot_write(const std::string& file, const std::string& why) {
    throw Error(Status::not_found, fmt::format("{} cannot be written: {}", file, why));
}

void write_stream(std::FILE* stream, std::string_view text, const std::string& name) {
    if (std::fwrite(text.data(), 1, text.size(), stream) != text.size() || std::fflush(stream) != 0)
        cannot_write(name, std::strerror(errno));
}

} // namespace

void check_output(const std::string& file) {
    if (file.empty() || file == "-") return;
    std::error_code none;
    const fs::path folder = fs::path(file).parent_path();
    if (fs::is_directory(file, none)) cannot_write(file, "it is a folder");
    if (!folder.empty() && !fs::is_directory(folder, none))
        cannot_write(file, "there is no folder " + folder.string());
}

void write_output(std::string_view text, const std::string& file) {
    std::error_code none;
    if (file == "-") {
        write_stream(stdout, text, "standard output");
    } else if (const fs::file_status there = fs::status(file, none);
               fs::exists(there) && !fs::is_regular_file(there)) {
        std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::fopen(file.c_str(), "w"), std::fclose);
        if (stream == nullptr) cannot_write(file, std::strerror(errno));
        write_stream(stream.get(), text, file);
        if (std::fclose(stream.release()) != 0) cannot_write(file, std::strerror(errno));
    } else {
        replace_file(file, text);
    }
}

} // namespace plexus::tools
