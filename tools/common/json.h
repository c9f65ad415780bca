// SPDX-License-Identifier: BSD-3-Clause
// JSON as the tools write it: an object built member by member, in order. Writes only;
// knows nothing of what the members mean. Any thread, one object at a time.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plexus::tools::json {

/// `text` as a JSON string; bytes that are not UTF-8 become U+FFFD.
std::string quote(std::string_view text);
/// `text` on one line: as it is, or where it has control characters as a JSON string.
std::string printable(std::string_view text);
/// Six digits; "null" where JSON has no number for it.
std::string number(double value);
/// As many digits as the value needs to be read back the same; "null" where JSON has no number for it.
std::string exact(double value);
/// A list of values that are JSON already.
std::string list(const std::vector<std::string>& values);

class Object {
  public:
    /// `value` is JSON already.
    Object& raw(std::string_view key, std::string_view value);
    Object& add(std::string_view key, std::string_view value) { return raw(key, quote(value)); }
    Object& add(std::string_view key, const char* value) { return raw(key, quote(value)); }
    Object& add(std::string_view key, double value) { return raw(key, number(value)); }
    Object& add(std::string_view key, bool value) { return raw(key, value ? "true" : "false"); }
    template <std::integral Integer>
    requires(!std::same_as<Integer, bool>) Object& add(std::string_view key, Integer value) {
        return raw(key, std::to_string(value));
    }
    template <class Value>
    Object& add(std::string_view key, const std::optional<Value>& value) {
        return value ? add(key, *value) : raw(key, "null");
    }

    std::string text() const { return "{" + members_ + "}"; }

  private:
    std::string members_;
};

} // namespace plexus::tools::json
