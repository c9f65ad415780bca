// SPDX-License-Identifier: BSD-3-Clause
#include "faults/module.h"

#include "common/system_text.h"
#include "faults/link.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

namespace plexus::faults {

Module::Module(const plexus_host& outer, Plan plan)
  : host_(&outer)
  , plan_(std::move(plan)) {}

Module::~Module() {
    if (inner_ != nullptr) inner_ops_->destroy(inner_);
    if (wait_fd_ >= 0) ::close(wait_fd_);
    if (event_fd_ >= 0) ::close(event_fd_);
}

std::int32_t Module::make(const plexus_host& host, std::unique_ptr<Module>& made) {
    std::optional<Plan> plan = read_plan(host);
    if (!plan) return PLEXUS_BAD_CONFIG;
    made = std::make_unique<Module>(host, *std::move(plan));
    std::string why;
    const std::int32_t status = made->open_inner(why);
    if (status != PLEXUS_OK) host.log(host.self, PLEXUS_ERROR, why.c_str());
    return status;
}

std::int32_t Module::open_inner(std::string& why) {
    under_ = Link::under(*this);
    const std::int32_t status =
        host_->open_inner(host_->self, plan_.over.c_str(), &under_, &inner_ops_, &inner_);
    if (status != PLEXUS_OK) {
        why = "the inner method " + plan_.over + " did not open";
        return status;
    }
    event_fd_ = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    wait_fd_ = ::epoll_create1(EPOLL_CLOEXEC);
    epoll_event ours{EPOLLIN, {}};
    epoll_event inners{EPOLLIN, {}};
    const int inner_fd = inner_ops_->wait_fd(inner_);
    if ((inner_ops_->caps & PLEXUS_CAP_SLEEP) == 0) {
        why = "the inner method " + plan_.over + " cannot sleep";
    } else if (event_fd_ < 0 || wait_fd_ < 0 || ::epoll_ctl(wait_fd_, EPOLL_CTL_ADD, event_fd_, &ours) != 0 ||
               ::epoll_ctl(wait_fd_, EPOLL_CTL_ADD, inner_fd, &inners) != 0) {
        why = "no descriptor to sleep on: " + module::system_text(errno);
    } else {
        return PLEXUS_OK;
    }
    inner_ops_->close(inner_);
    inner_ops_->drain(inner_);
    return PLEXUS_UNSUPPORTED;
}

// The rows of the inner module, with its labels. A descriptor is the name of the inner method, a zero byte,
// the inner descriptor.
std::int32_t Module::describe(plexus_rows& rows) const {
    const std::size_t prefix = plan_.over.size() + 1;
    std::vector<plexus_row> inner;
    for (plexus_row row : std::span(rows.data, rows.capacity)) {
        if (row.descriptor.capacity <= prefix) return PLEXUS_TOO_LARGE;
        std::memcpy(row.descriptor.data, plan_.over.c_str(), prefix);
        row.descriptor = {row.descriptor.data + prefix, row.descriptor.capacity - prefix, 0};
        inner.push_back(row);
    }
    plexus_rows described{inner.data(), inner.size(), 0};
    const std::int32_t status = inner_ops_->describe(inner_, &described);
    if (status != PLEXUS_OK) return status;
    if (described.size > inner.size()) return PLEXUS_BAD_MODULE;
    for (std::size_t i = 0; i < described.size; ++i) {
        rows.data[i].label.size = inner[i].label.size;
        rows.data[i].descriptor.size = prefix + inner[i].descriptor.size;
    }
    rows.size = described.size;
    return PLEXUS_OK;
}

plexus_view Module::unwrap(plexus_view descriptor, std::string& why) const {
    const std::string_view text = module::text_of(descriptor);
    const std::size_t end = text.find('\0');
    if (end == std::string_view::npos || end > 31) {
        why = "not a descriptor of this method";
        return {};
    }
    if (text.substr(0, end) != plan_.over) {
        why = "runs over another method there";
        return {};
    }
    return module::view(text.substr(end + 1));
}

std::int32_t Module::applies(plexus_view descriptor, plexus_text& why) const {
    std::string reason;
    const plexus_view inner = unwrap(descriptor, reason);
    if (inner.data == nullptr) {
        module::write(why, reason);
        return PLEXUS_NO_METHOD;
    }
    return inner_ops_->applies(inner_, inner, &why);
}

std::int32_t Module::connect(plexus_view descriptor, const plexus_id& peer, void* cookie,
                             plexus_link** link) {
    std::string why;
    const plexus_view inner = unwrap(descriptor, why);
    if (inner.data == nullptr) return PLEXUS_BAD_ARGUMENT;
    const bool refuse = plan_.refuse_connect != 0 && next_connect() % plan_.refuse_connect == 0;
    Link& made = add_link();
    *link = made.handle(); // before a callback can name the cookie
    const std::int32_t status = refuse ? made.refuse(cookie) : made.connect(inner, peer, cookie);
    if (status != PLEXUS_OK) remove_link(made);
    return status;
}

std::int32_t Module::poll(std::uint32_t budget) {
    std::int32_t handled = pay();
    if (!holding_.empty()) handled += release();
    return handled + inner_ops_->poll(inner_, budget);
}

std::int32_t Module::pay() {
    std::vector<Link*> owed;
    std::vector<Link*> buried;
    {
        const std::lock_guard hold(mutex_);
        armed_ = false;
        if (owed_.empty() && buried_.empty()) return 0;
        owed.swap(owed_);
        buried.swap(buried_);
    }
    std::uint64_t ignored = 0;
    static_cast<void>(::read(event_fd_, &ignored, sizeof ignored));
    std::int32_t handled = 0;
    for (Link* link : owed)
        if (!link->pay(handled)) owe(*link);
    // Whatever was owed about a buried link was said or dropped above: its last mention
    // came before its burial, and both lists were taken together.
    for (Link* link : buried) {
        if (!link->idle()) {
            bury(*link);
            continue;
        }
        std::erase(holding_, link);
        const std::lock_guard hold(mutex_);
        std::erase(owed_, link);
        links_.erase(link);
    }
    return handled;
}

std::int32_t Module::release() {
    const auto now = std::chrono::steady_clock::now();
    std::int32_t handled = 0;
    for (std::size_t i = 0; i < holding_.size();) {
        Link& link = *holding_[i]; // a callback may add to holding_
        handled += link.release(now);
        if (link.holding()) {
            ++i;
        } else {
            std::erase(holding_, &link);
        }
    }
    return handled;
}

std::int32_t Module::arm(std::uint64_t& sleep_ns) {
    const auto now = std::chrono::steady_clock::now();
    for (const Link* link : holding_) {
        if (!link->holding()) continue; // dropped since, with its link
        if (link->waits_for_polls() || link->due() <= now) return PLEXUS_AGAIN;
        const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(link->due() - now);
        sleep_ns = std::min(sleep_ns, static_cast<std::uint64_t>(left.count()));
    }
    {
        const std::lock_guard hold(mutex_);
        if (!owed_.empty()) return PLEXUS_AGAIN;
        armed_ = true;
    }
    return inner_ops_->arm(inner_, &sleep_ns);
}

std::int32_t Module::query(const Link* link, plexus_query what, std::uint64_t& value) const {
    if (link == nullptr) return inner_ops_->query(inner_, nullptr, what, &value);
    plexus_link* inner = link->inner();
    if (inner == nullptr) return PLEXUS_LINK_LOST;
    return inner_ops_->query(inner_, inner, what, &value);
}

Link& Module::add_link() {
    const std::lock_guard hold(mutex_);
    auto made = std::make_unique<Link>(*this, plan_.seed * 0x100000001b3u + links_made_++);
    Link& link = *made;
    links_.emplace(&link, std::move(made));
    return link;
}

void Module::remove_link(Link& link) {
    const std::lock_guard hold(mutex_);
    links_.erase(&link);
}

std::uint64_t Module::next_connect() {
    const std::lock_guard hold(mutex_);
    return ++connects_;
}

void Module::owe(Link& link) {
    const std::lock_guard hold(mutex_);
    if (std::find(owed_.begin(), owed_.end(), &link) == owed_.end()) owed_.push_back(&link);
    if (!armed_) return;
    const std::uint64_t one = 1;
    static_cast<void>(::write(event_fd_, &one, sizeof one)); // full: it is readable already
}

void Module::holds_back(Link& link) {
    if (std::find(holding_.begin(), holding_.end(), &link) == holding_.end()) holding_.push_back(&link);
}

void Module::bury(Link& link) {
    const std::lock_guard hold(mutex_);
    buried_.push_back(&link);
}

} // namespace plexus::faults
