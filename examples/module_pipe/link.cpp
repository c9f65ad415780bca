// SPDX-License-Identifier: BSD-3-Clause
#include "link.h"

#include "module.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <sys/epoll.h>
#include <sys/socket.h>

namespace pipes {
namespace {

constexpr std::size_t kWord = 8;
constexpr std::uint64_t kMost = (std::uint64_t{1} << 56) - 1;
constexpr std::size_t kAtOnce = 256 * 1024; // bytes of a large message in one read
constexpr std::size_t kMostParts = 64;      // in one write

std::uint64_t word_of(std::uint64_t size, std::uint64_t head) { return size | head << 56; }

plexus_link* handle(Link* link) { return reinterpret_cast<plexus_link*>(link); }

} // namespace

bool parse_queue(std::string_view text, std::size_t& messages) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), messages);
    return error == std::errc{} && end == text.data() + text.size() && messages > 0 && messages <= 1'000'000;
}

Link::Link(Module& module, const Place& target, const plexus_id& peer, void* cookie)
  : module_(module)
  , target_(target)
  , peer_(peer)
  , cookie_(cookie)
  , known_(true)
  , step_(Step::waiting)
  , most_waiting_(module.queue()) {}

Link::Link(Module& module, Fd socket)
  : module_(module)
  , known_(false)
  , socket_(std::move(socket))
  , step_(Step::greeting)
  , most_waiting_(module.queue())
  , handshake_(plexus::module::Handshake::accepting(module.host())) {}

// --- what any thread may call -------------------------------------------------------------

std::int32_t Link::send(const plexus_view* pieces, std::uint32_t count, void* token) {
    std::uint64_t size = 0;
    for (std::uint32_t i = 0; i < count; ++i) size += pieces[i].size;
    const std::uint64_t head = count == 0 ? 0 : std::min<std::uint64_t>(pieces[0].size, PLEXUS_HEAD_MAX);
    const bool small = size <= kEager;
    if (size > kMost) return PLEXUS_TOO_LARGE;
    if (!small && pieces[0].size > PLEXUS_HEAD_MAX) return PLEXUS_BAD_ARGUMENT;
    if (module_.is_closing()) return PLEXUS_LINK_LOST;

    const std::lock_guard hold(mutex_);
    if (step_ == Step::over || broken_) return PLEXUS_LINK_LOST;
    if (step_ != Step::open || out_.size() >= most_waiting_) {
        want_writable_ = true;
        return PLEXUS_AGAIN;
    }
    Waiting item;
    const std::uint64_t word = word_of(size, head);
    const auto* bytes = reinterpret_cast<const std::byte*>(&word);
    item.own.reserve(kWord + (small ? size : 0));
    item.own.assign(bytes, bytes + kWord);
    if (small) {
        for (std::uint32_t i = 0; i < count; ++i) {
            const auto* piece = static_cast<const std::byte*>(pieces[i].data);
            item.own.insert(item.own.end(), piece, piece + pieces[i].size);
        }
    }
    item.left.push_back(plexus::module::view(item.own.data(), item.own.size()));
    if (!small) item.left.insert(item.left.end(), pieces, pieces + count);
    item.token = token;
    item.posted = !small;

    const bool first = out_.empty();
    out_.push_back(std::move(item));
    std::vector<void*> over; // ours alone, if it was the first: then it's OK and not POSTED
    if (first) write(over);
    if (broken_ && !out_.empty()) {
        out_.pop_back();
        return PLEXUS_LINK_LOST;
    }
    return small || !over.empty() ? PLEXUS_OK : PLEXUS_POSTED;
}

void Link::disconnect() {
    {
        const std::lock_guard border(mutex_);
        given_up_ = true;
    }
    module_.note(*this);
}

std::int32_t Link::set(const char* key, const char* value, plexus_text& why) {
    const bool is_queue = std::string_view(key) == "queue";
    std::size_t messages = 0;
    if (!is_queue || !parse_queue(value, messages)) {
        plexus::module::write(why, is_queue ? kWantedQueue : "the pipe method has one parameter, queue");
        return PLEXUS_BAD_ARGUMENT;
    }
    const std::lock_guard hold(mutex_);
    most_waiting_ = messages;
    return PLEXUS_OK;
}

