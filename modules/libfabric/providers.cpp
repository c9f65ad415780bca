// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/providers.h"

#include "base/spelling.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace plexus::libfabric {
namespace {

constexpr std::uint32_t kVersion = FI_VERSION(1, 17);

// Providers that libfabric may have been built without.
constexpr std::array<const char*, 12> kWellKnown{
    "bgq", "cxi", "efa", "gni", "mrail", "opx", "psm2", "psm3", "sockets", "usnic", "verbs", "verbs;ofi_rxm"};
// Not taken unless they are named: where there is no fabric, our own shm and tcp are nearer.
// (libfabric 1.17's net is a preview that loses its way under load.)
constexpr std::array<const char*, 6> kByNameOnly{"shm", "tcp", "net", "udp", "sockets", "ofi_mrail"};

Info hints(const std::string& provider, bool fetch) {
    Info out(fi_allocinfo());
    if (!out) return out;
    out->caps = FI_MSG | (fetch ? FI_RMA : 0);
    out->mode = FI_CONTEXT | FI_CONTEXT2;
    out->ep_attr->type = FI_EP_RDM;
    out->domain_attr->mr_mode =
        FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
    out->domain_attr->threading = FI_THREAD_DOMAIN; // one lock of ours is held around every call
    out->domain_attr->control_progress = FI_PROGRESS_MANUAL;
    out->domain_attr->data_progress = FI_PROGRESS_MANUAL;
    out->domain_attr->av_type = FI_AV_TABLE;
    out->domain_attr->resource_mgmt = FI_RM_ENABLED;
    out->tx_attr->msg_order = FI_ORDER_SAS;
    out->rx_attr->msg_order = FI_ORDER_SAS;
    if (!provider.empty()) out->fabric_attr->prov_name = ::strdup(provider.c_str());
    return out;
}

Info ask(const std::string& provider, bool fetch) {
    const Info wanted = hints(provider, fetch);
    fi_info* list = nullptr;
    if (!wanted || fi_getinfo(kVersion, nullptr, nullptr, 0, wanted.get(), &list) != 0) return nullptr;
    return Info(list);
}

bool by_name_only(std::string_view provider) {
    return std::any_of(kByNameOnly.begin(), kByNameOnly.end(),
                       [&](const char* name) { return core_of(provider) == name; });
}

// The first of a list that fits; domains are in order of preference.
const fi_info* pick(const fi_info* list, const std::string& word, const Options& options) {
    const std::size_t rounds = std::max<std::size_t>(options.domains.size(), 1);
    for (std::size_t i = 0; i < rounds; ++i)
        for (const fi_info* one = list; one != nullptr; one = one->next) {
            const std::string_view provider = one->fabric_attr->prov_name;
            if (word.empty() ? by_name_only(provider) : !means(word, provider)) continue;
            if (!options.domains.empty() && options.domains[i] != one->domain_attr->name) continue;
            return one;
        }
    return nullptr;
}

std::string joined(const std::vector<std::string>& words, const char* between) {
    std::string out;
    for (const std::string& word : words) out += (out.empty() ? "" : between) + word;
    return out;
}

} // namespace

std::string_view core_of(std::string_view provider) noexcept {
    return provider.substr(0, provider.find(';'));
}

bool means(std::string_view word, std::string_view provider) noexcept {
    return word == provider || word == core_of(provider);
}

std::vector<std::string> provider_names() {
    std::vector<std::string> names(kWellKnown.begin(), kWellKnown.end());
    fi_info* list = nullptr;
    if (fi_getinfo(kVersion, nullptr, nullptr, FI_PROV_ATTR_ONLY, nullptr, &list) == 0) {
        const Info owner(list);
        for (const fi_info* one = list; one != nullptr; one = one->next)
            if (std::strncmp(one->fabric_attr->prov_name, "ofi_", 4) != 0) // they work over others only
                names.emplace_back(one->fabric_attr->prov_name);
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

Offers offers(const Options& options) {
    Offers out;
    std::vector<std::string> words = options.providers;
    if (words.empty()) words.emplace_back();
    std::vector<std::string> known;
    for (const std::string& word : words) {
        Info list = options.fetch ? ask(word, true) : nullptr;
        const fi_info* found = pick(list.get(), word, options);
        if (found == nullptr) { // one without remote reads is better than none
            list = ask(word, false);
            found = pick(list.get(), word, options);
        }
        const auto same = [&](const Info& other) {
            return core_of(other->fabric_attr->prov_name) == core_of(found->fabric_attr->prov_name);
        };
        if (found != nullptr && std::any_of(out.chosen.begin(), out.chosen.end(), same)) {
            out.missing.push_back("provider " + word + " is left out: " + found->fabric_attr->prov_name +
                                  " would be a second row with the name of one before it");
            continue;
        }
        if (found != nullptr) {
            out.chosen.emplace_back(fi_dupinfo(found));
            continue;
        }
        if (known.empty()) known = provider_names();
        const bool exists = word.empty() || std::any_of(known.begin(), known.end(), [&](const auto& name) {
                                return means(word, name) || core_of(word) == core_of(name);
                            });
        if (!exists) {
            for (std::size_t i = known.size(); i-- > 0;) known.emplace_back(core_of(known[i]));
            std::sort(known.begin(), known.end());
            known.erase(std::unique(known.begin(), known.end()), known.end());
            const std::string meant = did_you_mean(word, known);
            out.unknown.push_back("libfabric has no provider \"" + word + "\"" +
                                  (meant.empty() ? "; it has " + joined(known, ", ") : meant));
        } else if (!options.domains.empty()) {
            out.missing.push_back((word.empty() ? "no provider" : "provider " + word + " is not usable:") +
                                  (word.empty() ? " has" : " it has no") + std::string(" domain named ") +
                                  joined(options.domains, " or ") + "; see the command \"fi_info\"");
        } else {
            out.missing.push_back(
                word.empty()
                    ? "this machine has no fabric that libfabric reaches; provider = \"tcp\" or \"shm\" "
                      "would use it without"
                    : "provider " + word +
                          " is not usable: no device for it is here, or this libfabric "
                          "was built without it; see \"fi_info -p " +
                          word + "\"");
        }
    }
    return out;
}

} // namespace plexus::libfabric
