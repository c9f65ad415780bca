// SPDX-License-Identifier: BSD-3-Clause
#include "plexus/eco/map.h"
#include "topology/matrix_file.h"
#include "topology/refuse.h"
#include "topology/toml_file.h"

#include <cerrno>
#include <fstream>
#include <system_error>

namespace plexus::eco {

Map read_map(std::string_view text, const std::string& name) {
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
        refuse(Status::bad_config, "{}: the file is empty: this is no map", name);
    return looks_like_matrix(text) ? read_matrix(text, name) : read_toml(text, name);
}

Map load_map(const std::string& path) {
    constexpr std::uintmax_t kLargest = std::uintmax_t{1} << 30;
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    std::string text;
    // In pieces, so that a file without end is refused and not swallowed.
    for (char piece[1 << 16]; file && text.size() <= kLargest;) {
        file.read(piece, sizeof piece);
        text.append(piece, static_cast<std::size_t>(file.gcount()));
    }
    if (!file.is_open() || file.bad())
        refuse(Status::not_found, "{} cannot be read: {}", path,
               std::generic_category().message(errno != 0 ? errno : EIO));
    if (text.size() > kLargest)
        refuse(Status::too_large, "{} is larger than a gigabyte: that is no map", path);
    return read_map(text, path);
}

} // namespace plexus::eco
