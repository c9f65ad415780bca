// SPDX-License-Identifier: BSD-3-Clause
#include "plexus/context.h"

#include "base/crypto.h"
#include "base/log.h"
#include "context/core.h"
#include "plexus/polling.h"
#include "request/saved_pointer.h"
#include "transport/reach.h"
#include "transport/route.h"

namespace plexus {

using detail::Core;
using Clock = std::chrono::steady_clock;

namespace {

std::vector<std::string> without_program(int argc, const char* const* argv) {
    return argc > 1 ? std::vector<std::string>(argv + 1, argv + argc) : std::vector<std::string>{};
}

/// A channel for bytes that came by no connection.
detail::Channel outside(Core& core) { return detail::Channel(core.endpoint()); }

/// A pointer whose object's type its user will know.
struct FoundPointer : detail::PointerBase {
    explicit FoundPointer(const detail::PointerBase& found)
      : PointerBase(found) {}
    void write_to(detail::Writer& out) const { write(out); }
};

} // namespace

Context::Context(int argc, const char* const* argv, Options options)
  : core_(Core::start(without_program(argc, argv), options)) {}
Context::Context(Options options)
  : core_(Core::start({}, options)) {}
Context::Context(Context&&) noexcept = default;

Context::~Context() {
    if (core_ != nullptr) core_->close();
}

Context Context::attach(std::string_view url, Options options) {
    options.url = url;
    return Context(std::move(options));
}

const ContextId& Context::id() const noexcept { return core_->id(); }
std::string Context::name() const { return core_->settings().text("name"); }
std::uint32_t Context::rank() const noexcept { return core_->job().rank; }
std::uint32_t Context::size() const noexcept { return core_->job().size; }
LauncherReport Context::launcher() const {
    const bootstrap::Job& job = core_->job();
    return {std::string(name_of(job.launcher.kind)), job.launcher.why, job.id};
}
const std::vector<std::string>& Context::arguments() const noexcept { return core_->arguments(); }
std::string Context::url() const { return core_->url(); }

void Context::install(const detail::RequestInfo& request, std::unique_ptr<detail::Handler> handler) {
    core_->dispatcher().server().handlers().install(request, std::move(handler));
}

void Context::at_close(std::function<void()> action) { core_->closing_actions().add(std::move(action)); }
void Context::show_groups(GroupSource groups) { core_->shown_groups().add(std::move(groups)); }

void Context::publish_bytes(std::string_view name, const std::vector<std::byte>& bytes) {
    core_->directory().publish(name, bytes).value();
}

namespace {

/// When the directory gives up, and what the caller is told then.
struct DirectoryLimit {
    DirectoryLimit(Core& core, Deadline wanted)
      : until(Clock::now() + core.settings().duration("progress.lookup_timeout")) {
        const std::uint32_t limit = core.dispatcher().client().limit_of(wanted);
        const auto deadline = Clock::now() + std::chrono::milliseconds(limit);
        if (limit == 0 || deadline >= until) return;
        until = deadline;
        is_deadline = true;
    }
    Failure told(Failure said) const {
        const bool late = said.status == Status::timed_out || said.status == Status::not_found;
        if (is_deadline && late && Clock::now() >= until)
            return {Status::deadline_exceeded, "the deadline has passed: " + said.why};
        return said;
    }
    Clock::time_point until;
    bool is_deadline = false;
};

} // namespace

void Context::lookup_bytes(std::string_view name, Deadline deadline,
                           std::shared_ptr<detail::CallState> state) {
    const DirectoryLimit limit(*core_, deadline);
    state->may_be_cancelled();
    // The directory answers on a thread of its own: until then the state keeps the core.
    core_->directory().lookup(name, limit.until, [state, limit](Result<bootstrap::Bytes> found) {
        if (!state->claim()) return; // it was cancelled
        if (!found) {
            Failure failure = limit.told(found.failure());
            return state->fail(failure.status, std::move(failure.why));
        }
        if (state->core().endpoint().closing()) return state->fail(Status::closed, "the context was closed");
        try {
            detail::Writer writer(0);
            FoundPointer(detail::load_pointer(state->core().endpoint(), *found)).write_to(writer);
            const std::vector<std::byte> bytes = writer.bytes();
            detail::Channel channel = outside(state->core());
            detail::Reader in(&channel, bytes.data(), bytes.size(), 0);
            state->complete(in);
        } catch (const Error& error) { state->fail(error.status(), error.what()); }
    });
}

Future<void> Context::fence(Deadline deadline) {
    auto state = std::make_shared<detail::TypedCall<void>>(core_);
    const DirectoryLimit limit(*core_, deadline);
    state->may_be_cancelled();
    core_->directory().fence(limit.until, [state, limit](Result<void> done) {
        if (!state->claim()) return; // it was cancelled
        if (done) return state->succeed();
        Failure failure = limit.told(done.failure());
        state->fail(failure.status, std::move(failure.why));
    });
    return Future<void>(std::move(state));
}

std::uint32_t Context::progress() { return core_->scheduler().progress(); }
Deadline Context::call_deadline() const {
    const std::uint32_t limit = core_->dispatcher().client().limit_of({});
    return limit == 0 ? no_deadline : Deadline{limit};
}

bool Context::inside_handler() const noexcept { return core_->scheduler().inside_turn(); }

void Context::run() {
    const std::uint64_t before = core_->stops.load(std::memory_order_acquire);
    core_->scheduler().wait_for_true([&] { return core_->stops.load(std::memory_order_acquire) != before; });
}

bool Context::run_for(std::chrono::nanoseconds time) {
    const std::uint64_t before = core_->stops.load(std::memory_order_acquire);
    return core_->scheduler().wait_for_true(
        [&] { return core_->stops.load(std::memory_order_acquire) != before; }, Clock::now() + time);
}

void Context::run_until(const std::function<bool()>& done) {
    core_->scheduler().wait_for_true([&] { return done(); });
}

void Context::stop() noexcept {
    core_->stops.fetch_add(1, std::memory_order_release); // pairs with the loads in run()
    core_->scheduler().wake();
}

int Context::fd() const { return core_->live_scheduler().fd(); }
bool Context::arm() { return core_->live_scheduler().arm(); }
void Context::on_error(ErrorHandler handler) { core_->dispatcher().reporter().on_error(std::move(handler)); }
void Context::on_peer(PeerHandler handler) { core_->dispatcher().reporter().on_peer(std::move(handler)); }

void Context::skip_poll(std::string_view method, std::optional<std::uint32_t> turns) {
    poll::Lane& lane = core_->scheduler().lanes()[core_->lane(method)];
    lane.fixed_turns.store(std::max(1u, turns.value_or(1)), std::memory_order_relaxed);
    lane.automatic.store(!turns, std::memory_order_relaxed);
}

void Context::confine(std::string_view method, bool confined) {
    core_->scheduler().lanes()[core_->lane(method)].confined.store(confined, std::memory_order_relaxed);
    core_->scheduler().wake(); // a sleeper's set of descriptors is another one now
}

std::vector<LaneReport> Context::lanes() const {
    std::vector<LaneReport> reports;
    for (const auto& method : core_->endpoint().interfaces()) {
        const poll::Lane& lane = core_->scheduler().lanes()[method->lane];
        LaneReport report;
        report.method = method->name;
        report.origin = method->origin;
        report.help = method->help;
        report.automatic = lane.automatic.load(std::memory_order_relaxed);
        report.skip_poll = lane.turns.load(std::memory_order_relaxed);
        report.blocking = lane.watcher != nullptr;
        report.confined = lane.confined.load(std::memory_order_relaxed);
        report.poll_cost_ns = lane.cost_ticks.load(std::memory_order_relaxed) * nanoseconds_per_tick();
        report.polls = lane.polls.load(std::memory_order_relaxed);
        report.hits = lane.hits.load(std::memory_order_relaxed);
        report.traffic.links = method->query(nullptr, PLEXUS_QUERY_LINKS);
        report.traffic.shared_bytes = method->query(nullptr, PLEXUS_QUERY_SHARED_BYTES);
        report.max_message = method->limits.max_message;
        report.inline_bytes = method->query(nullptr, PLEXUS_QUERY_INLINE_BYTES);
        report.eager_bytes = method->limits.eager_bytes;
        const transport::BothWays went = transport::traffic_of(core_->endpoint(), *method);
        report.traffic.messages_sent = went.sent.messages;
        report.traffic.bytes_sent = went.sent.bytes;
        report.traffic.messages_received = went.received.messages;
        report.traffic.bytes_received = went.received.bytes;
        report.traffic.repairs = method->counts.repairs.load(std::memory_order_relaxed);
        report.traffic.fallbacks = method->counts.fallbacks.load(std::memory_order_relaxed);
        report.traffic.refusals = method->counts.refusals.load(std::memory_order_relaxed) +
                                  method->query(nullptr, PLEXUS_QUERY_REFUSED);
        report.traffic.dropped = method->counts.dropped.load(std::memory_order_relaxed) +
                                 method->query(nullptr, PLEXUS_QUERY_DROPPED);
        reports.push_back(std::move(report));
    }
    return reports;
}

void Context::use(Policy policy) { detail::use_policy(core_->endpoint(), std::move(policy)); }
void Context::add_module(const std::filesystem::path& file, const Parameters& parameters) {
    core_->added().add(file, parameters);
}
void Context::add_module(const plexus_passport& passport, const Parameters& parameters) {
    core_->added().add(passport, parameters);
}
void Context::forward(ForwardRules rules) { core_->forward(std::move(rules)); }

DescriptorTable Context::table() const { return core_->endpoint().own_table()->table; }

Choice Context::explain(const DescriptorTable& table) const {
    return transport::explain(core_->endpoint(), table);
}

std::vector<RefusedModule> Context::refused() const { return std::as_const(*core_).added().refused(); }

std::vector<SettingReport> Context::settings() const {
    std::vector<SettingReport> reports;
    for (const auto& line : std::as_const(*core_).added().settings(core_->settings()).lines())
        reports.push_back({line.key.name, line.value, line.origin, line.key.help});
    return reports;
}

Polling::Polling(Context& context, std::string_view method)
  : core_(context.core())
  , lane_(core_->lane(method)) {
    core_->scheduler().lanes()[lane_].guards.fetch_add(1, std::memory_order_relaxed);
    core_->scheduler().wake();
}

Polling::~Polling() { core_->scheduler().lanes()[lane_].guards.fetch_sub(1, std::memory_order_relaxed); }

} // namespace plexus

