// SPDX-License-Identifier: BSD-3-Clause
// The tcp method of one context: messages in frames, behind a greeting in the clear.
#pragma once

#include "stream_link/module.h"

#include <memory>

namespace plexus::tcp {

extern const plexus_ops kOps;

class Module final : public stream_link::Module {
  public:
    using stream_link::Module::Module;

    static std::int32_t make(const plexus_host& host, std::unique_ptr<Module>& made); ///< @thread setup

    std::unique_ptr<module::StreamReader> make_reader() const override;
    std::unique_ptr<stream_link::Greeting> connecting(const plexus_id& wanted) override;
    std::unique_ptr<stream_link::Greeting> accepting() override;
};

} // namespace plexus::tcp
