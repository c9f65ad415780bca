// SPDX-License-Identifier: BSD-3-Clause
#include "zstd/module.h"

#include "common/values.h"
#include "zstd/link.h"

#include <utility>

namespace plexus::zstd {
namespace {

/// More threads than this that compress at once make contexts of their own each time.
constexpr std::size_t kMostKeptPackers = 4;

} // namespace

Module::Module(const plexus_host& outer, Options options)
  : over::Module(outer, options.over)
  , options_(std::move(options)) {}

std::int32_t Module::make(const plexus_host& host, std::unique_ptr<Module>& made) {
    std::optional<Options> options = read_options(host);
    if (!options) return PLEXUS_BAD_CONFIG;
    made = std::make_unique<Module>(host, *std::move(options));
    const std::int32_t status = made->open_inner();
    if (status != PLEXUS_OK) return status;
    (void)made->query(nullptr, PLEXUS_QUERY_MAX_MESSAGE, made->most_);
    (void)made->query(nullptr, PLEXUS_QUERY_EAGER_BYTES, made->eager_);
    const std::uint64_t taken = size_in(module::setting(host, "limits.max_message")).value_or(0);
    made->most_kept_ = taken == 0 || (made->most_ != 0 && made->most_ < taken) ? made->most_ : taken;
    return PLEXUS_OK;
}

std::int32_t Module::query(const over::Link* link, plexus_query what, std::uint64_t& value) const {
    const std::int32_t status = over::Module::query(link, what, value);
    const bool counts_bytes = what == PLEXUS_QUERY_MAX_MESSAGE || what == PLEXUS_QUERY_INLINE_BYTES ||
                              what == PLEXUS_QUERY_EAGER_BYTES;
    if (status == PLEXUS_OK && counts_bytes && value > kPrefix) value -= kPrefix;
    return status;
}

std::unique_ptr<Packer> Module::borrow() {
    {
        const Lock hold(packers_mutex_);
        if (!packers_.empty()) {
            std::unique_ptr<Packer> packer = std::move(packers_.back());
            packers_.pop_back();
            return packer;
        }
    }
    return std::make_unique<Packer>(options_.level);
}

void Module::give_back(std::unique_ptr<Packer> packer) {
    const Lock hold(packers_mutex_);
    if (packers_.size() < kMostKeptPackers) packers_.push_back(std::move(packer));
}

std::span<std::byte> Module::room(Words& words, std::size_t bytes) {
    if (words.size() * sizeof words[0] < bytes) words.resize((bytes + 7) / 8);
    return std::as_writable_bytes(std::span(words)).first(bytes);
}

std::unique_ptr<over::Link> Module::make_link() { return std::make_unique<Link>(*this); }

} // namespace plexus::zstd
