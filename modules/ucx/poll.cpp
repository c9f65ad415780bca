// SPDX-License-Identifier: BSD-3-Clause
// The turn: UCX gets on with its work under the lock, then what it noted is told without.
#include "ucx/module.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace plexus::ucx {
namespace {

constexpr std::uint32_t kTurnsPerLook = 4096; // at lifelines, which nothing else tells of
constexpr std::uint32_t kTurnsPerClock = 64;
constexpr std::uint32_t kQuiet = 3;           // turns after which a dead peer has said all
constexpr std::size_t kWorthKeeping = 1024;   // bytes that are better kept in place than copied
constexpr std::uint64_t kPendingNs = 500'000; // shared memory does not tell when there is room
constexpr std::uint64_t kEndingNs = 1'000'000;

} // namespace

// UCX's callback, under the lock.
ucs_status_t Module::take(void* module, const void* header, std::size_t header_size, void* data,
                          std::size_t size, const ucp_am_recv_param_t* about) {
    if (header_size == 0) { // it stands before the message
        if (size < Header::kBytes || (about->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0) return UCS_OK;
        const Header read = Header::read(data);
        if (read.kind == Kind::large) return UCS_OK;
        return static_cast<Module*>(module)->keep(read, nullptr, data, Header::kBytes, size - Header::kBytes,
                                                  about->recv_attr);
    }
    if (header_size < Header::kBytes) return UCS_OK;
    const Header read = Header::read(header);
    if (read.kind != Kind::large || header_size != Header::kBytes + read.head || read.head > PLEXUS_HEAD_MAX)
        return UCS_OK;
    const auto* head = static_cast<const std::byte*>(header) + Header::kBytes;
    return static_cast<Module*>(module)->keep(read, head, data, 0, size, about->recv_attr);
}

Link* Module::named_by(const Header& header) const {
    if (header.slot >= slots_.size()) return nullptr;
    Link* link = slots_[header.slot];
    return link != nullptr && link->mine.token == header.token ? link : nullptr;
}

// The message begins `skip` bytes into `data`.
ucs_status_t Module::keep(const Header& header, const void* head, void* data, std::size_t skip,
                          std::size_t size, std::uint64_t attributes) {
    Link* link = nullptr;
    const bool hello = header.kind == Kind::hello;
    if (hello) {
        if (size > Arrival::kRoom + Descriptor::kMostBytes) return UCS_OK;
    } else {
        link = named_by(header);
        if (link == nullptr) return UCS_OK;
    }
    const bool rendezvous = (attributes & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0;
    const bool large = header.kind == Kind::large;
    Arrival& arrival = inbox_.emplace_back();
    arrival.link = link;
    arrival.header = header;
    arrival.size = size;
    if (large) std::memcpy(arrival.room.data(), head, header.head);
    const auto* from = static_cast<const std::byte*>(data) + skip;
    const bool stays = (attributes & UCP_AM_RECV_ATTR_FLAG_DATA) != 0;
    if (rendezvous || (stays && size >= kWorthKeeping && reinterpret_cast<std::uintptr_t>(data) % 8 == 0)) {
        arrival.store = rendezvous ? Arrival::Store::rendezvous : Arrival::Store::kept;
        arrival.data = data;
        arrival.skip = static_cast<std::uint8_t>(skip);
        return UCS_INPROGRESS;
    }
    if (!large && size <= Arrival::kRoom) {
        if (size > 0) std::memcpy(arrival.room.data(), from, size);
        return UCS_OK;
    }
    const bool fits = !hello && size <= blocks_.bytes(); // those are rare
    arrival.store = fits ? Arrival::Store::block : Arrival::Store::heap;
    std::byte* copy = fits ? blocks_.take() : std::make_unique_for_overwrite<std::byte[]>(size).release();
    if (size > 0) std::memcpy(copy, from, size);
    arrival.data = copy;
    return UCS_OK;
}

void Module::release(Arrival& arrival) {
    if (arrival.store == Arrival::Store::heap) {
        const std::unique_ptr<std::byte[]> own(static_cast<std::byte*>(arrival.data));
    } else if (arrival.store != Arrival::Store::here) {
        to_release_.push_back(arrival);
    }
    arrival.store = Arrival::Store::here;
    arrival.data = nullptr;
}

// Under the lock.
void Module::flush_releases() {
    for (Arrival& each : to_release_) {
        if (each.store == Arrival::Store::block) {
            blocks_.give_back(static_cast<std::byte*>(each.data));
        } else if (worker() != nullptr) {
            ::ucp_am_data_release(worker(), each.data);
        }
    }
    to_release_.clear();
}

std::int32_t Module::poll(std::uint32_t budget) {
    const Trace trace;
    std::uint32_t handled = 0;
    unsigned progressed = 0;
    bool news = false;
    bool way_failed = false;
    if (std::exchange(slept_, false)) look_around();
    {
        const Hold hold(lock_);
        armed_ = false;
        if (!to_release_.empty()) flush_releases();
        if (batch_next_ == batch_.size()) {
            batch_.clear();
            batch_next_ = 0;
            if (inbox_.empty()) progressed = ::ucp_worker_progress(worker());
            batch_.swap(inbox_);
        }
        news = news_;
        if (batch_.empty()) way_failed = std::exchange(way_failed_, false); // what it sent comes first
    }
    for (; batch_next_ < batch_.size() && handled < budget; ++handled) {
        Arrival& arrival = batch_[batch_next_++];
        if (arrival.link != nullptr) {
            arrival.link->arrived(arrival);
        } else if (arrival.header.kind == Kind::hello) {
            greeted(arrival);
        } else {
            release(arrival);
        }
    }
    if (news) handled += tell_news();
    ++turns_;
    if (turns_ % kTurnsPerLook == 0) look_around();
    if (!watched_.empty() && turns_ % kTurnsPerClock == 0) check_times();
    if (way_failed || (cut_ways_ > 0 && batch_next_ == batch_.size()))
        check_ways(handled == 0 && progressed == 0);
    if (!ending_.empty()) end_links();
    if (!trace.empty()) log(PLEXUS_DEBUG, "UCX says: " + trace.text());
    return static_cast<std::int32_t>(std::max(handled, progressed > 0 ? 1u : 0u));
}

std::uint32_t Module::tell_news() {
    std::vector<Ended> ended;
    std::vector<Link*> landed;
    std::vector<Link*> noted;
    std::vector<Link*> ready;
    {
        const Hold hold(lock_);
        news_ = false;
        ended.swap(ended_);
        landed.swap(landed_);
        noted.swap(noted_);
        ready.swap(ready_);
        for (Link* link : noted) link->noted = false;
        for (const Ended& each : ended) --each.link->refs;
        for (Link* link : landed) --link->refs;
        std::erase_if(ready, [](Link* link) {
            link->ready = false;
            return !std::exchange(link->wishes, false) || link->state != Link::State::open;
        });
    }
    for (const Ended& each : ended) host_.sent(each.link->cookie, each.token, each.status);
    for (Link* link : landed) link->go_on();
    for (Link* link : noted) {
        if (link->given_up()) {
            link->wind_up();
        } else if (link->state == Link::State::waiting) {
            link->begin();
        }
    }
    for (Link* link : ready)
        if (!link->given_up() && link->state == Link::State::open) host_.writable(link->cookie);
    return static_cast<std::uint32_t>(ended.size() + landed.size() + noted.size() + ready.size());
}

void Module::look_around() {
    std::array<epoll_event, 16> events;
    const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
    for (int i = 0; i < count; ++i) {
        void* about = events[static_cast<std::size_t>(i)].data.ptr;
        if (about == this) {
            std::uint64_t rung = 0;
            (void)!::read(bell_.get(), &rung, sizeof rung);
        } else if (about != nullptr) {
            Way& way = *static_cast<Way*>(about);
            (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, way.lifeline.get(), nullptr);
            way.cut = way.counted = true;
            ++cut_ways_;
        }
    }
}

void Module::check_times() {
    const auto now = Clock::now();
    std::vector<Link*> due;
    std::erase_if(watched_, [&](Link* link) {
        if (link->deadline <= now) due.push_back(link);
        return link->deadline <= now || link->deadline == Clock::time_point::max();
    });
    for (Link* link : due) link->expired();
}

void Module::check_ways(bool quiet) {
    std::vector<std::pair<Way*, std::string>> over;
    for (const auto& each : ways_) {
        Way& way = *each.second;
        way.quiet = quiet ? way.quiet + 1 : 0;
        const Hold hold(lock_);
        if (way.failed) {
            over.emplace_back(&way, std::string("UCX: ") + ::ucs_status_string(way.status));
        } else if (way.cut && way.quiet >= kQuiet) {
            over.emplace_back(&way, "the peer's context has ended");
        }
    }
    for (const auto& [way, why] : over) fail(*way, way->cut ? "the peer's context has ended" : why);
}

std::int32_t Module::arm(std::uint64_t& sleep_ns) {
    if (batch_next_ < batch_.size() || cut_ways_ > 0) return PLEXUS_AGAIN;
    {
        const Hold hold(lock_);
        flush_releases();
        if (news_ || way_failed_ || !inbox_.empty()) return PLEXUS_AGAIN;
        const Trace trace;
        if (::ucp_worker_arm(worker()) != UCS_OK) return PLEXUS_AGAIN;
        armed_ = true;
        if (library_.on_host() && ops_.taken() > 0) sleep_ns = std::min(sleep_ns, kPendingNs);
    }
    slept_ = true;
    if (!ending_.empty()) sleep_ns = std::min(sleep_ns, kEndingNs);
    for (const Link* link : watched_) {
        const auto left = std::max(Clock::duration::zero(), link->deadline - Clock::now());
        sleep_ns = std::min(sleep_ns, static_cast<std::uint64_t>(std::chrono::nanoseconds(left).count()) + 1);
    }
    return PLEXUS_OK;
}

} // namespace plexus::ucx
