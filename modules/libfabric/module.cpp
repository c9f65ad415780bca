// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/module.h"

#include "common/system_text.h"
#include "plexus/module/module.h"
#include "plexus/module/table.h"

#include <cstring>
#include <sys/stat.h>

namespace plexus::libfabric {

std::int32_t Module::make(const plexus_host& host, std::unique_ptr<Module>& made) {
    auto options = read_options(host);
    if (!options) return PLEXUS_BAD_CONFIG;
    made = std::make_unique<Module>(host, std::move(*options));
    return made->open();
}

Module::Module(const plexus_host& host, Options options)
  : Engine(host, options.links)
  , options_(std::move(options)) {}

std::int32_t Module::open() {
    const auto refuse = [&](std::int32_t status, const std::string& text) {
        host().log(host().self, PLEXUS_ERROR, text.c_str());
        return status;
    };
    self_.where = module::surroundings();
    self_.user = ::geteuid();
    struct stat shared {};
    if (::stat("/dev/shm", &shared) == 0) self_.shared_folder = shared.st_dev;

    Offers found = offers(options_);
    if (!found.unknown.empty()) return refuse(PLEXUS_BAD_CONFIG, found.unknown.front());
    if (const int error = page_->open(host()); error != 0)
        return refuse(PLEXUS_UNSUPPORTED, "no shared memory can be made: " + module::system_text(error));
    self_.page_address = page_->address();
    std::vector<std::unique_ptr<message_link::Port>> opened;
    for (Info& info : found.chosen) {
        auto endpoint = std::make_unique<Endpoint>(host(), std::move(info), self_, page_);
        if (std::string why = endpoint->open(options_); why.empty()) {
            addresses_.push_back(endpoint->address());
            opened.push_back(std::move(endpoint));
        } else {
            found.missing.push_back(std::move(why));
        }
    }
    std::string missing;
    for (const std::string& one : found.missing) missing += (missing.empty() ? "" : "; ") + one;
    if (opened.empty()) return refuse(PLEXUS_UNSUPPORTED, missing);
    if (!missing.empty()) host().log(host().self, PLEXUS_INFO, missing.c_str());
    if (const int error = start(std::move(opened)); error != 0)
        return refuse(PLEXUS_UNSUPPORTED,
                      "no descriptor to sleep on can be made: " + module::system_text(error));
    return PLEXUS_OK;
}

// Labels follow the providers that are named, whichever of them are usable today.
std::string_view Module::label_of(std::uint32_t row) const {
    return options_.providers.size() > 1 ? core_of(addresses_[row].provider) : std::string_view();
}

std::int32_t Module::choose(plexus_view descriptor, message_link::Port*& port, std::string& why) const {
    const auto there = Descriptor::decode({static_cast<const std::byte*>(descriptor.data), descriptor.size});
    if (!there) {
        why = "the descriptor is damaged, or of another version";
        return PLEXUS_BAD_ARGUMENT;
    }
    const auto mine = libfabric::choose(self_, addresses_, *there, why);
    if (!mine) return PLEXUS_NO_METHOD;
    port = ports()[*mine].get();
    return PLEXUS_OK;
}

const plexus_ops kOps = module::table_of<Module, message_link::Link, PLEXUS_CAP_SLEEP | PLEXUS_CAP_FRAGILE>();

} // namespace plexus::libfabric
