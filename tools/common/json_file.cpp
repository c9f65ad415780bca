// SPDX-License-Identifier: BSD-3-Clause
#include "tools/common/json_file.h"

#include "runtime/base/bounded_file.h"

#include <algorithm>
#include <fmt/format.h>

namespace plexus::tools::json {

std::size_t values_in(std::string_view text) noexcept {
    return 1 + static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char each) {
               return each == ',' || each == '[' || each == '{' || each == ':';
           }));
}

Document load(const std::string& file, std::size_t most_bytes, Status malformed) {
    constexpr unsigned kFlags =
        reader::kParseFullPrecisionFlag | reader::kParseIterativeFlag | reader::kParseValidateEncodingFlag;
    const std::string text =
        read_bounded_file(file, most_bytes, fmt::format("is larger than {} MiB", most_bytes >> 20));
    if (values_in(text) > kMostValues)
        throw Error(Status::too_large, fmt::format("{} holds more than {} values", file, kMostValues));
    Document document;
    document.Parse<kFlags>(text.data(), text.size());
    if (!document.HasParseError()) return document;
    const auto end =
        text.begin() + static_cast<std::ptrdiff_t>(std::min(document.GetErrorOffset(), text.size()));
    throw Error(malformed, fmt::format("{}:{}: {}", file, 1 + std::count(text.begin(), end, '\n'),
                                       document.GetParseError() == reader::kParseErrorNumberTooBig
                                           ? "the number is too large"
                                           : "this is no JSON (which has neither NaN nor infinity)"));
}

const Value* find(const Value& object, const char* name) {
    const auto found = object.FindMember(name);
    return found == object.MemberEnd() ? nullptr : &found->value;
}

} // namespace plexus::tools::json
