// SPDX-License-Identifier: BSD-3-Clause
#include "plexus/error.h"
#include "tools/common/json_file.h"
#include "tools/map/models.h"

#include <fmt/format.h>

namespace plexus::tools {
namespace {

using json::Value;

[[noreturn]] void refuse(const std::string& sentence) { throw Error(Status::bad_config, sentence); }

const Value& member(const Value& object, const char* name) {
    const Value* const found = json::find(object, name);
    if (found == nullptr) refuse(fmt::format("\"{}\" is missing", name));
    return *found;
}

const Value& list(const Value& value, const std::string& name) {
    if (!value.IsArray()) refuse(name + " is no list");
    return value;
}

double number(const Value& value, const std::string& name) {
    if (!value.IsNumber()) refuse(name + " is no number");
    return value.GetDouble();
}

std::vector<std::vector<double>> matrix(const Value& object, const char* name) {
    std::vector<std::vector<double>> out;
    for (const Value& row : list(member(object, name), name).GetArray()) {
        const std::string in_row = fmt::format("{}[{}]", name, out.size());
        std::vector<double> numbers;
        for (const Value& each : list(row, in_row).GetArray())
            numbers.push_back(numbers.size() == out.size()
                                  ? 0
                                  : number(each, fmt::format("{}[{}]", in_row, numbers.size())));
        out.push_back(std::move(numbers));
    }
    return out;
}

eco::InterclusterInstance instance_in(const json::Document& document) {
    if (!document.IsObject()) refuse("an instance is an object: {\"L\": …, \"g\": …, \"T\": …, \"root\": …}");
    eco::InterclusterInstance out;
    out.latency_s = matrix(document, "L");
    out.spacing_s = matrix(document, "g");
    for (const Value& each : list(member(document, "T"), "T").GetArray())
        out.inside_s.push_back(number(each, fmt::format("T[{}]", out.inside_s.size())));
    const Value& root = member(document, "root");
    if (!root.IsUint64()) refuse("root is no cluster: it is a whole number from 0 on");
    out.root = root.GetUint64();
    eco::check(out);
    return out;
}

} // namespace

eco::InterclusterInstance load_instance(const std::string& file) {
    constexpr std::size_t kLargest = std::size_t{64} << 20;
    const json::Document document = json::load(file, kLargest, Status::bad_config);
    try {
        return instance_in(document);
    } catch (const Error& error) { refuse(fmt::format("{}: {}", file, error.what())); }
}

} // namespace plexus::tools
