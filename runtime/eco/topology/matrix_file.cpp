// SPDX-License-Identifier: BSD-3-Clause
#include "topology/matrix_file.h"

#include "topology/refuse.h"

#include <charconv>
#include <cmath>
#include <optional>

namespace plexus::eco {
namespace {

constexpr std::string_view kBlanks = " \t\r\v\f";

/// Lines that say something, as words, with their numbers.
class Lines {
  public:
    explicit Lines(std::string_view text)
      : rest_(text) {}

    /// False: there is none left.
    bool next() {
        while (!rest_.empty()) {
            std::string_view line = rest_.substr(0, rest_.find('\n'));
            rest_.remove_prefix(std::min(line.size() + 1, rest_.size()));
            ++number_;
            line = line.substr(0, line.find('#'));
            words_.clear();
            while (true) {
                line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
                if (line.empty()) break;
                words_.push_back(line.substr(0, line.find_first_of(kBlanks)));
                line.remove_prefix(words_.back().size());
            }
            if (!words_.empty()) return true;
        }
        return false;
    }

    const std::vector<std::string_view>& words() const noexcept { return words_; }
    std::size_t number() const noexcept { return number_; }

  private:
    std::string_view rest_;
    std::vector<std::string_view> words_;
    std::size_t number_ = 0;
};

template <class Number>
std::optional<Number> number_in(std::string_view word) {
    Number value{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size()) return {};
    return value;
}

Map read_head(const Lines& lines, const std::string& name) {
    const auto& words = lines.words();
    const auto hosts = number_in<std::size_t>(words.front());
    if (!hosts || *hosts == 0 || *hosts > kMaxHosts)
        refuse(Status::bad_config, "{}:{}: a matrix has 1 to {} hosts, not {}", name, lines.number(),
               kMaxHosts, words.front());
    if (words.size() != *hosts + 1)
        refuse(Status::bad_config, "{}:{}: {} hosts are announced and {} are named", name, lines.number(),
               *hosts, words.size() - 1);
    try {
        return Map({words.begin() + 1, words.end()}, {}, {0}, {});
    } catch (const Error& error) {
        refuse(Status::bad_config, "{}:{}: {}", name, lines.number(), error.what());
    }
}

} // namespace

bool looks_like_matrix(std::string_view text) {
    Lines lines(text);
    if (!lines.next()) return false;
    const auto& words = lines.words();
    const bool number = words.front().find_first_not_of("0123456789") == std::string_view::npos;
    return number && (words.size() == 1 || words[1].front() != '=');
}

Map read_matrix(std::string_view text, const std::string& name) {
    Lines lines(text);
    if (!lines.next())
        refuse(Status::bad_config, "{}: the file is empty: it begins with the number of hosts", name);
    Map map = read_head(lines, name);
    const std::vector<std::string>& hosts = map.hosts();
    for (std::size_t row = 0; row < hosts.size(); ++row) {
        if (!lines.next())
            refuse(Status::bad_config, "{}:{}: the file ends before the row of {}: {} of {} rows are there",
                   name, lines.number(), hosts[row], row, hosts.size());
        const auto& words = lines.words();
        if (words.size() != hosts.size())
            refuse(Status::bad_config, "{}:{}: the row of {} has {} numbers instead of {}", name,
                   lines.number(), hosts[row], words.size(), hosts.size());
        for (std::size_t column = 0; column < words.size(); ++column) {
            const std::string_view word = words[column];
            if (column == row || word == "-" || word == "inf") continue;
            const auto cost = number_in<double>(word);
            if (!cost || !std::isfinite(*cost))
                refuse(Status::bad_config,
                       "{}:{}: {} to {}: \"{}\" is no cost: it is a number, or - where nothing was measured",
                       name, lines.number(), hosts[row], hosts[column], word);
            if (*cost < 0)
                refuse(Status::bad_config, "{}:{}: {} to {}: the cost {} is negative", name, lines.number(),
                       hosts[row], hosts[column], word);
            const double value = std::abs(*cost); // -0 is 0
            map.set(0, row, column, {value, value, value, value, value, 1, Cost::kNoMethod});
        }
    }
    if (lines.next())
        refuse(Status::bad_config, "{}:{}: there is more than the {} rows of {} hosts", name, lines.number(),
               hosts.size(), hosts.size());
    return map;
}

} // namespace plexus::eco
