// SPDX-License-Identifier: BSD-3-Clause
#include "method/boundary.h"

#include "base/log.h"
#include "wire/table.h"

#include <algorithm>

namespace plexus::method {
namespace {

constexpr std::string_view kAccepted = "write \"any\", \"site\", \"subnet\", \"host\", or names of sites";

bool is_word(std::string_view text) noexcept {
    return text == "any" || text == "site" || text == "host" || text == "subnet";
}

std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words;
    for (;;) {
        const std::size_t comma = std::min(text.find(','), text.size());
        std::string_view word = text.substr(0, comma);
        word.remove_prefix(std::min(word.find_first_not_of(' '), word.size()));
        word = word.substr(0, word.find_last_not_of(' ') + 1);
        words.emplace_back(word);
        if (comma == text.size()) return words;
        text.remove_prefix(comma + 1);
    }
}

std::string listed(const std::vector<std::string>& sites) {
    std::string text;
    for (const std::string& site : sites) text += (text.empty() ? "" : ", ") + site;
    return text;
}

bool contains(const std::vector<std::string>& sites, const std::string& site) {
    return std::find(sites.begin(), sites.end(), site) != sites.end();
}

bool is_known(const Place& place) noexcept { return place.host != Place{}.host; }

/// Of the two places: who is said to be where, if that is what puts them on two sides.
struct Sides {
    const Place& owner; ///< whose boundary it is
    const Place& other;
    const char* owner_is; ///< "this context is"
    const char* other_is;
    const char* owner_names;
    const char* other_names;
};

// The end of "only within site kiel; ", or empty if both are on one side.
std::string parted(const Boundary& boundary, const Sides& of) {
    const auto at = [](const Place& place, const char* is, const char* names) {
        return place.site.empty() ? fmt::format("{} no site", names)
                                  : fmt::format("{} at {}", is, place.site);
    };
    switch (boundary.kind) {
    case Boundary::Kind::any:
        return {};
    case Boundary::Kind::host:
        if (is_known(of.owner) && of.owner.host == of.other.host) return {};
        return is_known(of.other) ? fmt::format("{} on another", of.other_is)
                                  : fmt::format("{} no host", of.other_names);
    case Boundary::Kind::subnet: // a network of the same addresses at another site is another network
        return of.owner.site == of.other.site ? std::string() : at(of.other, of.other_is, of.other_names);
    case Boundary::Kind::site:
        if (!of.owner.site.empty() && of.owner.site == of.other.site) return {};
        return at(of.other, of.other_is, of.other_names);
    case Boundary::Kind::sites:
        if (!contains(boundary.sites, of.owner.site)) return at(of.owner, of.owner_is, of.owner_names);
        if (!contains(boundary.sites, of.other.site)) return at(of.other, of.other_is, of.other_names);
        return {};
    }
    return {};
}

std::string extent(const Boundary& boundary, const Place& owner, const char* whose) {
    if (boundary.kind == Boundary::Kind::host) return fmt::format("{} host", whose);
    if (boundary.kind == Boundary::Kind::subnet) return fmt::format("{} subnet", whose);
    if (boundary.kind == Boundary::Kind::site)
        return owner.site.empty() ? std::string("a site") : "site " + owner.site;
    return (boundary.sites.size() == 1 ? "site " : "sites ") + listed(boundary.sites);
}

} // namespace

Result<void> check_site(std::string_view name) {
    if (name.empty()) return {};
    if (is_word(name))
        return fail(Status::bad_config,
                    "\"{}\" has a meaning of its own in `within`: name the site otherwise", name);
    if (!wire::is_site_name(name))
        return fail(Status::bad_config,
                    "\"{}\" is no name of a site: write at most {} letters, digits, dots, dashes and "
                    "underscores",
                    name, wire::kLongestSiteName);
    return {};
}

