// SPDX-License-Identifier: BSD-3-Clause
#include "ucx/module.h"

#include "plexus/module/table.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>

namespace plexus::ucx {
namespace {

// For enquiries before there is an endpoint to ask.
struct Guess {
    const char* transport;
    std::uint64_t latency_ns;
    std::uint64_t bandwidth;
};
constexpr Guess kGuesses[] = {{"rc_mlx5", 1'000, 12'000'000'000},  {"dc_mlx5", 1'000, 12'000'000'000},
                              {"rc_verbs", 1'200, 12'000'000'000}, {"ud_mlx5", 1'300, 10'000'000'000},
                              {"ud_verbs", 1'500, 10'000'000'000}, {"posix", 300, 10'000'000'000},
                              {"sysv", 300, 10'000'000'000},       {"tcp", 10'000, 1'250'000'000}};
constexpr std::size_t kLargeSample = 1024 * 1024;

std::string system_text(int error) { return std::system_category().message(error); }

Guess guess_for(const Descriptor& self) {
    for (const Guess& each : kGuesses)
        if (std::find(self.transports.begin(), self.transports.end(), each.transport) !=
            self.transports.end())
            return each;
    return kGuesses[std::size(kGuesses) - 1];
}

// Nanoseconds that UCX reckons with for a message; 0: it does not say.
double reckoned_ns(ucp_ep_h endpoint, std::size_t size) {
    ucp_ep_evaluate_perf_param_t asked{};
    asked.field_mask = UCP_EP_PERF_PARAM_FIELD_MESSAGE_SIZE;
    asked.message_size = size;
    ucp_ep_evaluate_perf_attr_t answer{};
    answer.field_mask = UCP_EP_PERF_ATTR_FIELD_ESTIMATED_TIME;
    return ::ucp_ep_evaluate_perf(endpoint, &asked, &answer) == UCS_OK ? answer.estimated_time * 1e9 : 0;
}

void endpoint_failed(void* way, ucp_ep_h, ucs_status_t status) {
    Way& failed = *static_cast<Way*>(way);
    failed.module.break_way(failed, status);
}

} // namespace

std::int32_t Module::make(const plexus_host& host, std::unique_ptr<Module>& made) {
    auto options = read_options(host);
    if (!options) return PLEXUS_BAD_CONFIG;
    made = std::make_unique<Module>(host, std::move(*options));
    return made->open();
}

Module::Module(const plexus_host& host, Options options)
  : host_(host)
  , options_(std::move(options))
  , ops_(static_cast<std::size_t>(options_.eager))
  , blocks_(static_cast<std::size_t>(options_.eager)) {}

Module::~Module() {
    for (Link* link : slots_) delete link;
}

std::int32_t Module::open() {
    const Trace trace;
    std::string why;
    const std::int32_t status = library_.open(options_, why);
    if (status != PLEXUS_OK) {
        log(PLEXUS_ERROR, why);
        return status;
    }
    if (const int error = lifeline_.open(host_); error != 0 && !endpoints_fail()) {
        log(PLEXUS_ERROR, "the end of processes on this host can't be noticed, for a socket could not be "
                          "made: " +
                              system_text(error));
        return PLEXUS_UNSUPPORTED;
    }
    epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
    bell_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    epoll_event worker_event{EPOLLIN, {nullptr}};
    epoll_event bell_event{EPOLLIN, {this}};
    if (!epoll_ || !bell_ ||
        ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, library_.event_fd(), &worker_event) != 0 ||
        ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, bell_.get(), &bell_event) != 0) {
        log(PLEXUS_ERROR, "no epoll set could be made: " + system_text(errno));
        return PLEXUS_UNSUPPORTED;
    }
    ucp_am_handler_param_t handler{};
    handler.field_mask =
        UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
    handler.id = 1;
    handler.cb = take;
    handler.arg = this;
    if (::ucp_worker_set_am_recv_handler(worker(), &handler) != UCS_OK) {
        log(PLEXUS_ERROR, "UCX takes no handler for active messages: " + trace.text());
        return PLEXUS_UNSUPPORTED;
    }
    self_.where = module::surroundings();
    self_.library = Library::version();
    self_.lifeline = lifeline_.name();
    self_.endpoints_fail = endpoints_fail();
    self_.address = library_.address();
    describe_resources(self_, library_.resources());
    descriptor_ = self_.encode(host_);
    if (descriptor_.empty()) {
        log(PLEXUS_ERROR, "UCX's address of this context has " + std::to_string(self_.address.size()) +
                              " bytes, more than a descriptor holds: choose fewer transports by tls or fewer "
                              "devices by net_devices");
        return PLEXUS_UNSUPPORTED;
    }
    log(PLEXUS_DEBUG, "UCX " + std::to_string(self_.library.major) + "." +
                          std::to_string(self_.library.minor) + " by " + joined(self_.transports));
    return PLEXUS_OK;
}

std::int32_t Module::describe(plexus_text& out) const {
    if (out.capacity < descriptor_.size()) return PLEXUS_TOO_LARGE;
    std::memcpy(out.data, descriptor_.data(), descriptor_.size());
    out.size = descriptor_.size();
    return PLEXUS_OK;
}

std::int32_t Module::applies(plexus_view descriptor, plexus_text& why) const {
    const auto there = Descriptor::decode(descriptor);
    const std::string reason = there ? there->why_not(self_) : "the descriptor is damaged";
    if (reason.empty()) return PLEXUS_OK;
    module::write(why, reason);
    return PLEXUS_NO_METHOD;
}

std::int32_t Module::connect(plexus_view descriptor, const plexus_id& peer, void* cookie, plexus_link** out) {
    auto there = Descriptor::decode(descriptor);
    if (!there) return PLEXUS_BAD_ARGUMENT;
    if (closing()) return PLEXUS_LINK_LOST;
    auto* link = new Link(*this, cookie, peer, std::move(*there));
    link->trusted = Descriptor::sealed(host_, descriptor);
    *out = reinterpret_cast<plexus_link*>(link); // before a callback can come
    enter(*link);
    const Hold hold(lock_);
    note(*link);
    return PLEXUS_OK;
}

void Module::enter(Link& link) {
    std::uint64_t token = 0;
    host_.random(host_.self, &token, sizeof token);
    const Hold hold(lock_);
    if (free_slots_.empty()) {
        free_slots_.push_back(static_cast<std::uint32_t>(slots_.size()));
        slots_.push_back(nullptr);
    }
    link.mine = {free_slots_.back(), token};
    free_slots_.pop_back();
    slots_[link.mine.slot] = &link;
    ++link_count_;
}

void Module::note(Link& link) {
    if (std::exchange(link.noted, true)) return;
    noted_.push_back(&link);
    news_ = true;
    wake_up();
}

void Module::be_ready(Link& link) {
    if (std::exchange(link.ready, true)) return;
    ready_.push_back(&link);
    news_ = true;
    wake_up();
}

void Module::is_over(Link& link, void* token, std::int32_t status) {
    ended_.push_back({&link, token, status});
    ++link.refs;
    news_ = true;
    wake_up();
}

void Module::has_landed(Landing& landing) {
    Link* link = landing.link;
    landing.over.store(true, std::memory_order_release); // [landed]
    if (link == nullptr) return;
    --link->receiving;
    landed_.push_back(link);
    ++link->refs;
    news_ = true;
    wake_up();
}

void Module::orphan(Op& op) { orphans_.push_back(&op); }

void Module::orphan_over(Op& op) {
    std::erase(orphans_, &op);
    ops_.give_back(op);
}

// A sleeper has to look after it.
void Module::something_is_pending() {
    if (library_.on_host()) wake_up();
}

void Module::wake_up() {
    if (!std::exchange(armed_, false)) return;
    const std::uint64_t one = 1;
    (void)!::write(bell_.get(), &one, sizeof one);
}

void Module::break_way(Way& way, ucs_status_t status) {
    if (way.failed) return;
    way.failed = true;
    way.status = status;
    way_failed_ = true;
    news_ = true;
    wake_up();
}

void Module::close_endpoint(Way& way) {
    if (way.endpoint == nullptr) return;
    ucp_request_param_t how{};
    how.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    how.flags = endpoints_fail() ? static_cast<std::uint32_t>(UCP_EP_CLOSE_FLAG_FORCE) : 0;
    const ucs_status_ptr_t request = ::ucp_ep_close_nbx(std::exchange(way.endpoint, nullptr), &how);
    if (UCS_PTR_IS_PTR(request)) ::ucp_request_free(request);
}

Way* Module::way_to(const Descriptor& target, std::string& why) {
    if (const auto found = ways_.find(key_of(target.address)); found != ways_.end())
        return found->second.get();
    auto way = std::make_unique<Way>(*this, target.address);
    if (target.where.same_network(self_.where) && target.lifeline != LifelineName{}) {
        way->lifeline = hold_on(target.lifeline);
        const int error = errno;
        if (!way->lifeline && error == ECONNREFUSED) {
            why = "the peer's context has ended";
            return nullptr;
        }
        if (!way->lifeline && !endpoints_fail()) {
            why = "the end of the peer could not be noticed: " + system_text(error);
            return nullptr;
        }
    }
    const Trace trace;
    {
        const Hold hold(lock_);
        ucp_ep_params_t wanted{};
        wanted.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLER |
                            UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
        wanted.address = reinterpret_cast<const ucp_address_t*>(way->address.data());
        wanted.err_mode = endpoints_fail() ? UCP_ERR_HANDLING_MODE_PEER : UCP_ERR_HANDLING_MODE_NONE;
        wanted.err_handler = {endpoint_failed, way.get()};
        const ucs_status_t status = ::ucp_ep_create(worker(), &wanted, &way->endpoint);
        if (status != UCS_OK) {
            why = std::string("UCX can't reach the peer: ") + ::ucs_status_string(status) +
                  (trace.empty() ? "" : " (" + trace.text() + ")");
            return nullptr;
        }
    }
    epoll_event event{0, {way.get()}}; // hang-ups are told without being asked for
    if (way->lifeline) (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, way->lifeline.get(), &event);
    Way* out = way.get();
    ways_.emplace(key_of(out->address), std::move(way));
    return out;
}

void Module::watch(Link& link, std::chrono::nanoseconds limit) {
    link.deadline = Clock::now() + limit;
    if (std::find(watched_.begin(), watched_.end(), &link) == watched_.end()) watched_.push_back(&link);
}

void Module::look_after(Link& link) {
    if (!std::exchange(link.ending, true)) ending_.push_back(&link);
}

std::int32_t Module::query(const Link* link, plexus_query what, std::uint64_t& value) {
    const Guess guess = guess_for(self_);
    const Hold hold(lock_);
    const bool known = link != nullptr && link->way != nullptr && link->way->endpoint != nullptr;
    const auto reckoned = [&](std::size_t size) {
        return known ? reckoned_ns(link->way->endpoint, size) : 0.0;
    };
    switch (what) {
    case PLEXUS_QUERY_MAX_MESSAGE:
    case PLEXUS_QUERY_SHARED_BYTES:
        value = 0; // UCX does not tell what it shares
        return PLEXUS_OK;
    case PLEXUS_QUERY_REMOTE_BYTES:
        value = library_.moves_memory() ? options_.remote : 0;
        return PLEXUS_OK;
    case PLEXUS_QUERY_INLINE_BYTES:
        value = Arrival::kRoom;
        return PLEXUS_OK;
    case PLEXUS_QUERY_EAGER_BYTES:
        value = options_.eager;
        return PLEXUS_OK;
    case PLEXUS_QUERY_LATENCY_NS: {
        const double ns = reckoned(8);
        value = ns > 0 ? static_cast<std::uint64_t>(ns) : guess.latency_ns;
        return PLEXUS_OK;
    }
    case PLEXUS_QUERY_BANDWIDTH_BPS: {
        const double ns = reckoned(kLargeSample);
        value = ns > 0 ? static_cast<std::uint64_t>(kLargeSample * 1e9 / ns) : guess.bandwidth;
        return PLEXUS_OK;
    }
    case PLEXUS_QUERY_QUEUED_BYTES:
        value = link != nullptr ? link->queued_bytes() : 0;
        if (link == nullptr)
            for (const Link* one : slots_) value += one != nullptr ? one->queued_bytes() : 0;
        return PLEXUS_OK;
    case PLEXUS_QUERY_LINKS:
        value = link_count_;
        return PLEXUS_OK;
    }
    return PLEXUS_UNSUPPORTED;
}

const plexus_ops kOps =
    module::table_of<Module, Link>(PLEXUS_CAP_SLEEP | PLEXUS_CAP_FRAGILE | PLEXUS_CAP_REMOTE_MEMORY);

} // namespace plexus::ucx