std::uint64_t Link::queued_bytes() const {
    const std::lock_guard hold(mutex_);
    std::uint64_t bytes = 0;
    for (const Waiting& item : out_)
        for (const plexus_view& part : item.left) bytes += part.size;
    return bytes;
}

// --- writing ------------------------------------------------------------------------------

// Writes until the socket is full. Appends the tokens of posted messages that were written to `over`. Needs
// mutex_.
void Link::write(std::vector<void*>& over) {
    while (!out_.empty() && !broken_) {
        Waiting& item = out_.front();
        std::array<iovec, kMostParts> parts;
        const std::size_t count = std::min(item.left.size(), kMostParts);
        for (std::size_t i = 0; i < count; ++i)
            parts[i] = {const_cast<void*>(item.left[i].data), item.left[i].size};
        msghdr message{};
        message.msg_iov = parts.data();
        message.msg_iovlen = count;
        const ssize_t written = ::sendmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0 && (errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM)) break;
        broken_ = written < 0; // what the other side has sent is still read, up to its end
        auto done = static_cast<std::size_t>(std::max<ssize_t>(written, 0));
        std::size_t whole = 0;
        while (whole < count && item.left[whole].size <= done) done -= item.left[whole++].size;
        item.left.erase(item.left.begin(), item.left.begin() + static_cast<std::ptrdiff_t>(whole));
        if (item.left.empty()) {
            if (item.posted) over.push_back(item.token);
            out_.pop_front();
        } else {
            plexus_view& part = item.left.front();
            part = {static_cast<const std::byte*>(part.data) + done, part.size - done};
        }
    }
    watch(!out_.empty() && !broken_);
}

void Link::watch(bool writing) {
    if (std::exchange(watching_writing_, writing) == writing) return;
    module_.watch(socket_.get(), this, writing ? EPOLLIN | EPOLLOUT : EPOLLIN, false);
}

// A record of the handshake; it goes ahead of every message.
void Link::say(const std::vector<std::uint8_t>& bytes) {
    const auto* data = reinterpret_cast<const std::byte*>(bytes.data());
    Waiting item;
    item.own.assign(data, data + bytes.size());
    item.left.push_back(plexus::module::view(item.own.data(), item.own.size()));
    std::vector<void*> none;
    const std::lock_guard hold(mutex_);
    out_.push_back(std::move(item));
    write(none);
}

bool Link::flush() {
    std::vector<void*> over;
    bool writable = false;
    bool left = false;
    {
        const std::lock_guard hold(mutex_);
        if (!socket_) return false;
        write(over);
        left = !out_.empty() && !broken_;
        writable = step_ == Step::open && !broken_ && want_writable_ && out_.size() <= most_waiting_ / 2;
        if (writable) want_writable_ = false;
    }
    for (void* token : over) module_.host().sent(cookie_, token, PLEXUS_OK);
    if (writable && !given_up_ && !module_.is_closing()) module_.host().writable(cookie_);
    return left;
}

// --- beginning ----------------------------------------------------------------------------

void Link::begin() {
    Fd socket = target_.connect();
    if (!socket && errno == EAGAIN) return module_.try_again(*this);
    if (!socket) {
        const std::string text = std::strerror(errno);
        return lose(PLEXUS_LINK_LOST, "the peer cannot be connected to, its process may have ended: " + text);
    }
    handshake_ = plexus::module::Handshake::connecting(module_.host(), peer_);
    {
        const std::lock_guard hold(mutex_);
        socket_ = std::move(socket);
        step_ = Step::greeting;
    }
    if (!module_.watch(socket_.get(), this, EPOLLIN, true))
        return lose(PLEXUS_LINK_LOST, std::strerror(errno));
    say(handshake_->take_outgoing());
}

