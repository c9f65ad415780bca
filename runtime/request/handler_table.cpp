// SPDX-License-Identifier: BSD-3-Clause
#include "request/handler_table.h"

#include "plexus/error.h"

namespace plexus::request {

void HandlerTable::install(const detail::RequestInfo& request, std::unique_ptr<detail::Handler> handler) {
    Lock hold(mutex_);
    const auto [entry, added] = handlers_.try_emplace(std::string(request.name));
    if (!added)
        throw Error(Status::busy,
                    "request \"" + std::string(request.name) + "\" has a handler in this context already");
    entry->second = {request.signature, request.types, std::move(handler)};
}

HandlerTable::Found HandlerTable::find(std::string_view name, std::uint64_t signature) const {
    Lock hold(mutex_);
    const auto found = handlers_.find(name);
    if (found == handlers_.end()) return {nullptr, Status::no_handler};
    if (found->second.signature != signature) return {nullptr, Status::bad_signature, found->second.types};
    return {found->second.handler.get()};
}

std::string HandlerTable::name_of(const void* handler) const {
    Lock hold(mutex_);
    for (const auto& [name, installed] : handlers_)
        if (installed.handler.get() == handler) return name;
    return "?";
}

} // namespace plexus::request
