// SPDX-License-Identifier: BSD-3-Clause
#include "tools/common/text_table.h"

#include <algorithm>

namespace plexus::tools {

std::size_t columns_of(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char each) {
        return (static_cast<unsigned char>(each) & 0xc0) != 0x80;
    }));
}

std::vector<std::string> TextTable::lines() const {
    std::vector<std::size_t> widths(rows_.front().size(), 0);
    for (const auto& row : rows_)
        for (std::size_t at = 0; at < row.size(); ++at)
            widths[at] = std::max(widths[at], columns_of(row[at]));
    std::vector<std::string> lines;
    for (const auto& row : rows_) {
        std::string& line = lines.emplace_back();
        for (std::size_t at = 0; at < row.size(); ++at) {
            const std::string gap(widths[at] - columns_of(row[at]), ' ');
            line += at == 0 ? "" : "  ";
            line += at < left_ ? row[at] + gap : gap + row[at];
        }
        line.erase(line.find_last_not_of(' ') + 1);
    }
    return lines;
}

void TextTable::print(std::FILE* where) const {
    for (const std::string& line : lines()) std::fprintf(where, "%s\n", line.c_str());
}

} // namespace plexus::tools
