// SPDX-License-Identifier: BSD-3-Clause
#include "tcp/module.h"

#include "plexus/module/table.h"

#include "common/frames.h"
#include "tcp/greeting.h"
#include "tcp/options.h"

namespace plexus::tcp {

std::int32_t Module::make(const plexus_host& host, std::unique_ptr<Module>& made) {
    auto options = read_options(host);
    if (!options) return PLEXUS_BAD_CONFIG;
    made = std::make_unique<Module>(host, std::move(*options));
    return made->listen();
}

std::unique_ptr<module::StreamReader> Module::make_reader() const {
    return std::make_unique<module::FrameReader>(limits());
}

std::unique_ptr<stream_link::Greeting> Module::connecting(const plexus_id& wanted) {
    return std::make_unique<Greeting>(module::Handshake::connecting(host(), wanted, limits().most));
}

std::unique_ptr<stream_link::Greeting> Module::accepting() {
    return std::make_unique<Greeting>(module::Handshake::accepting(host(), limits().most));
}

const plexus_ops kOps =
    module::table_of<Module, stream_link::Link, PLEXUS_CAP_SLEEP | PLEXUS_CAP_FRAGILE | PLEXUS_CAP_SUBNET>();

} // namespace plexus::tcp
