// SPDX-License-Identifier: BSD-3-Clause
#include "tls/module.h"

#include "common/frames.h"
#include "tls/carrier.h"
#include "tls/greeting.h"
#include "tls/inbox.h"
#include "tls/link.h"
#include "tls/outbox.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace plexus::tls {
namespace {

/// A change of keys may go ahead of the records of a block.
constexpr std::uint64_t kBlockCost = 64;
constexpr std::uint64_t kRecordWithCost = Engine::kRecord + Engine::kRecordCost;
static_assert(Outbox::kRecords * kRecordWithCost + kBlockCost <= Inbox::kMostBlock);
/// A link whose handshake is under way is looked at so often, at least.
constexpr std::uint64_t kLookNs = 50'000'000;

} // namespace

Block Blocks::take() {
    const Lock hold(mutex_);
    if (kept_.empty()) return {};
    Block block = std::move(kept_.back());
    kept_.pop_back();
    return block;
}

void Blocks::give_back(Block block) {
    block.clear();
    const Lock hold(mutex_);
    if (kept_.size() < kMostKept) kept_.push_back(std::move(block));
}

Module::Module(const plexus_host& outer, Options options)
  : over::Module(outer, options.over)
  , options_(std::move(options))
  , credentials_(host(), options_)
  , room_(Engine::kRecord / sizeof(std::uint64_t)) {}

std::int32_t Module::make(const plexus_host& host, std::unique_ptr<Module>& made) {
    std::optional<Options> options = read_options(host);
    if (!options) return PLEXUS_BAD_CONFIG;
    made = std::make_unique<Module>(host, *std::move(options));
    if (const std::string why = made->credentials_.load(); !why.empty()) {
        host.log(host.self, PLEXUS_ERROR, why.c_str());
        return PLEXUS_BAD_CONFIG;
    }
    const std::int32_t status = made->open_inner();
    return status == PLEXUS_OK ? made->learn_limits() : status;
}

std::size_t Module::records_in(std::uint64_t most) noexcept {
    const std::uint64_t records = most > kBlockCost ? (most - kBlockCost) / kRecordWithCost : 0;
    return static_cast<std::size_t>(std::min<std::uint64_t>(Outbox::kRecords, records));
}

std::int32_t Module::learn_limits() {
    std::uint64_t inner_most = 0;
    std::uint64_t inner_eager = 0;
    (void)over::Module::query(nullptr, PLEXUS_QUERY_MAX_MESSAGE, inner_most);
    (void)over::Module::query(nullptr, PLEXUS_QUERY_EAGER_BYTES, inner_eager);
    limits_.most = inner_most == 0 ? module::kFrameMost : std::min(inner_most, module::kFrameMost);
    limits_.inner_eager = inner_eager;
    // What one record and the inner method's eager messages have room for.
    const std::uint64_t block = std::min(inner_eager, kRecordWithCost + kBlockCost);
    constexpr std::uint64_t kSmallCost = kBlockCost + Engine::kRecordCost + module::kFrameWord;
    limits_.eager = block > kSmallCost + PLEXUS_HEAD_MAX ? block - kSmallCost : PLEXUS_HEAD_MAX;
    if (records_in(limits_.most) > 0) return PLEXUS_OK;
    host().log(host().self, PLEXUS_ERROR,
               (inner_name() + " carries no message of " + std::to_string(kRecordWithCost + kBlockCost) +
                " bytes, which a record of TLS takes")
                   .c_str());
    close();
    drain();
    return PLEXUS_UNSUPPORTED;
}

std::int32_t Module::query(const over::Link* link, plexus_query what, std::uint64_t& value) const {
    const std::int32_t status = over::Module::query(link, what, value);
    if (status != PLEXUS_OK) return status;
    if (what == PLEXUS_QUERY_EAGER_BYTES || what == PLEXUS_QUERY_INLINE_BYTES)
        value = std::min(value, limits_.eager);
    if (what == PLEXUS_QUERY_QUEUED_BYTES && link != nullptr)
        value += static_cast<const Link*>(link)->own_queued();
    return status;
}

std::int32_t Module::find_inner(const plexus_host& under, const plexus_ops*& ops, plexus_module*& inner) {
    if (!options_.over.empty()) return over::Module::find_inner(under, ops, inner);
    auto made = std::make_unique<Carrier>(under, *this);
    if (const std::int32_t status = made->listen(); status != PLEXUS_OK) return status;
    carrier_ = made.get();
    ops = &kCarrierOps;
    inner = reinterpret_cast<plexus_module*>(made.release()); // its table destroys it
    return PLEXUS_OK;
}

bool Module::is_of_inner(std::string_view key) const {
    return key == "nodelay" || key == "sndbuf" || key == "rcvbuf";
}

std::unique_ptr<Engine> Module::take_session() {
    return static_cast<Greeting&>(*carrier_->take_greeting()).take_engine();
}

std::unique_ptr<over::Link> Module::make_link() { return std::make_unique<Link>(*this); }

void Module::watch_handshake(Link& link) {
    const Lock hold(shaking_mutex_);
    shaking_.push_back(&link);
    any_shaking_ = true;
}

std::int32_t Module::turn() {
    if (!any_shaking_) return 0;
    const auto now = std::chrono::steady_clock::now();
    std::vector<Link*> watched;
    {
        const Lock hold(shaking_mutex_);
        watched = shaking_;
    }
    // Only this thread ends links for good: none of these can go meanwhile.
    std::erase_if(watched, [now](Link* link) { return !link->has_shaken_by(now); });
    if (watched.empty()) return 0;
    const Lock hold(shaking_mutex_);
    std::erase_if(shaking_, [&](Link* link) {
        return std::find(watched.begin(), watched.end(), link) != watched.end();
    });
    any_shaking_ = !shaking_.empty();
    return 0;
}

std::int32_t Module::rest(std::uint64_t& sleep_ns) {
    if (any_shaking_) sleep_ns = std::min(sleep_ns, kLookNs);
    return PLEXUS_OK;
}

void Module::forget(over::Link& link) {
    const Lock hold(shaking_mutex_);
    std::erase(shaking_, &static_cast<Link&>(link));
}

} // namespace plexus::tls
