// SPDX-License-Identifier: BSD-3-Clause
// Names from files and command lines, for messages.
#pragma once

#include <string>

namespace plexus::eco {

/// In quotation marks; a control character becomes a question mark, so that a name makes no line of its own.
inline std::string shown(std::string name) {
    for (char& each : name)
        if (static_cast<unsigned char>(each) < 0x20 || each == 0x7f) each = '?';
    return '"' + name + '"';
}

} // namespace plexus::eco
