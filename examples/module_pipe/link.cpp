// SPDX-License-Identifier: BSD-3-Clause
#include "link.h"

#include "module.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <sys/socket.h>

namespace pipes {
namespace {

plexus_link* handle(Link* link) { return reinterpret_cast<plexus_link*>(link); }

} // namespace

bool parse_queue(std::string_view text, std::size_t& messages) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), messages);
    return error == std::errc{} && end == text.data() + text.size() && messages > 0 && messages <= 1'000'000;
}

Link::Link(Module& module, const Place& target, const plexus_id& peer, void* cookie)
  : module_(module)
  , target_(Target{target, peer})
  , cookie_(cookie)
  , known_(true)
  , step_(Step::waiting)
  , out_(module.queue()) {}

Link::Link(Module& module, Fd socket)
  : module_(module)
  , known_(false)
  , socket_(std::move(socket))
  , step_(Step::greeting)
  , out_(module.queue())
  , handshake_(plexus::module::Handshake::accepting(module.host())) {}

// --- what any thread may call -------------------------------------------------------------

std::int32_t Link::send(const plexus_view* pieces, std::uint32_t count, void* token) {
    std::uint64_t size = 0;
    for (std::uint32_t i = 0; i < count; ++i) size += pieces[i].size;
    const bool small = size <= kEager;
    if (size > kMost) return PLEXUS_TOO_LARGE;
    if (!small && pieces[0].size > PLEXUS_HEAD_MAX) return PLEXUS_BAD_ARGUMENT;
    if (module_.is_closing()) return PLEXUS_LINK_LOST;

    const std::lock_guard hold(mutex_);
    if (step_ == Step::over || out_.is_broken()) return PLEXUS_LINK_LOST;
    if (step_ != Step::open || !out_.has_room()) {
        out_.owe_writable();
        return PLEXUS_AGAIN;
    }
    const bool first = out_.empty();
    out_.append(pieces, count, size, token);
    std::vector<void*> over; // ours alone, if it was the first: then it's OK and not POSTED
    if (first) write(over);
    if (out_.is_broken() && !out_.empty()) {
        out_.remove_last();
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
    out_.set_most(messages);
    return PLEXUS_OK;
}

std::uint64_t Link::queued_bytes() const {
    const std::lock_guard hold(mutex_);
    return out_.bytes();
}

// --- writing ------------------------------------------------------------------------------

// Writes until the socket is full. Appends the tokens of posted messages that were written to `over`. Needs
// mutex_.
void Link::write(std::vector<void*>& over) {
    out_.write(socket_.get(), over);
    watch(out_.has_unsent());
}

void Link::watch(bool writing) {
    if (std::exchange(watching_writing_, writing) == writing) return;
    module_.epoll().watch(socket_.get(), this, writing ? EPOLLIN | EPOLLOUT : EPOLLIN, false);
}

// A record of the handshake; it goes ahead of every message.
void Link::say(const std::vector<std::uint8_t>& bytes) {
    std::vector<void*> none;
    const std::lock_guard hold(mutex_);
    out_.append_record(bytes);
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
        left = out_.has_unsent();
        writable = step_ == Step::open && !out_.is_broken() && out_.pay_writable();
    }
    for (void* token : over) module_.host().sent(cookie_, token, PLEXUS_OK);
    if (writable && !given_up_ && !module_.is_closing()) module_.host().writable(cookie_);
    return left;
}

// --- beginning ----------------------------------------------------------------------------

void Link::begin() {
    Fd socket = target_->place.connect();
    if (!socket && errno == EAGAIN) return module_.try_again(*this);
    if (!socket) {
        const std::string text = std::strerror(errno);
        return lose(PLEXUS_LINK_LOST, "the peer cannot be connected to, its process may have ended: " + text);
    }
    handshake_ = plexus::module::Handshake::connecting(module_.host(), target_->peer);
    {
        const std::lock_guard hold(mutex_);
        socket_ = std::move(socket);
        step_ = Step::greeting;
    }
    if (!module_.epoll().watch(socket_.get(), this, EPOLLIN, true))
        return lose(PLEXUS_LINK_LOST, std::strerror(errno));
    say(handshake_->take_outgoing());
}

// Takes one record of the handshake. False: there is no whole one.
bool Link::greet() {
    const std::size_t wanted = handshake_->wanted_bytes();
    if (read_.bytes().size() < wanted) return false;
    const auto* record = reinterpret_cast<const std::uint8_t*>(read_.bytes().data());
    read_.take(wanted);
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
        out_.forget_writable(); // `opened` says it
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
        const bool taken = landing_.rest() > 0       ? take_rest()
                           : step_ == Step::greeting ? greet()
                                                     : take_frame();
        more = taken || (is_alive() && fill());
        if (more) ++handled;
    }
    // Epoll does not see the bytes that were read already.
    if (more && is_alive() && !read_.bytes().empty()) module_.read_again(*this);
    return handled;
}

