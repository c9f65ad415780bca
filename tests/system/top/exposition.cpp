// SPDX-License-Identifier: BSD-3-Clause
#include "system/top/exposition.h"

#include "runtime/base/utf8.h"

#include <cctype>
#include <charconv>
#include <cmath>
#include <stdexcept>

namespace plexus::testing {
namespace {

class Line {
  public:
    explicit Line(std::string_view text)
      : text_(text) {}

    bool take(std::string_view part) {
        if (!text_.starts_with(part)) return false;
        text_.remove_prefix(part.size());
        return true;
    }
    void need(std::string_view part) {
        if (!take(part))
            throw std::runtime_error("no \"" + std::string(part) + "\" at " + std::string(text_));
    }
    std::string name() {
        std::size_t size = 0;
        while (size < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[size])) != 0 ||
                                       text_[size] == '_' || (text_[size] == ':' && size > 0)))
            ++size;
        if (size == 0 || std::isdigit(static_cast<unsigned char>(text_[0])) != 0)
            throw std::runtime_error("no name at " + std::string(text_));
        std::string found(text_.substr(0, size));
        text_.remove_prefix(size);
        return found;
    }
    /// Up to `end`, with what is escaped.
    std::string text(char end, std::string_view escapes) {
        std::string found;
        while (!text_.empty() && text_[0] != end) {
            if (take("\\")) {
                if (text_.empty() || escapes.find(text_[0]) == escapes.npos)
                    throw std::runtime_error("a wrong escape");
                found += text_[0] == 'n' ? '\n' : text_[0];
                text_.remove_prefix(1);
                continue;
            }
            const std::size_t size = utf8_character(text_);
            if (size == 0) throw std::runtime_error("it is no UTF-8");
            found += text_.substr(0, size);
            text_.remove_prefix(size);
        }
        return found;
    }
    double number() {
        double found = 0;
        const auto read = std::from_chars(text_.data(), text_.data() + text_.size(), found);
        if (read.ec != std::errc() || read.ptr != text_.data() + text_.size() || !std::isfinite(found))
            throw std::runtime_error("no number at " + std::string(text_));
        text_ = {};
        return found;
    }

  private:
    std::string_view text_;
};

bool ends_in(const std::string& name, std::string_view end) { return name.ends_with(end); }

void check_name(const std::string& name, const std::string& type) {
    if (type != "counter" && type != "gauge") throw std::runtime_error(name + " is a " + type);
    if ((type == "counter") != ends_in(name, "_total"))
        throw std::runtime_error(name + " is a " + type + ": counters end in _total, and they alone");
    for (const char* unit : {"_ns", "_us", "_ms", "_milliseconds", "_nanoseconds", "_kib", "_count", "_sum"})
        if (ends_in(name, unit)) throw std::runtime_error(name + " has no base unit");
}

void read_line(Exposition& all, std::string& present, Line line) {
    if (line.take("# HELP ")) {
        const std::string name = line.name();
        line.need(" ");
        present = name;
        if (!all.try_emplace(name).second) throw std::runtime_error(name + " comes twice");
        all[name].help = line.text('\n', "\\n");
        if (all[name].help.empty()) throw std::runtime_error(name + " has no help");
    } else if (line.take("# TYPE ")) {
        const std::string name = line.name();
        if (name != present) throw std::runtime_error(name + " has a type before its help");
        line.need(" ");
        if (!all[name].type.empty() || !all[name].values.empty())
            throw std::runtime_error(name + " has a type too late");
        all[name].type = line.text('\n', "");
        check_name(name, all[name].type);
    } else {
        const std::string name = line.name();
        if (name != present || all[name].type.empty()) throw std::runtime_error(name + " has no type");
        std::map<std::string, std::string> labels;
        line.need("{");
        do {
            const std::string label = line.name();
            line.need("=\"");
            if (!labels.emplace(label, line.text('"', "\\\"n")).second)
                throw std::runtime_error(label + " comes twice");
            line.need("\"");
        } while (line.take(","));
        line.need("} ");
        if (!all[name].values.emplace(labels, line.number()).second)
            throw std::runtime_error("two values of " + name + " have the same labels");
    }
}

} // namespace

std::optional<Exposition> read_exposition(std::string_view text, std::string& why) {
    Exposition all;
    std::string present;
    try {
        if (text.empty() || text.back() != '\n') throw std::runtime_error("no line end at the end");
        while (!text.empty()) {
            const std::size_t end = text.find('\n');
            read_line(all, present, Line(text.substr(0, end)));
            text.remove_prefix(end + 1);
        }
    } catch (const std::runtime_error& error) {
        why = error.what();
        return {};
    }
    return all;
}

} // namespace plexus::testing
