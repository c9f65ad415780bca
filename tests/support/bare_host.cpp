// SPDX-License-Identifier: BSD-3-Clause
#include "support/bare_host.h"

#include "support/arguments.h"
#include "support/log_guard.h"
#include "support/process.h"

#include <algorithm>
#include <poll.h>
#include <sys/random.h>
#include <utility>

namespace plexus::testing {

plexus_id random_id() {
    plexus_id id{};
    if (::getrandom(id.bytes, sizeof id.bytes, 0) != static_cast<ssize_t>(sizeof id.bytes))
        throw std::runtime_error("getrandom gives no random bytes");
    return id;
}

std::int32_t End::lost_status() const {
    const std::lock_guard hold(records_);
    return lost_status_;
}

std::string End::lost_why() const {
    const std::lock_guard hold(records_);
    return lost_why_;
}

std::optional<Bytes> End::take() {
    const std::lock_guard hold(records_);
    if (inbox_.empty()) return std::nullopt;
    Bytes message = std::move(inbox_.front());
    inbox_.pop_front();
    return message;
}

BareHost::BareHost(const Method& method, BareOptions options)
  : method_(method)
  , options_(std::move(options)) {
    table_.id = options_.id ? *options_.id : random_id();
    if (method_.name == arguments().module) // what the test itself sets wins
        options_.settings.insert(arguments().settings.begin(), arguments().settings.end());
    fill_table();
    const std::int32_t status = method_.ops.open(&table_, &module_);
    if (status != PLEXUS_OK) {
        destroyed_ = true;
        std::string text = method_.name + " did not open (" + std::to_string(status) + ")";
        for (const std::string& line : log_) text += "; " + line;
        throw OpenFailed(status, text, log_);
    }
}

BareHost::~BareHost() {
    if (destroyed_) return;
    close();
    drain();
    destroy();
}

void BareHost::close() {
    if (std::exchange(closed_, true)) return;
    method_.ops.close(module_);
}

void BareHost::drain() {
    if (draining_.exchange(true)) return;
    method_.ops.drain(module_);
    drained_ = true;
}

void BareHost::destroy() {
    if (std::exchange(destroyed_, true)) return;
    method_.ops.destroy(module_);
    module_ = nullptr;
}

End& BareHost::adopt(bool accepted) {
    const std::lock_guard hold(mutex_);
    ends_.push_back(std::make_unique<End>(*this, accepted));
    return *ends_.back();
}

bool BareHost::check_callback(const char* what, End* end, bool while_draining) {
    const std::string name = std::string("`") + what + "`";
    if (drained_) {
        report_violation(name + " came after drain");
        return false;
    }
    const bool polling = polling_thread_.load() == std::this_thread::get_id();
    if (!polling && !(while_draining && draining_)) {
        report_violation(name + " came from outside poll");
        return false;
    }
    if (end != nullptr && polls_ > end->given_up_in_) {
        report_violation(name + " came after disconnect");
        return false;
    }
    return true;
}

void BareHost::finish(End& end, ByteView message) {
    if (hooks.message) {
        hooks.message(end, message);
    } else {
        const std::lock_guard hold(end.records_);
        end.inbox_.emplace_back(message.begin(), message.end());
    }
    ++end.received_;
}

std::vector<BareHost::Row> BareHost::rows() const {
    constexpr std::size_t kMostRows = 32;
    constexpr std::size_t kRoom = PLEXUS_LABEL_MAX + PLEXUS_DESCRIPTOR_MAX;
    std::vector<char> room(kMostRows * kRoom);
    std::vector<plexus_row> rows;
    for (char* at = room.data(); rows.size() < kMostRows; at += kRoom)
        rows.push_back({{at, PLEXUS_LABEL_MAX, 0}, {at + PLEXUS_LABEL_MAX, PLEXUS_DESCRIPTOR_MAX, 0}});
    plexus_rows described{rows.data(), rows.size(), 0};
    const std::int32_t status = method_.ops.describe(module_, &described);
    if (status != PLEXUS_OK || described.size == 0 || described.size > kMostRows)
        throw std::runtime_error(method_.name + " does not describe itself: " + std::to_string(status));
    rows.resize(described.size);
    std::vector<Row> found;
    for (const plexus_row& row : rows) {
        if (row.label.size > PLEXUS_LABEL_MAX || row.descriptor.size > PLEXUS_DESCRIPTOR_MAX)
            throw std::runtime_error(method_.name + " describes a row by more than there is room for");
        const auto* const bytes = reinterpret_cast<const std::byte*>(row.descriptor.data);
        found.push_back({{row.label.data, row.label.size}, {bytes, bytes + row.descriptor.size}});
    }
    return found;
}

std::int32_t BareHost::applies(ByteView descriptor, std::string* why) {
    std::array<char, 512> room{};
    plexus_text text{room.data(), room.size(), 0};
    const std::int32_t status = method_.ops.applies(module_, {descriptor.data(), descriptor.size()}, &text);
    if (text.size > room.size()) report_violation("`applies` says more than there is room for");
    if (status != PLEXUS_OK && status != PLEXUS_NO_METHOD)
        report_violation("`applies` answers " + std::to_string(status));
    if (status == PLEXUS_NO_METHOD && text.size == 0) report_violation("`applies` refuses without a reason");
    if (why != nullptr) why->assign(room.data(), std::min(text.size, room.size()));
    return status;
}

std::uint64_t BareHost::query(plexus_query what, End* end) {
    plexus_link* link = nullptr;
    std::unique_lock<std::mutex> hold;
    if (end != nullptr) {
        hold = std::unique_lock(end->calls_);
        link = end->link_;
    }
    std::uint64_t value = 0;
    return method_.ops.query(module_, link, what, &value) == PLEXUS_OK ? value : 0;
}

End* BareHost::connect(ByteView descriptor, const plexus_id& peer, std::int32_t* status) {
    End& end = adopt(false);
    end.peer = peer;
    const std::lock_guard hold(end.calls_);
    const std::int32_t answer =
        method_.ops.connect(module_, {descriptor.data(), descriptor.size()}, &peer, &end, &end.link_);
    if (status != nullptr) *status = answer;
    return answer == PLEXUS_OK ? &end : nullptr;
}

void BareHost::disconnect(End& end) {
    const std::lock_guard hold(end.calls_);
    if (end.link_ == nullptr) return;
    method_.ops.disconnect(std::exchange(end.link_, nullptr));
    // From a callback: at once. From another thread: one that has begun may still run.
    const bool polling = polling_thread_.load() == std::this_thread::get_id();
    end.given_up_in_ = polls_ - (polling ? 1 : 0);
}

std::int32_t BareHost::set(End& end, const char* key, const char* value, std::string* why) {
    std::array<char, 512> room{};
    plexus_text text{room.data(), room.size(), 0};
    const std::lock_guard hold(end.calls_);
    if (end.link_ == nullptr) return PLEXUS_LINK_LOST;
    const std::int32_t status = method_.ops.set(end.link_, key, value, &text);
    if (why != nullptr) why->assign(room.data(), std::min(text.size, room.size()));
    return status;
}

std::int32_t BareHost::send(End& end, std::shared_ptr<const Bytes> message, std::size_t head,
                            std::uint32_t pieces) {
    const std::size_t size = message->size();
    head = std::min({head, size, std::size_t{PLEXUS_HEAD_MAX}});
    std::vector<plexus_view> views{{message->data(), head}};
    std::size_t at = head;
    for (std::uint32_t left = pieces > 1 ? pieces - 1 : 1; left > 0 && (at < size || pieces > 1); --left) {
        const std::size_t part = left == 1 ? size - at : (size - at) / left;
        views.push_back({message->data() + at, part});
        at += part;
    }

    return post(end, std::move(message), [&](plexus_link* link, void* token) {
        return method_.ops.send(link, views.data(), static_cast<std::uint32_t>(views.size()), token);
    });
}

// Under the host's lock of the link; what is posted is kept until `sent`.
template <class Call>
std::int32_t BareHost::post(End& end, std::shared_ptr<const Bytes> kept, Call&& call) {
    void* token = nullptr;
    {
        const std::lock_guard hold(mutex_);
        token = reinterpret_cast<void*>(next_token_++);
        posted_.emplace(token, std::pair(&end, std::move(kept))); // `sent` may come before the call is back
    }
    ++end.posted_;
    const std::lock_guard one(end.calls_);
    const std::int32_t status = end.link_ != nullptr ? call(end.link_, token) : PLEXUS_LINK_LOST;
    if (status != PLEXUS_POSTED) {
        --end.posted_;
        const std::lock_guard hold(mutex_);
        posted_.erase(token);
    }
    return status;
}

bool BareHost::push(End& end, std::shared_ptr<const Bytes> message, std::size_t head, std::uint32_t pieces) {
    const std::lock_guard hold(end.order_);
    end.backlog_.push_back({std::move(message), head, pieces});
    return end.backlog_.size() > 1 || send_backlog(end);
}

bool BareHost::send_backlog(End& end) {
    while (!end.backlog_.empty()) {
        const End::Waiting& first = end.backlog_.front();
        const std::int32_t status = send(end, first.message, first.head, first.pieces);
        if (status == PLEXUS_AGAIN) return true;
        end.backlog_.pop_front();
        if (status != PLEXUS_OK && status != PLEXUS_POSTED) return false;
    }
    return true;
}

std::int32_t BareHost::send_pieces(End& end, std::span<const plexus_view> pieces) {
    return post(end, nullptr, [&](plexus_link* link, void* token) {
        return method_.ops.send(link, pieces.data(), static_cast<std::uint32_t>(pieces.size()), token);
    });
}

std::int32_t BareHost::attach(End& end, ByteView key, plexus_remote_key** remote) {
    const std::lock_guard hold(end.calls_);
    if (end.link_ == nullptr) return PLEXUS_LINK_LOST;
    return method_.ops.attach(end.link_, {key.data(), key.size()}, remote);
}

void BareHost::detach(End& end, plexus_remote_key* remote) {
    const std::lock_guard hold(end.calls_);
    if (end.link_ != nullptr) method_.ops.detach(end.link_, remote);
}

std::int32_t BareHost::get(End& end, plexus_remote_key* remote, std::uint64_t offset,
                           std::span<std::byte> into) {
    return post(end, nullptr, [&](plexus_link* link, void* token) {
        return method_.ops.get(link, remote, offset, into.data(), into.size(), token);
    });
}

std::int32_t BareHost::put(End& end, plexus_remote_key* remote, std::uint64_t offset, ByteView from) {
    return post(end, nullptr, [&](plexus_link* link, void* token) {
        return method_.ops.put(link, remote, offset, from.data(), from.size(), token);
    });
}

std::int32_t BareHost::poll(std::uint32_t budget) {
    const std::lock_guard hold(polling_);
    ++polls_;
    polling_thread_ = std::this_thread::get_id();
    const std::int32_t handled = method_.ops.poll(module_, budget);
    polling_thread_ = std::thread::id{};
    if (handled < 0) report_violation("`poll` answers " + std::to_string(handled));
    return handled;
}

std::int32_t BareHost::arm(std::uint64_t* sleep_ns) {
    const std::lock_guard hold(polling_);
    return method_.ops.arm(module_, sleep_ns);
}

int BareHost::wait_fd() { return method_.ops.wait_fd(module_); }

bool BareHost::sleep(std::chrono::milliseconds limit) {
    std::uint64_t sleep_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(limit).count());
    const std::uint64_t most = sleep_ns;
    if (arm(&sleep_ns) == PLEXUS_AGAIN) return true;
    pollfd item{wait_fd(), POLLIN, 0};
    const int wait_ms = static_cast<int>((sleep_ns + 999'999) / 1'000'000);
    return ::poll(&item, 1, wait_ms) > 0 || sleep_ns < most; // the module asked to be called early
}

std::vector<End*> BareHost::incoming() const {
    const std::lock_guard hold(mutex_);
    return incoming_;
}

std::vector<std::string> BareHost::log_lines() const {
    const std::lock_guard hold(mutex_);
    return log_;
}

Poller::Poller(BareHost& host)
  : thread_([this, &host] {
      while (!stop_)
          if (host.poll() == 0) std::this_thread::yield();
  }) {}

Poller::~Poller() {
    stop_ = true;
    thread_.join();
}

End* link_up(BareHost& from, BareHost& to, End** far) {
    const std::size_t before = to.incoming_count();
    End* near = from.connect(to.descriptor(), to.id());
    if (near == nullptr) return nullptr;
    const bool up = pump({&from, &to}, 10s, [&] {
        return near->is_lost() || (near->is_opened() && to.incoming_count() > before);
    });
    if (!up || near->is_lost()) return nullptr;
    if (far != nullptr) *far = to.incoming()[before];
    return near;
}

Pair::Pair(const Method& method, const BareOptions& first, const BareOptions& second)
  : a(method, first)
  , b(method, second) {
    to_b = link_up(a, b, &to_a);
    if (to_b == nullptr) throw std::runtime_error(method.name + ": no link came up within ten seconds");
}

int Pair::end_in_a_child() {
    Process child([this](Channel&) {
        for (BareHost* host : {&a, &b}) {
            host->close();
            host->drain();
            host->destroy();
        }
        return 0;
    });
    return child.code(20s);
}

} // namespace plexus::testing
