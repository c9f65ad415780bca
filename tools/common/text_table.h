// SPDX-License-Identifier: BSD-3-Clause
// A table in plain text: columns as wide as their widest cell, words to the left, numbers to the right.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

namespace plexus::tools {

class TextTable {
  public:
    /// `left`: how many columns, from the first on, are text and not numbers.
    explicit TextTable(std::vector<std::string> head, std::size_t left = 1)
      : left_(left) {
        rows_.push_back(std::move(head));
    }

    /// As many cells as the head has.
    void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
    /// Without the head.
    std::size_t rows() const noexcept { return rows_.size() - 1; }
    /// The head first.
    std::vector<std::string> lines() const;
    void print(std::FILE* where) const;

  private:
    std::size_t left_;
    std::vector<std::vector<std::string>> rows_;
};

/// How many columns a terminal uses for `text`: its UTF-8 characters.
std::size_t columns_of(const std::string& text);

} // namespace plexus::tools