// Takes one record of the handshake. False: there is no whole one.
bool Link::greet() {
    const std::size_t wanted = handshake_->wanted_bytes();
    if (end_ - begin_ < wanted) return false;
    const auto* record = reinterpret_cast<const std::uint8_t*>(room_.data() + begin_);
    begin_ += wanted;
    const std::int32_t verdict = handshake_->feed({record, wanted});
    if (const auto answer = handshake_->take_outgoing(); !answer.empty()) say(answer);
    if (verdict == PLEXUS_OK) return welcome();
    if (verdict == PLEXUS_AGAIN) return true;
    if (verdict == PLEXUS_UNSUPPORTED) {
        lose(PLEXUS_LINK_LOST, "the peer runs another release of Plexus");
        return false;
    }
    lose(verdict,
         verdict == PLEXUS_WRONG_PEER ? "another context answered" : "the peer does not hold this job's key");
    return false;
}

// Both have authenticated themselves.
bool Link::welcome() {
    const bool came_in = !known_;
    {
        const std::lock_guard hold(mutex_);
        step_ = Step::open;
        want_writable_ = false; // `opened` says it
    }
    if (!came_in) {
        if (!given_up_) module_.host().opened(cookie_);
        return true;
    }
    const plexus_id peer = handshake_->peer();
    known_ = true;
    if (!module_.is_closing() &&
        module_.host().accepted(module_.host().self, handle(this), &peer, &cookie_) == PLEXUS_OK)
        return true;
    known_ = false;
    lose(PLEXUS_DENIED, "the host does not want it");
    return false;
}

// --- reading ------------------------------------------------------------------------------

std::uint32_t Link::ready(std::uint32_t events, std::uint32_t budget) {
    if ((events & EPOLLOUT) != 0) flush();
    if (!given_up_) return std::max(read(budget), 1U);
    discard();
    end_if_flushed();
    return 1;
}

std::uint32_t Link::read(std::uint32_t budget) {
    std::uint32_t handled = 0;
    bool more = true; // on the socket
    while (more && handled < budget && is_alive()) {
        const bool taken = rest_ > 0 ? take_rest() : step_ == Step::greeting ? greet() : take_frame();
        more = taken || (is_alive() && fill());
        if (more) ++handled;
    }
    // Epoll does not see the bytes in room_.
    if (more && is_alive() && begin_ < end_) module_.read_again(*this);
    return handled;
}

// Takes a message, or the beginning of a large one. False: more bytes are needed.
bool Link::take_frame() {
    if (end_ - begin_ < kWord) return false;
    std::uint64_t word = 0;
    std::memcpy(&word, room_.data() + begin_, kWord);
    const std::uint64_t size = word & kMost;
    const auto head = static_cast<std::size_t>(word >> 56);
    if (head > size || head > PLEXUS_HEAD_MAX) {
        lose(PLEXUS_LINK_LOST, "the stream from the peer is damaged");
        return false;
    }
    const std::size_t wanted = size <= kEager ? static_cast<std::size_t>(size) : head;
    if (end_ - begin_ < kWord + wanted) return false;
    const std::byte* const data = room_.data() + begin_ + kWord;
    begin_ += kWord + wanted;
    if (size <= kEager) {
        alignas(8) std::array<std::byte, kEager> message; // for in the stream it's nowhere in particular
        std::memcpy(message.data(), data, wanted);
        module_.host().deliver(cookie_, plexus::module::view(message.data(), wanted));
        return true;
    }
    rest_ = size - head;
    void* place = nullptr;
    placing_ = module_.host().place(cookie_, plexus::module::view(data, head), rest_, &place,
                                    &place_token_) == PLEXUS_OK;
    place_ = placing_ ? static_cast<std::byte*>(place) : nullptr;
    return true;
}

// Moves the bytes of a large message that were read already.
bool Link::take_rest() {
    const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(rest_, end_ - begin_));
    if (bytes == 0) return false;
    {
        const std::lock_guard border(mutex_);
        if (given_up_) return false;
        if (place_ != nullptr) {
            std::memcpy(place_, room_.data() + begin_, bytes);
            place_ += bytes;
        }
    }
    begin_ += bytes;
    rest_ -= bytes;
    return end_rest_if_done();
}

bool Link::end_rest_if_done() {
    if (rest_ == 0 && std::exchange(placing_, false) && !given_up_)
        module_.host().placed(cookie_, place_token_, PLEXUS_OK);
    return true;
}

