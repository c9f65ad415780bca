// SPDX-License-Identifier: BSD-3-Clause
#include "tools/lab/network_file.h"

#include "plexus/error.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <initializer_list>
#include <toml++/toml.h>

namespace plexus::tools::lab {
namespace {

using Names = std::initializer_list<std::string_view>;

class Reader {
  public:
    explicit Reader(const std::string& origin)
      : origin_(origin) {}

    Network read(std::string_view text) {
        const toml::table root = parse(text);
        expect_keys(root, "a network", {"summary", "mtu", "overhead", "segment", "bridge", "link"});
        const std::size_t slash = origin_.rfind('/');
        network_.name = origin_.substr(slash == std::string::npos ? 0 : slash + 1);
        if (network_.name.ends_with(".toml")) network_.name.resize(network_.name.size() - 5);
        network_.summary = text_of(root, "summary", "");
        network_.mtu = number_of(root, "mtu", network_.mtu);
        network_.overhead_bytes = number_of(root, "overhead", network_.overhead_bytes);
        for (const toml::table* one : tables(root, "segment")) add_segment(*one);
        for (const toml::table* one : tables(root, "bridge")) add_bridge(*one);
        add_ports();
        for (const toml::table* one : tables(root, "link")) add_link(*one);
        check(network_);
        return std::move(network_);
    }

  private:
    [[noreturn]] void refuse(const toml::node& where, const std::string& sentence) const {
        throw Error(Status::bad_config,
                    fmt::format("{}:{}: {}", origin_, where.source().begin.line, sentence));
    }

    toml::table parse(std::string_view text) const {
        try {
            return toml::parse(text, origin_);
        } catch (const toml::parse_error& error) {
            throw Error(Status::bad_config,
                        fmt::format("{}:{}: {}", origin_, error.source().begin.line, error.description()));
        }
    }

    void expect_keys(const toml::table& table, const char* what, Names known) const {
        for (const auto& [key, node] : table)
            if (std::find(known.begin(), known.end(), key.str()) == known.end())
                refuse(node, fmt::format("unknown key \"{}\": {} takes {}", key.str(), what,
                                         fmt::join(known.begin(), known.end(), ", ")));
    }

    std::vector<const toml::table*> tables(const toml::table& root, std::string_view key) const {
        std::vector<const toml::table*> all;
        const toml::node* node = root.get(key);
        if (node == nullptr) return all;
        const toml::array* array = node->as_array();
        if (array == nullptr || !array->is_homogeneous<toml::table>())
            refuse(*node, fmt::format("write each {0} as a table of its own, below a line [[{0}]]", key));
        for (const toml::node& one : *array) all.push_back(one.as_table());
        return all;
    }

    std::string text_of(const toml::table& table, std::string_view key, std::string otherwise) const {
        const toml::node* node = table.get(key);
        if (node == nullptr) return otherwise;
        if (!node->is_string()) refuse(*node, fmt::format("{} is a text in quotes", key));
        return node->as_string()->get();
    }

    std::uint32_t number_of(const toml::table& table, std::string_view key, std::uint32_t otherwise) const {
        const toml::node* node = table.get(key);
        if (node == nullptr) return otherwise;
        const auto number = node->value_exact<std::int64_t>();
        if (!number || *number < 0 || *number > 1'000'000)
            refuse(*node, fmt::format("{} is a whole number between 0 and a million", key));
        return static_cast<std::uint32_t>(*number);
    }

    std::string name_of(const toml::table& table, const char* what) const {
        if (table.get("name") == nullptr) refuse(table, fmt::format("this {} has no name", what));
        return text_of(table, "name", "");
    }

    /// A quantity with its unit, read by `read_one`, which takes texts of this form.
    template <class Parse, class Value>
    void quantity(const toml::table& table, std::string_view key, const char* form, Parse read_one,
                  Value& value) const {
        const toml::node* node = table.get(key);
        if (node == nullptr) return;
        const auto read = node->is_string() ? read_one(node->as_string()->get()) : std::nullopt;
        if (!read) refuse(*node, fmt::format("{} is {}", key, form));
        value = *read;
    }

