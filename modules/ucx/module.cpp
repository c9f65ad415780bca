// SPDX-License-Identifier: BSD-3-Clause
#include "ucx/module.h"

#include "common/system_text.h"
#include "plexus/module/table.h"

namespace plexus::ucx {

std::int32_t Module::make(const plexus_host& host, std::unique_ptr<Module>& made) {
    const auto options = read_options(host);
    if (!options) return PLEXUS_BAD_CONFIG;
    made = std::make_unique<Module>(host, *options);
    return made->open(*options);
}

Module::Module(const plexus_host& host, const Options& options)
  : Engine(host, options.links) {}

std::int32_t Module::open(const Options& options) {
    auto worker = std::make_unique<Worker>(host(), options);
    worker_ = worker.get();
    std::string why;
    std::int32_t status = worker->open(why);
    std::vector<std::unique_ptr<message_link::Port>> opened;
    opened.push_back(std::move(worker));
    if (status == PLEXUS_OK) {
        const int error = start(std::move(opened));
        if (error == 0) return PLEXUS_OK;
        why = "no descriptor to sleep on can be made: " + module::system_text(error);
        status = PLEXUS_UNSUPPORTED;
    }
    host().log(host().self, PLEXUS_ERROR, why.c_str());
    return status;
}

std::int32_t Module::choose(plexus_view descriptor, message_link::Port*& port, std::string& why) const {
    const auto there = Descriptor::decode(descriptor);
    why = there ? there->why_not(worker_->self()) : "the descriptor is damaged";
    port = worker_;
    return !there ? PLEXUS_BAD_ARGUMENT : why.empty() ? PLEXUS_OK : PLEXUS_NO_METHOD;
}

std::int32_t Module::register_memory(void*& data, std::size_t size, plexus_text& key, MemoryRegion*& region) {
    if (is_closing()) return PLEXUS_UNSUPPORTED;
    return worker_->keys().register_memory(data, size, key, region);
}

void Module::deregister_memory(MemoryRegion& region) { worker_->keys().deregister_memory(region); }

const plexus_ops kOps = module::table_of<Module, message_link::Link,
                                         PLEXUS_CAP_SLEEP | PLEXUS_CAP_FRAGILE | PLEXUS_CAP_REMOTE_MEMORY>();

} // namespace plexus::ucx