namespace plexus::detail {

namespace {

/// A new entry of the table of objects.
Target target_for(Core& core, void* object, std::size_t bytes, std::uint64_t type,
                  std::shared_ptr<request::Attached> attached = nullptr) {
    std::uint64_t key = 0;
    while (key == 0) crypto::fill_random(&key, sizeof key);
    Target target = core.dispatcher().server().objects().add(object, bytes, type, key, std::move(attached));
    target.context = core.id();
    return target;
}

} // namespace

Binding::Binding(std::shared_ptr<Core> core, void* object, std::size_t bytes, std::uint64_t type)
  : core_(std::move(core))
  , target_(target_for(*core_, object, bytes, type)) {}

Binding::Binding(std::shared_ptr<Core> core, const Target& target)
  : core_(std::move(core))
  , target_(target) {}

Binding Binding::allocate(std::shared_ptr<Core> core, std::size_t bytes, std::uint64_t type, void*& memory) {
    auto attached = core->transfers().allocate(bytes, memory);
    const Target target = target_for(*core, memory, bytes, type, std::move(attached));
    return {std::move(core), target};
}

Binding& Binding::operator=(Binding&& other) noexcept {
    if (this != &other) {
        Binding(std::move(*this)); // ends here
        core_ = std::move(other.core_);
        target_ = other.target_;
    }
    return *this;
}

Binding::~Binding() {
    const Status status = release();
    if (status == Status::would_deadlock)
        log::error("context",
                   "an object was unbound inside an inline handler while a handler on it waits for "
                   "progress: the object must outlive that handler; see Bound::reset(last)");
    if (status == Status::timed_out)
        log::error("context", "an object was unbound, but it is still in use after progress.close_timeout: "
                              "the object must outlive its handlers; see Bound::reset(last)");
}

namespace {

/// What makes progress while a binding ends; empty inside a turn.
std::function<void()> turn_of(poll::Scheduler& scheduler) {
    return scheduler.inside_turn() ? std::function<void()>() : [&scheduler] { scheduler.progress(); };
}

} // namespace

Status Binding::release() noexcept {
    const std::shared_ptr<Core> core = std::move(core_);
    if (core == nullptr || core->forked()) return Status::ok;
    const auto deadline = Clock::now() + core->settings().duration("progress.close_timeout");
    return core->dispatcher().server().objects().remove(target_, turn_of(core->scheduler()), deadline);
}

void Binding::release(std::function<void()> last) {
    const std::shared_ptr<Core> core = std::move(core_);
    if (core == nullptr || core->forked()) {
        if (last && core == nullptr) last();
        return;
    }
    core->dispatcher().server().objects().remove_later(target_, turn_of(core->scheduler()), std::move(last));
}

std::shared_ptr<Route> Binding::route() const {
    if (core_ == nullptr) throw Error(Status::dead_pointer, "the binding has ended");
    return core_->own_way();
}

PointerBase load_pointer(Context& here, std::span<const std::byte> bytes) {
    return load_pointer(here.core()->endpoint(), bytes);
}

} // namespace plexus::detail