Result<Boundary> parse_boundary(std::string_view text) {
    Boundary boundary;
    std::vector<std::string> words = words_of(text);
    for (const std::string& word : words) {
        if (is_word(word) && words.size() > 1)
            return fail(Status::bad_config, "\"{}\" stands alone, or names of sites stand there: {}", word,
                        kAccepted);
        if (!is_word(word) && !wire::is_site_name(word))
            return fail(Status::bad_config, "\"{}\" is no boundary: {}", word, kAccepted);
    }
    if (words[0] == "any") return boundary;
    if (words[0] == "site") {
        boundary.kind = Boundary::Kind::site;
    } else if (words[0] == "subnet") {
        boundary.kind = Boundary::Kind::subnet;
    } else if (words[0] == "host") {
        boundary.kind = Boundary::Kind::host;
    } else {
        boundary.kind = Boundary::Kind::sites;
        std::sort(words.begin(), words.end());
        words.erase(std::unique(words.begin(), words.end()), words.end());
        boundary.sites = std::move(words);
        if (to_text(boundary).size() > wire::kLongestWithin)
            return fail(Status::bad_config,
                        "so many sites do not fit into a table: their names may have {} bytes",
                        wire::kLongestWithin);
    }
    return boundary;
}

std::string to_text(const Boundary& boundary) {
    switch (boundary.kind) {
    case Boundary::Kind::any:
        return "any";
    case Boundary::Kind::site:
        return "site";
    case Boundary::Kind::subnet:
        return "subnet";
    case Boundary::Kind::host:
        return "host";
    case Boundary::Kind::sites:
        break;
    }
    return listed(boundary.sites);
}

Result<void> check_boundary(const Boundary& boundary, const Place& here) {
    if (boundary.kind == Boundary::Kind::site && here.site.empty())
        return fail(Status::bad_config, "\"site\" needs to know where this context is: set the key `site`");
    if (boundary.kind == Boundary::Kind::host && !is_known(here))
        return fail(Status::bad_config,
                    "\"host\" can't be told here: the kernel does not say which boot this is");
    if (boundary.kind != Boundary::Kind::sites || contains(boundary.sites, here.site)) return {};
    if (here.site.empty())
        return fail(Status::bad_config,
                    "names of sites (or a misspelt \"any\", \"site\", \"subnet\" or \"host\") need to know "
                    "where this context is: set the key `site`");
    return fail(
        Status::bad_config,
        "\"{}\" leaves out this context's own site {}, so the method would reach nobody: add {}, write "
        "\"site\", or take the method out of `methods`",
        listed(boundary.sites), here.site, here.site);
}

Boundary narrower(const Boundary& one, const Boundary& other) {
    if (one.kind != other.kind) return one.kind > other.kind ? one : other;
    Boundary both = one;
    std::erase_if(both.sites, [&](const std::string& site) { return !contains(other.sites, site); });
    return both;
}

Boundary wider(const Boundary& one, const Boundary& other) {
    if (one.kind != other.kind) return one.kind < other.kind ? one : other;
    Boundary both = one;
    for (const std::string& site : other.sites)
        if (!contains(both.sites, site)) both.sites.push_back(site);
    std::sort(both.sites.begin(), both.sites.end());
    return both;
}

std::string why_outside(const Boundary& boundary, const Place& here, const Place& there) {
    const std::string parts = parted(
        boundary, {here, there, "this context is", "the peer is", "this context names", "the peer names"});
    return parts.empty() ? parts : fmt::format("only within {}; {}", extent(boundary, here, "this"), parts);
}

std::string why_one_sided(const Boundary& ours, std::string_view theirs, const Place& here,
                          const Place& there) {
    const auto said = parse_boundary(theirs.empty() ? "any" : theirs);
    const bool we_keep = ours.kind == Boundary::Kind::subnet;
    const bool they_keep = said && said->kind == Boundary::Kind::subnet;
    if (we_keep == they_keep || (is_known(here) && here.host == there.host)) return {};
    return we_keep
               ? "only within this subnet; the peer does not keep to its own: set within to \"subnet\" there"
               : "the peer takes it only within its subnet; this context does not keep to its own: set "
                 "within to \"subnet\" here";
}

std::string why_not_for_us(std::string_view within, const Place& here, const Place& there) {
    if (within.empty()) return {};
    const auto boundary = parse_boundary(within);
    if (!boundary)
        return fmt::format("the peer takes it only within \"{}\", which is not known here", within);
    const std::string parts = parted(
        *boundary, {there, here, "the peer is", "this context is", "the peer names", "this context names"});
    return parts.empty()
               ? parts
               : fmt::format("the peer takes it only within {}; {}", extent(*boundary, there, "its"), parts);
}

} // namespace plexus::method