// Takes a message, or the beginning of a large one. False: more bytes are needed.
bool Link::take_frame() {
    const std::span<const std::byte> bytes = read_.bytes();
    if (bytes.size() < kWord) return false;
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), kWord);
    const std::uint64_t size = word & kMost;
    const auto head = static_cast<std::size_t>(word >> 56);
    if (head > size || head > PLEXUS_HEAD_MAX) {
        lose(PLEXUS_LINK_LOST, "the stream from the peer is damaged");
        return false;
    }
    const std::size_t wanted = size <= kEager ? static_cast<std::size_t>(size) : head;
    if (bytes.size() < kWord + wanted) return false;
    const std::byte* const data = bytes.data() + kWord;
    read_.take(kWord + wanted);
    if (size <= kEager) {
        alignas(8) std::array<std::byte, kEager> message; // for in the stream it's nowhere in particular
        std::memcpy(message.data(), data, wanted);
        module_.host().deliver(cookie_, plexus::module::view(message.data(), wanted));
        return true;
    }
    void* place = nullptr;
    void* token = nullptr;
    const bool is_wanted = module_.host().place(cookie_, plexus::module::view(data, head), size - head,
                                                &place, &token) == PLEXUS_OK;
    landing_.begin(size - head, is_wanted ? place : nullptr, token);
    return true;
}

// Moves the bytes of a large message that were read already.
bool Link::take_rest() {
    const auto bytes =
        static_cast<std::size_t>(std::min<std::uint64_t>(landing_.rest(), read_.bytes().size()));
    if (bytes == 0) return false;
    {
        const std::lock_guard border(mutex_);
        if (given_up_) return false;
        landing_.copy(read_.bytes().first(bytes));
    }
    read_.take(bytes);
    return end_rest_if_done();
}

bool Link::end_rest_if_done() {
    if (landing_.rest() == 0 && landing_.end() && !given_up_)
        module_.host().placed(cookie_, landing_.token(), PLEXUS_OK);
    return true;
}

// Reads from the socket, if possible to the final place. False: nothing for now, or ever.
bool Link::fill() {
    ssize_t got = 0;
    if (landing_.is_wanted() && landing_.rest() > 0 && read_.bytes().empty()) {
        const std::lock_guard border(mutex_);
        if (given_up_) return false;
        got = landing_.read(socket_.get());
    } else {
        got = read_.read(socket_.get());
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
        if (life_ == Life::held) life_ = Life::released;
        end_if_flushed();
        if (!is_dead()) wait_at_most(kLinger);
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
    const bool waits =
        given_up_ ? life_ == Life::released : step_ == Step::waiting || step_ == Step::greeting;
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
    for (int i = 0; i < 8 && got > 0; ++i) got = read_.discard(socket_.get());
    if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR))) return;
    const std::lock_guard hold(mutex_);
    out_.break_off();
}

// Disconnected: accepted messages are still written, for a while. Frees the link after the host has
// released it.
void Link::end_if_flushed() {
    {
        const std::lock_guard hold(mutex_);
        if (life_ != Life::released || (step_ == Step::open && out_.has_unsent())) return;
    }
    end();
}

void Link::end() {
    cut();
    life_ = Life::dead;
    module_.free_dead_links_later();
}

void Link::lose(std::int32_t status, const std::string& why) {
    cut();
    if (!known_) {
        module_.log(PLEXUS_DEBUG, "a connection was closed: " + why);
        life_ = Life::dead;
        module_.free_dead_links_later();
    } else if (!given_up_) {
        module_.host().lost(cookie_, status, plexus::module::view(why));
    }
}

void Link::cut() {
    std::vector<void*> dropped;
    {
        const std::lock_guard hold(mutex_);
        step_ = Step::over;
        dropped = out_.drop();
        if (socket_) {
            module_.epoll().unwatch(socket_.get());
            // A forked child may hold the descriptor too: without shutdown() the other side would not notice
            // the end.
            ::shutdown(socket_.get(), SHUT_RDWR);
        }
        socket_ = Fd();
    }
    for (void* token : dropped) module_.host().sent(cookie_, token, PLEXUS_LINK_LOST);
    if (landing_.end() && !given_up_) module_.host().placed(cookie_, landing_.token(), PLEXUS_LINK_LOST);
}

} // namespace pipes
