// SPDX-License-Identifier: BSD-3-Clause
// Reads a file that the user names. A header alone: tools and ECO do not see the library's internal symbols.
#pragma once

#include "plexus/error.h"

#include <cerrno>
#include <cstddef>
#include <fstream>
#include <string>
#include <system_error>

namespace plexus {

/// The whole file, of at most `most` bytes. `larger` ends the sentence about a file above that, such as
/// "is larger than a megabyte: that is no table". Reads in pieces: also a file without end is refused.
/// @thread any
/// @error not_found it cannot be opened or read (thrown, with the system's text)
/// @error too_large it has more than `most` bytes (thrown)
inline std::string read_bounded_file(const std::string& path, std::size_t most, const std::string& larger) {
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    std::string text;
    for (char piece[1 << 16]; file && text.size() <= most;) {
        file.read(piece, sizeof piece);
        text.append(piece, static_cast<std::size_t>(file.gcount()));
    }
    if (!file.is_open() || file.bad()) {
        const std::string why = std::generic_category().message(errno != 0 ? errno : EIO);
        throw Error(Status::not_found, path + " cannot be read: " + why);
    }
    if (text.size() > most) throw Error(Status::too_large, path + " " + larger);
    return text;
}

} // namespace plexus
