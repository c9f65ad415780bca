// SPDX-License-Identifier: BSD-3-Clause
#include "faults/module.h"

#include "faults/link.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

namespace plexus::faults {

Module::Module(const plexus_host& outer, Plan plan)
  : host_(&outer)
  , plan_(std::move(plan)) {}

Module::~Module() {
    if (wait_fd_ >= 0) ::close(wait_fd_);
    if (event_fd_ >= 0) ::close(event_fd_);
}

std::int32_t Module::open(const plexus_host* host, plexus_module** module) {
    std::optional<Plan> plan = read_plan(*host);
    if (!plan) return PLEXUS_BAD_CONFIG;
    auto made = std::make_unique<Module>(*host, *std::move(plan));
    std::string why;
    const std::int32_t status = made->open_inner(why);
    if (status == PLEXUS_OK) {
        *module = reinterpret_cast<plexus_module*>(made.release());
    } else {
        host->log(host->self, PLEXUS_ERROR, why.c_str());
    }
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
        why = std::string("no descriptor to sleep on: ") + std::strerror(errno);
    } else {
        return PLEXUS_OK;
    }
    inner_ops_->close(inner_);
    inner_ops_->drain(inner_);
    inner_ops_->destroy(inner_);
    return PLEXUS_UNSUPPORTED;
}

void Module::close(plexus_module* module) { of(module).inner_ops_->close(of(module).inner_); }

void Module::drain(plexus_module* module) { of(module).inner_ops_->drain(of(module).inner_); }

void Module::destroy(plexus_module* module) {
    const std::unique_ptr<Module> mine(&of(module));
    mine->inner_ops_->destroy(mine->inner_);
}

// The name of the inner method, a zero byte, its descriptor.
std::int32_t Module::describe(plexus_module* module, plexus_text* descriptor) {
    const Module& m = of(module);
    const std::size_t prefix = m.plan_.over.size() + 1;
    if (descriptor->capacity <= prefix) return PLEXUS_TOO_LARGE;
    std::memcpy(descriptor->data, m.plan_.over.c_str(), prefix);
    plexus_text inner{descriptor->data + prefix, descriptor->capacity - prefix, 0};
    const std::int32_t status = m.inner_ops_->describe(m.inner_, &inner);
    descriptor->size = prefix + inner.size;
    return status;
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

std::int32_t Module::applies(plexus_module* module, plexus_view descriptor, plexus_text* why) {
    const Module& m = of(module);
    std::string reason;
    const plexus_view inner = m.unwrap(descriptor, reason);
    if (inner.data == nullptr) {
        module::write(*why, reason);
        return PLEXUS_NO_METHOD;
    }
    return m.inner_ops_->applies(m.inner_, inner, why);
}

std::int32_t Module::poll(plexus_module* module, std::uint32_t budget) {
    Module& m = of(module);
    std::int32_t handled = m.pay();
    if (!m.holding_.empty()) handled += m.release();
    return handled + m.inner_ops_->poll(m.inner_, budget);
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

std::int32_t Module::arm(plexus_module* module, std::uint64_t* sleep_ns) {
    Module& m = of(module);
    const auto now = std::chrono::steady_clock::now();
    for (const Link* link : m.holding_) {
        if (!link->holding()) continue; // dropped since, with its link
        if (link->waits_for_polls() || link->due() <= now) return PLEXUS_AGAIN;
        const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(link->due() - now);
        *sleep_ns = std::min(*sleep_ns, static_cast<std::uint64_t>(left.count()));
    }
    {
        const std::lock_guard hold(m.mutex_);
        if (!m.owed_.empty()) return PLEXUS_AGAIN;
        m.armed_ = true;
    }
    return m.inner_ops_->arm(m.inner_, sleep_ns);
}

std::int32_t Module::wait_fd(plexus_module* module) { return of(module).wait_fd_; }

std::int32_t Module::query(plexus_module* module, plexus_link* link, plexus_query what,
                           std::uint64_t* value) {
    const Module& m = of(module);
    if (link == nullptr) return m.inner_ops_->query(m.inner_, nullptr, what, value);
    plexus_link* inner = Link::of(link).inner();
    if (inner == nullptr) return PLEXUS_LINK_LOST;
    return m.inner_ops_->query(m.inner_, inner, what, value);
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
