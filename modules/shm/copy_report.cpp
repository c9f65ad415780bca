// SPDX-License-Identifier: BSD-3-Clause
#include "shm/copy_report.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

namespace plexus::shm {
namespace {

using Learned = CopyChoice::Learned;
using AllLearned = CopyChoice::AllLearned;

constexpr std::size_t kNever = CopyChoice::kClasses;
constexpr std::string_view kOthers = ", and others";

bool is_measured(const Learned& of) noexcept { return of.cost(of.copy) > 0; }

std::string size_of(std::size_t index) {
    const std::uint64_t kib = CopyChoice::least_of(index) >> 10;
    return kib < 1024 ? std::to_string(kib) + " KiB" : std::to_string(kib >> 10) + " MiB";
}

const char* words_for(Copy copy) {
    switch (copy) {
    case Copy::cached:
        return "through the caches";
    case Copy::nontemporal:
        return "past the caches";
    case Copy::fetch:
        return "by cross-memory attach";
    }
    return "";
}

// "32 KiB: 3.1 us, past the caches 5.2 us": the strategy in use first.
std::string costs_of(const Learned& of, std::size_t index) {
    const auto time = [&](Copy copy) {
        const double us =
            static_cast<double>(of.cost(copy)) * static_cast<double>(CopyChoice::least_of(index)) / 1000;
        char text[32];
        std::snprintf(text, sizeof text, "%.*f us", us < 10 ? 1 : 0, us);
        return std::string(text);
    };
    std::string text = size_of(index) + ": " + time(of.copy);
    for (const Copy copy : kAllCopies)
        if (copy != of.copy && of.cost(copy) > 0)
            text += std::string(", ") + words_for(copy) + " " + time(copy);
    return text;
}

// The last of the measured classes from `first` on that have one choice.
std::size_t last_alike(const AllLearned& all, std::size_t first) noexcept {
    std::size_t last = first;
    for (std::size_t next = first + 1; next < all.size(); ++next) {
        if (!is_measured(all[next])) continue;
        if (all[next].copy != all[first].copy) break;
        last = next;
    }
    return last;
}

// "4 KiB to 32 KiB through the caches (32 KiB: 3.1 us, past the caches 5.2 us)".
std::string range_of(const AllLearned& all, std::size_t first, std::size_t last) {
    std::string text = size_of(first);
    if (last == all.size() - 1)
        text += " and more";
    else if (last != first)
        text += " to " + size_of(last);
    return text + " " + words_for(all[first].copy) + " (" + costs_of(all[last], last) + ")";
}

// The cost relative to the best of its class, if copies go past the caches from class `past` on and are
// fetched from `fetch` on. Classes without a cost for that strategy say nothing.
float price(const AllLearned& all, std::size_t past, std::size_t fetch) {
    float sum = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (!is_measured(all[i])) continue;
        const bool fetches = i >= fetch && all[i].cost(Copy::fetch) > 0;
        const float cost = all[i].cost(fetches ? Copy::fetch : i >= past ? Copy::nontemporal : Copy::cached);
        if (cost > 0) sum += cost / all[i].cost(all[i].copy) - 1;
    }
    return sum;
}

} // namespace

std::size_t classes_measured(const AllLearned& all) noexcept {
    return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), is_measured));
}

std::string remark(const AllLearned& all) {
    std::string text;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (!is_measured(all[i])) continue;
        const std::size_t last = last_alike(all, i);
        const std::string next = (text.empty() ? "copies " : ", ") + range_of(all, i, last);
        if (text.size() + next.size() + kOthers.size() > kMostRemark) {
            text += kOthers;
            break;
        }
        text += next;
        i = last;
    }
    return text.empty() ? text : text + "; fixed by " + settings(all);
}

std::string settings(const AllLearned& all) {
    std::size_t past = kNever;
    std::size_t fetch = kNever;
    float least = price(all, past, fetch);
    for (std::size_t p = 0; p <= kNever; ++p) {
        for (std::size_t f = 0; f <= kNever; ++f) {
            const float now = price(all, p, f);
            const bool fewer = now == least && p + f > past + fetch;
            if (now > least || (now == least && !fewer)) continue;
            least = now;
            past = p;
            fetch = f;
        }
    }
    const auto first =
        static_cast<std::size_t>(std::find_if(all.begin(), all.end(), is_measured) - all.begin());
    const bool has_fetch =
        std::any_of(all.begin(), all.end(), [](const Learned& of) { return of.cost(Copy::fetch) > 0; });
    std::string text;
    if (past == kNever)
        text = "copy = cached";
    else if (past <= first)
        text = "copy = nontemporal";
    else
        text = "past_caches_from = " + size_of(past);
    if (fetch != kNever)
        text += ", cma_from = " + size_of(fetch);
    else if (has_fetch)
        text += ", cma = off";
    return text;
}

} // namespace plexus::shm
