// SPDX-License-Identifier: BSD-3-Clause
#include "over/module.h"

#include "common/system_text.h"
#include "common/values.h"
#include "over/callbacks.h"
#include "over/link.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <sys/epoll.h>
#include <unistd.h>
#include <utility>

namespace plexus::over {

std::string inner_method(const plexus_host& host, std::string_view own_name) {
    module::Parameters given(host);
    std::string name = given.text("over");
    if (!name.empty() && name != own_name) return name;
    given.refuse("over", "the name of another method");
    return {};
}

Module::Module(const plexus_host& outer, std::string inner_name)
  : host_(&outer)
  , inner_name_(std::move(inner_name)) {}

Module::~Module() {
    if (inner_ != nullptr) inner_ops_->destroy(inner_);
}

std::int32_t Module::open_inner() {
    under_ = host_table(*this);
    std::int32_t status = find_inner(under_, inner_ops_, inner_);
    if (status != PLEXUS_OK) return status;
    std::string why;
    status = watch_inner(why);
    if (status != PLEXUS_OK) host_->log(host_->self, PLEXUS_ERROR, why.c_str());
    return status;
}

std::int32_t Module::find_inner(const plexus_host& under, const plexus_ops*& ops, plexus_module*& inner) {
    const std::int32_t status = host_->open_inner(host_->self, inner_name_.c_str(), &under, &ops, &inner);
    const std::string why = "the inner method " + inner_name_ + " did not open";
    if (status != PLEXUS_OK) host_->log(host_->self, PLEXUS_ERROR, why.c_str());
    return status;
}

std::int32_t Module::watch_inner(std::string& why) {
    wait_fd_.reset(::epoll_create1(EPOLL_CLOEXEC));
    epoll_event ours{EPOLLIN, {}};
    epoll_event inners{EPOLLIN, {}};
    const int inner_fd = inner_ops_->wait_fd(inner_);
    if ((inner_ops_->caps & PLEXUS_CAP_SLEEP) == 0) {
        why = "the inner method " + inner_name_ + " cannot sleep";
    } else if (!event_.open() || !wait_fd_ ||
               ::epoll_ctl(wait_fd_.get(), EPOLL_CTL_ADD, event_.get(), &ours) != 0 ||
               ::epoll_ctl(wait_fd_.get(), EPOLL_CTL_ADD, inner_fd, &inners) != 0) {
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
    const std::size_t prefix = inner_name_.size() + 1;
    std::vector<plexus_row> inner;
    for (plexus_row row : std::span(rows.data, rows.capacity)) {
        if (row.descriptor.capacity <= prefix) return PLEXUS_TOO_LARGE;
        std::memcpy(row.descriptor.data, inner_name_.c_str(), prefix);
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
    if (text.substr(0, end) != inner_name_) {
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
    Link& made = add_link();
    *link = made.handle(); // before a callback can name the cookie
    const std::int32_t status = made.connect(inner, peer, cookie);
    if (status != PLEXUS_OK) remove_link(made);
    return status;
}

std::int32_t Module::poll(std::uint32_t budget) {
    std::int32_t handled = pay();
    handled += turn();
    return handled + inner_ops_->poll(inner_, budget);
}

std::int32_t Module::pay() {
    std::vector<Link*> owed;
    std::vector<Link*> retired;
    {
        const Lock hold(mutex_);
        armed_ = false;
        if (owed_.empty() && retired_.empty()) return 0;
        owed.swap(owed_);
        retired.swap(retired_);
    }
    event_.clear();
    std::int32_t handled = 0;
    for (Link* link : owed)
        if (!link->pay(handled)) owe(*link);
    // Whatever was owed about a retired link was said or dropped above: its last entry
    // came before it was retired, and both lists were taken together.
    for (Link* link : retired) {
        if (link->posted_ != 0) {
            retire(*link);
            continue;
        }
        link->on_over();
        forget(*link);
        remove_link(*link);
    }
    return handled;
}

void Module::drain() {
    inner_ops_->drain(inner_);
    std::vector<Link*> left;
    {
        const Lock hold(mutex_);
        for (const auto& [link, owned] : links_) left.push_back(link);
    }
    for (Link* link : left) link->on_over();
}

std::int32_t Module::arm(std::uint64_t& sleep_ns) {
    if (const std::int32_t status = rest(sleep_ns); status != PLEXUS_OK) return status;
    {
        const Lock hold(mutex_);
        if (!owed_.empty()) return PLEXUS_AGAIN;
        armed_ = true;
    }
    return inner_ops_->arm(inner_, &sleep_ns);
}

std::int32_t Module::query(const Link* link, plexus_query what, std::uint64_t& value) const {
    return link == nullptr ? inner_ops_->query(inner_, nullptr, what, &value) : link->query(what, value);
}

Link& Module::add_link() {
    std::unique_ptr<Link> made = make_link();
    Link& link = *made;
    const Lock hold(mutex_);
    links_.emplace(&link, std::move(made));
    return link;
}

void Module::remove_link(Link& link) {
    const Lock hold(mutex_);
    std::erase(owed_, &link);
    links_.erase(&link);
}

void Module::owe(Link& link) {
    const Lock hold(mutex_);
    if (std::find(owed_.begin(), owed_.end(), &link) == owed_.end()) owed_.push_back(&link);
    if (!armed_) return;
    event_.wake();
}

void Module::retire(Link& link) {
    const Lock hold(mutex_);
    retired_.push_back(&link);
}

} // namespace plexus::over
