// SPDX-License-Identifier: BSD-3-Clause
#include "tls/carrier.h"

#include "plexus/module/table.h"

#include "tls/greeting.h"
#include "tls/module.h"
#include "tls/records.h"

namespace plexus::tls {
namespace {

std::unique_ptr<stream_link::Greeting> begin(const plexus_host& host, tls::Module& owner,
                                             const std::optional<plexus_id>& wanted) {
    Session session = owner.credentials().make_session(wanted.has_value());
    if (session == nullptr) return nullptr;
    return std::make_unique<Greeting>(
        host, std::make_unique<Engine>(std::move(session), owner.options().update_after), wanted,
        owner.options().socket.max_message);
}

} // namespace

Carrier::Carrier(const plexus_host& under, tls::Module& owner)
  : stream_link::Module(under, owner.options().socket)
  , owner_(owner) {}

std::unique_ptr<module::StreamReader> Carrier::make_reader() const {
    return std::make_unique<RecordReader>();
}

std::unique_ptr<stream_link::Greeting> Carrier::connecting(const plexus_id& wanted) {
    return begin(host(), owner_, wanted);
}

std::unique_ptr<stream_link::Greeting> Carrier::accepting() { return begin(host(), owner_, std::nullopt); }

void Carrier::tell_refusal(const std::string& line) {
    const auto now = std::chrono::steady_clock::now();
    if (told_ == 0 || now - told_since_ > std::chrono::minutes(1)) {
        told_since_ = now;
        told_ = 0;
    }
    if (told_ == kTold) return log(PLEXUS_DEBUG, line);
    ++told_;
    log(PLEXUS_WARN,
        told_ < kTold ? line : line + "; further ones within a minute are told at the level debug");
}

const plexus_ops kCarrierOps =
    module::table_of<Carrier, stream_link::Link, PLEXUS_CAP_SLEEP | PLEXUS_CAP_FRAGILE>();

} // namespace plexus::tls