    Speed speed_of(const toml::table& table) const {
        Speed speed;
        quantity(table, "rate", kRateForm, parse_rate, speed.bits_per_second);
        quantity(table, "delay", kTimeForm, parse_time, speed.delay);
        quantity(table, "queue", kQueueForm, parse_queue, speed.queue_bytes);
        return speed;
    }

    std::vector<std::string> list_of(const toml::table& table, std::string_view key, const char* like) const {
        const toml::node* node = table.get(key);
        if (node == nullptr) refuse(table, fmt::format("\"{}\" is missing: write it like {}", key, like));
        const toml::array* array = node->as_array();
        if (array == nullptr || !array->is_homogeneous<std::string>())
            refuse(*node, fmt::format("{} is a list of names like {}", key, like));
        std::vector<std::string> names;
        for (const toml::node& one : *array) names.push_back(one.as_string()->get());
        return names;
    }

    void add_segment(const toml::table& table) {
        expect_keys(table, "a segment", {"name", "kind", "rate", "delay", "queue", "hosts"});
        Place place{name_of(table, "segment"), Place::Kind::switched, speed_of(table)};
        const std::string kind = text_of(table, "kind", "switched");
        if (kind != "switched" && kind != "shared")
            refuse(*table.get("kind"), fmt::format("kind is \"shared\" or \"switched\", not \"{}\"", kind));
        if (kind == "shared") place.kind = Place::Kind::shared;
        const toml::node* hosts = table.get("hosts");
        if (hosts != nullptr && hosts->is_integer()) {
            const std::uint32_t count = number_of(table, "hosts", 0);
            if (count > kMostHosts) refuse(*hosts, fmt::format("at most {} hosts", kMostHosts));
            for (std::uint32_t i = 1; i <= count; ++i)
                network_.hosts.push_back({fmt::format("{}-{}", place.name, i), network_.places.size()});
        } else if (hosts != nullptr) {
            for (std::string& name : list_of(table, "hosts", "[\"a\", \"b\"]"))
                network_.hosts.push_back({std::move(name), network_.places.size()});
        }
        network_.places.push_back(std::move(place));
    }

    void add_bridge(const toml::table& table) {
        expect_keys(table, "a bridge", {"name", "joins", "rate", "delay", "queue"});
        const std::size_t self = network_.places.size();
        network_.places.push_back({name_of(table, "bridge"), Place::Kind::bridge, speed_of(table)});
        // A bridge at the ends of links only has no ports.
        if (table.get("joins") == nullptr) return;
        for (const std::string& name : list_of(table, "joins", "[\"segment-a\", \"segment-b\"]"))
            ports_.push_back({table.get("joins"), self, name});
    }

    void add_ports() {
        for (const Port& port : ports_) {
            Link link;
            link.a = port.bridge;
            link.b = place_named(*port.where, port.joins);
            link.is_port = true;
            link.name = fmt::format("{}:{}", network_.places[link.a].name, port.joins);
            network_.links.push_back(link);
        }
    }

    void add_link(const toml::table& table) {
        expect_keys(table, "a link", {"name", "between", "rate", "delay", "queue", "duplex"});
        const auto ends = list_of(table, "between", "[\"one\", \"other\"]");
        if (ends.size() != 2) refuse(*table.get("between"), "a link is between two places");
        const std::string duplex = text_of(table, "duplex", "full");
        if (duplex != "full" && duplex != "half")
            refuse(*table.get("duplex"), fmt::format("duplex is \"full\" or \"half\", not \"{}\"", duplex));
        Link link;
        link.name = name_of(table, "link");
        link.a = place_named(*table.get("between"), ends[0]);
        link.b = place_named(*table.get("between"), ends[1]);
        link.speed = speed_of(table);
        link.half_duplex = duplex == "half";
        network_.links.push_back(std::move(link));
    }

    std::size_t place_named(const toml::node& where, const std::string& name) const {
        for (std::size_t i = 0; i < network_.places.size(); ++i)
            if (network_.places[i].name == name) return i;
        refuse(where, fmt::format("there is no segment or bridge \"{}\"", name));
    }

    struct Port {
        const toml::node* where;
        std::size_t bridge;
        std::string joins;
    };

    const std::string& origin_;
    Network network_;
    std::vector<Port> ports_;
};

} // namespace

Network read_network(std::string_view text, const std::string& origin) { return Reader(origin).read(text); }

} // namespace plexus::tools::lab
