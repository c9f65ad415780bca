// SPDX-License-Identifier: BSD-3-Clause
#include "tools/map/show/text.h"

namespace plexus::tools::show {

std::string in_xml(std::string_view text) {
    std::string out;
    for (const char each : text) {
        switch (each) {
        case '&':
            out += "&amp;";
            break;
        case '<':
            out += "&lt;";
            break;
        case '>':
            out += "&gt;";
            break;
        case '"':
            out += "&quot;";
            break;
        default:
            out += each;
        }
    }
    return out;
}

std::string in_dot(std::string_view text) {
    std::string out = "\"";
    for (const char each : text) {
        if (each == '"' || each == '\\') out += '\\';
        out += each;
    }
    return out + '"';
}

} // namespace plexus::tools::show
