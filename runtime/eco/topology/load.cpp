// SPDX-License-Identifier: BSD-3-Clause
#include "base/bounded_file.h"
#include "plexus/eco/map.h"
#include "topology/matrix_file.h"
#include "topology/refuse.h"
#include "topology/toml_file.h"

namespace plexus::eco {

Map read_map(std::string_view text, const std::string& name) {
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
        refuse(Status::bad_config, "{}: the file is empty: this is no map", name);
    return looks_like_matrix(text) ? read_matrix(text, name) : read_toml(text, name);
}

Map load_map(const std::string& path) {
    constexpr std::size_t kLargest = std::size_t{1} << 30;
    return read_map(read_bounded_file(path, kLargest, "is larger than a gigabyte: that is no map"), path);
}

} // namespace plexus::eco