// Reads from the socket, if possible to the final place. False: nothing for now, or ever.
bool Link::fill() {
    ssize_t got = 0;
    if (placing_ && rest_ > 0 && begin_ == end_) {
        const std::lock_guard border(mutex_);
        if (given_up_) return false;
        got = ::recv(socket_.get(), place_, std::min<std::uint64_t>(rest_, kAtOnce), MSG_DONTWAIT);
        if (got > 0) {
            place_ += got;
            rest_ -= static_cast<std::uint64_t>(got);
        }
    } else {
        std::memmove(room_.data(), room_.data() + begin_, end_ - begin_);
        end_ -= std::exchange(begin_, 0);
        got = ::recv(socket_.get(), room_.data() + end_, room_.size() - end_, MSG_DONTWAIT);
        if (got > 0) end_ += static_cast<std::size_t>(got);
    }
    if (got > 0) return end_rest_if_done();
    if (got < 0 && errno == EINTR) return true;
    if (got < 0 && errno == EAGAIN) return false;
    if (step_ == Step::greeting)
        lose(PLEXUS_DENIED, "the peer hung up before it had proved that it holds this job's key");
    else
        lose(PLEXUS_LINK_LOST, got == 0 ? "the peer has closed the connection" : std::strerror(errno));
    return false;
}

// --- ending -------------------------------------------------------------------------------

void Link::attend() {
    if (given_up_) {
        released_ = true;
        end_if_flushed();
        if (!dead_) wait_at_most(kLinger);
    } else if (step_ == Step::waiting) {
        if (until_ == Clock::time_point{}) wait_at_most(kPatience);
        begin();
    }
}

void Link::wait_at_most(std::chrono::nanoseconds time) {
    until_ = Clock::now() + time;
    module_.watch_clock(*this);
}

// The kernel accepts connections also for a process that is stopped or never reads.
bool Link::expire(Clock::time_point now) {
    const bool waits = given_up_ ? released_ && !dead_ : step_ == Step::waiting || step_ == Step::greeting;
    if (waits && now < until_) return false;
    if (waits && given_up_)
        end();
    else if (waits)
        lose(PLEXUS_LINK_LOST, "the peer has not answered in time, its process may be stopped");
    return true;
}

// Disconnected: arriving bytes are dropped, or two ends that have disconnected each other would wait for
// ever.
void Link::discard() {
    ssize_t got = 1;
    for (int i = 0; i < 8 && got > 0; ++i)
        got = ::recv(socket_.get(), room_.data(), room_.size(), MSG_DONTWAIT);
    if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR))) return;
    const std::lock_guard hold(mutex_);
    broken_ = true;
}

// Disconnected: accepted messages are still written, for a while. Frees the link after the host has
// released it.
void Link::end_if_flushed() {
    {
        const std::lock_guard hold(mutex_);
        if (!released_ || (step_ == Step::open && !broken_ && !out_.empty())) return;
    }
    end();
}

void Link::end() {
    cut();
    dead_ = true;
    module_.free_dead_links_later();
}

void Link::lose(std::int32_t status, const std::string& why) {
    cut();
    if (!known_) {
        module_.log(PLEXUS_DEBUG, "a connection was closed: " + why);
        dead_ = true;
        module_.free_dead_links_later();
    } else if (!given_up_) {
        module_.host().lost(cookie_, status, plexus::module::view(why));
    }
}

void Link::cut() {
    std::deque<Waiting> out;
    {
        const std::lock_guard hold(mutex_);
        step_ = Step::over;
        out.swap(out_);
        if (socket_) {
            module_.unwatch(socket_.get());
            // A forked child may hold the descriptor too: without shutdown() the other side would not notice
            // the end.
            ::shutdown(socket_.get(), SHUT_RDWR);
        }
        socket_ = Fd();
    }
    for (const Waiting& item : out)
        if (item.posted) module_.host().sent(cookie_, item.token, PLEXUS_LINK_LOST);
    if (std::exchange(placing_, false) && !given_up_)
        module_.host().placed(cookie_, place_token_, PLEXUS_LINK_LOST);
}

} // namespace pipes
