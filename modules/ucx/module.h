// SPDX-License-Identifier: BSD-3-Clause
// The ucx method of one context: the engine over one worker, and memory that peers may reach.
#pragma once

#include "message_link/engine.h"
#include "ucx/worker.h"

namespace plexus::ucx {

extern const plexus_ops kOps;

class Module final : public message_link::Engine {
  public:
    using MemoryRegion = ucx::MemoryRegion;
    Module(const plexus_host& host, const Options& options);

    static std::int32_t make(const plexus_host& host, std::unique_ptr<Module>& made); ///< @thread setup
    // @thread any
    std::int32_t register_memory(void*& data, std::size_t size, plexus_text& key, MemoryRegion*& region);
    void deregister_memory(MemoryRegion& region);

  private:
    std::int32_t open(const Options& options); ///< logs why not
    std::int32_t choose(plexus_view descriptor, message_link::Port*& port, std::string& why) const override;

    Worker* worker_ = nullptr; // the engine's only port
};

} // namespace plexus::ucx
