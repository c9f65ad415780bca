// SPDX-License-Identifier: BSD-3-Clause
// Remote memory access by a module: what an object may ask of its link, and the memory that
// this context has exposed. When it may be used is the bulk room's business.
#include "comm/exchange.h"
#include "comm/object.h"

#include <algorithm>

namespace plexus::comm {

bool Object::leads(const Reach& reach) const {
    return out_ != nullptr && !out_->lost && reach.stream == stream_;
}

Result<Object::Reach> Object::attach(wire::View key) {
    Lock hold(mutex_);
    if (out_ == nullptr || out_->lost) return fail(Status::link_lost, "there is no link now");
    Reach reach{stream_, nullptr};
    const auto status =
        static_cast<Status>(method_.ops.attach(out_->link, {key.data(), key.size()}, &reach.remote));
    if (status != Status::ok)
        return fail(status, "{} does not take the peer's memory: {}", method_.name, to_string(status));
    return reach;
}

void Object::detach(const Reach& reach) noexcept {
    Lock hold(mutex_);
    // A link that is lost keeps it until it is given up, and that may have been already.
    if (leads(reach)) method_.ops.detach(out_->link, reach.remote);
}

Status Object::get(const Reach& reach, std::uint64_t offset, std::span<std::byte> into, Posted* done) {
    Lock hold(mutex_);
    if (!leads(reach)) return Status::link_lost;
    return static_cast<Status>(
        method_.ops.get(out_->link, reach.remote, offset, into.data(), into.size(), done));
}

Status Object::put(const Reach& reach, std::uint64_t offset, std::span<const std::byte> from, Posted* done) {
    Lock hold(mutex_);
    if (!leads(reach)) return Status::link_lost;
    return static_cast<Status>(
        method_.ops.put(out_->link, reach.remote, offset, from.data(), from.size(), done));
}

Result<Exposure> Exchange::expose(Method& method, void* data, std::size_t size) {
    if (closing()) return fail(Status::closed, "this context is closing");
    Exposure made{&method, data, nullptr, {}};
    made.key.resize(PLEXUS_KEY_MAX);
    plexus_text key{reinterpret_cast<char*>(made.key.data()), made.key.size(), 0};
    const auto status =
        static_cast<Status>(method.ops.expose(method.instance, &made.data, size, &key, &made.memory));
    if (status != Status::ok)
        return fail(status, "{} can't make {} bytes of memory known to peers: {}", method.name, size,
                    to_string(status));
    made.key.resize(std::min<std::size_t>(key.size, PLEXUS_KEY_MAX));
    Lock hold(exposed_mutex_);
    exposed_.push_back({&method, made.memory});
    return made;
}

void Exchange::withdraw(const Exposure& exposure) noexcept {
    {
        Lock hold(exposed_mutex_);
        const auto found = std::find_if(exposed_.begin(), exposed_.end(), [&](const auto& each) {
            return each.first == exposure.method && each.second == exposure.memory;
        });
        if (found == exposed_.end()) return; // it went with the module
        exposed_.erase(found);
    }
    exposure.method->ops.withdraw(exposure.method->instance, exposure.memory);
}

void Exchange::withdraw_all() noexcept {
    std::vector<std::pair<Method*, plexus_memory*>> left;
    {
        Lock hold(exposed_mutex_);
        left.swap(exposed_);
    }
    for (const auto& [method, memory] : left) method->ops.withdraw(method->instance, memory);
}

} // namespace plexus::comm
