// SPDX-License-Identifier: BSD-3-Clause
#include "system/tools/json_text.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <system_error>

namespace plexus::testing {
namespace {

/// Each function takes what it is named for off the front; false where it is not there.
class Reader {
  public:
    explicit Reader(std::string_view text)
      : rest_(text) {}

    bool value() {
        blanks();
        if (rest_.empty()) return false;
        switch (rest_.front()) {
        case '{':
            return list('}', [this] { return string() && sign(':') && value(); });
        case '[':
            return list(']', [this] { return value(); });
        case '"':
            return string();
        case 't':
            return word("true");
        case 'f':
            return word("false");
        case 'n':
            return word("null");
        default:
            return number();
        }
    }
    bool end() {
        blanks();
        return rest_.empty();
    }
    std::string_view rest() const { return rest_; }

  private:
    void blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }
    bool sign(char wanted) {
        blanks();
        if (rest_.empty() || rest_.front() != wanted) return false;
        rest_.remove_prefix(1);
        return true;
    }
    bool word(std::string_view wanted) {
        if (!rest_.starts_with(wanted)) return false;
        rest_.remove_prefix(wanted.size());
        return true;
    }
    template <class Member>
    bool list(char closing, Member member) {
        rest_.remove_prefix(1);
        if (sign(closing)) return true;
        do {
            blanks();
            if (!member()) return false;
        } while (sign(','));
        return sign(closing);
    }
    bool string() {
        if (!sign('"')) return false;
        while (!rest_.empty() && rest_.front() != '"') {
            if (static_cast<unsigned char>(rest_.front()) < 0x20) return false;
            const bool escaped = rest_.front() == '\\';
            rest_.remove_prefix(1);
            if (!escaped) continue;
            if (rest_.empty() || std::string_view("\"\\/bfnrtu").find(rest_.front()) == rest_.npos)
                return false;
            const std::size_t digits = rest_.front() == 'u' ? 4 : 0;
            rest_.remove_prefix(1);
            if (rest_.size() < digits ||
                rest_.substr(0, digits).find_first_not_of("0123456789abcdefABCDEF") != rest_.npos)
                return false;
            rest_.remove_prefix(digits);
        }
        return sign('"');
    }
    bool digits() {
        const std::size_t count = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
        rest_.remove_prefix(count);
        return count > 0;
    }
    bool number() {
        if (!rest_.empty() && rest_.front() == '-') rest_.remove_prefix(1);
        if (rest_.size() > 1 && rest_[0] == '0' && rest_[1] >= '0' && rest_[1] <= '9') return false;
        if (!digits()) return false;
        if (!rest_.empty() && rest_.front() == '.') {
            rest_.remove_prefix(1);
            if (!digits()) return false;
        }
        if (rest_.empty() || (rest_.front() != 'e' && rest_.front() != 'E')) return true;
        rest_.remove_prefix(1);
        if (!rest_.empty() && (rest_.front() == '+' || rest_.front() == '-')) rest_.remove_prefix(1);
        return digits();
    }

    std::string_view rest_;
};

} // namespace

bool is_json(std::string_view text) {
    Reader reader(text);
    return reader.value() && reader.end();
}

std::optional<std::string> value_of(std::string_view object, std::string_view key) {
    std::string mark(1, '"');
    mark.append(key).append("\":");
    const std::size_t at = object.find(mark);
    if (at == object.npos) return {};
    const std::string_view from = object.substr(at + mark.size());
    Reader reader(from);
    if (!reader.value()) return {};
    return std::string(from.substr(0, from.size() - reader.rest().size()));
}

std::optional<double> number_of(std::string_view object, std::string_view key) {
    const auto text = value_of(object, key);
    if (!text) return {};
    double value = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    if (error != std::errc{} || end != text->data() + text->size()) return {};
    return value;
}

} // namespace plexus::testing
