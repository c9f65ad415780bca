// SPDX-License-Identifier: BSD-3-Clause
#include "local/module.h"

#include "common/surroundings.h"
#include "common/system_text.h"
#include "common/values.h"
#include "plexus/module/table.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>
#include <unistd.h>
#include <utility>

namespace plexus::local {
namespace {

constexpr Reason kGone{PLEXUS_LINK_LOST, "the context that this names has ended or closed its local method"};
constexpr Reason kOther{PLEXUS_WRONG_PEER,
                        "the descriptor is another context's than the one that was asked for"};
constexpr Reason kRefused{PLEXUS_LINK_LOST, "the other context did not take the link"};

template <class T>
T body_of(Record& record) {
    T value;
    std::memcpy(&value, record.body(), sizeof value);
    return value;
}

// Bytes copied between two looks whether the end was given up.
constexpr std::size_t kOneStep = 1 << 20;

// False: the end was given up meanwhile.
bool copy_into(Link& end, std::byte* out, const std::vector<plexus_view>& pieces) {
    for (const plexus_view& piece : pieces) {
        const auto* from = static_cast<const std::byte*>(piece.data);
        for (std::size_t left = piece.size; left > 0;) {
            const std::size_t step = std::min(left, kOneStep);
            if (!end.writes.try_write([&] { std::memcpy(out, from, step); })) return false;
            out += step;
            from += step;
            left -= step;
        }
    }
    return true;
}

} // namespace

Module::Module(const plexus_host& host, std::uint64_t eager_bytes, std::uint64_t queue_bytes)
  : host_(host)
  , owner_(::getpid())
  , here_(Descriptor::of(host.id))
  , eager_bytes_(eager_bytes)
  , queue_bytes_(queue_bytes)
  , inbox_(std::make_shared<Inbox>()) {}

Module::~Module() {
    if (is_forked()) return; // a lock may be held by a thread that this process does not have
    for (;;) {
        Link* end = nullptr;
        {
            const Lock hold(books_);
            end = ends_;
        }
        if (end == nullptr) return;
        forget(*end);
    }
}

bool Module::join() { return Registry::of_process().add(host_.id, inbox_); }

bool Module::is_forked() const noexcept { return ::getpid() != owner_; }

void Module::close() {
    if (is_forked()) return;
    if (!closing_.exchange(true)) Registry::of_process().remove(host_.id);
}

// Ends every link. Other contexts push until the queue is shut, and may be copying posted bytes of this
// module; nothing refers to the module when this returns.
void Module::drain() {
    if (is_forked()) return;
    close();
    inbox_->shut();
    while (next_chunk()) {
        auto& record = *reinterpret_cast<Record*>(batch_->bytes + at_);
        at_ += record_bytes(record.size);
        take(record, false);
    }
    settle();
    for (;;) {
        Post* post = nullptr;
        {
            const Lock hold(books_);
            post = posts_;
        }
        if (post == nullptr) break;
        Post::State expected = Post::waiting;
        if (!post->state.compare_exchange_strong(expected, Post::done, std::memory_order_acquire))
            while (post->state.load(std::memory_order_acquire) != Post::done) std::this_thread::yield();
        end_post(*post);
    }
    std::vector<Link*> ends;
    {
        const Lock hold(books_);
        for (Link* end = ends_; end != nullptr; end = end->next_end) ends.push_back(end);
    }
    for (Link* end : ends) end_other(*end, kPeerClosed);
}

std::int32_t Module::describe(plexus_rows& rows) const {
    char bytes[Descriptor::kBytes];
    here_.write(bytes);
    return module::add_row(rows, "", module::view(bytes, sizeof bytes));
}

std::int32_t Module::applies(plexus_view descriptor, plexus_text& why) const {
    Descriptor there;
    if (!Descriptor::read(descriptor, there)) {
        module::write(why, "the descriptor is damaged");
        return PLEXUS_NO_METHOD;
    }
    if (there.process == here_.process) return PLEXUS_OK;
    const bool here = there.boot == here_.boot;
    module::write(why, here ? "other process" : "other host");
    return PLEXUS_NO_METHOD;
}

std::int32_t Module::connect(plexus_view descriptor, const plexus_id& peer, void* cookie,
                             plexus_link** link) {
    Descriptor there;
    if (!Descriptor::read(descriptor, there)) return PLEXUS_BAD_ARGUMENT;
    if (closing()) return PLEXUS_LINK_LOST;

    const bool here = there.process == here_.process;
    const bool right = std::memcmp(there.context.bytes, peer.bytes, sizeof peer.bytes) == 0;
    auto target = here && right ? Registry::of_process().find(peer) : nullptr;
    auto* channel = new Channel;
    Link& mine = channel->connecting;
    Link& theirs = channel->accepting;
    channel->connecting_id = host_.id;
    mine.channel = theirs.channel = channel;
    mine.other = &theirs;
    theirs.other = &mine;
    mine.home = inbox_;
    mine.module = this;
    mine.cookie = cookie;
    theirs.home = target;
    theirs.ready.store(true, std::memory_order_relaxed); // the queue publishes it
    add(mine);
    *link = reinterpret_cast<plexus_link*>(&mine); // before a callback can come
    if (target != nullptr && target->push_if(
                                 &theirs, Kind::opening, 0, [] { return true; }, [](std::byte*) {}))
        return PLEXUS_OK;

    // The link ends with `lost`, from a later poll.
    channel->release();
    end_other(theirs, here && !right ? kOther : kGone);
    return PLEXUS_OK;
}

std::int32_t Module::arm(std::uint64_t&) {
    return batch_ == nullptr && inbox_->arm() ? PLEXUS_OK : PLEXUS_AGAIN;
}

std::int32_t Module::query(const Link* link, plexus_query what, std::uint64_t& value) const {
    switch (what) {
    case PLEXUS_QUERY_MAX_MESSAGE:
        value = 0;
        return PLEXUS_OK;
    case PLEXUS_QUERY_INLINE_BYTES:
    case PLEXUS_QUERY_EAGER_BYTES:
        value = eager_bytes_;
        return PLEXUS_OK;
    case PLEXUS_QUERY_LATENCY_NS:
        value = 100;
        return PLEXUS_OK;
    case PLEXUS_QUERY_BANDWIDTH_BPS:
        value = 10'000'000'000;
        return PLEXUS_OK;
    case PLEXUS_QUERY_SHARED_BYTES:
    case PLEXUS_QUERY_REMOTE_BYTES:
    case PLEXUS_QUERY_REFUSED:
    case PLEXUS_QUERY_DROPPED:
        value = 0;
        return PLEXUS_OK;
    case PLEXUS_QUERY_QUEUED_BYTES:
    case PLEXUS_QUERY_LINKS:
        break;
    }
    if (what != PLEXUS_QUERY_QUEUED_BYTES && what != PLEXUS_QUERY_LINKS) return PLEXUS_UNSUPPORTED;
    const Lock hold(books_);
    if (what == PLEXUS_QUERY_LINKS) {
        value = end_count_;
        return PLEXUS_OK;
    }
    value = 0;
    if (link != nullptr) {
        value = link->queued_bytes();
    } else {
        for (const Link* end = ends_; end != nullptr; end = end->next_end) value += end->queued_bytes();
    }
    return PLEXUS_OK;
}

void Module::add(Link& end) {
    const Lock hold(books_);
    end.next_end = ends_;
    if (ends_ != nullptr) ends_->previous_end = &end;
    ends_ = &end;
    ++end_count_;
}

void Module::forget(Link& end) {
    {
        const Lock hold(books_);
        (end.previous_end != nullptr ? end.previous_end->next_end : ends_) = end.next_end;
        if (end.next_end != nullptr) end.next_end->previous_end = end.previous_end;
        --end_count_;
    }
    end.channel->release();
}

void Module::add(Post& post) {
    const Lock hold(books_);
    post.next = posts_;
    if (posts_ != nullptr) posts_->previous = &post;
    posts_ = &post;
}

void Module::remove(Post& post) {
    const Lock hold(books_);
    (post.previous != nullptr ? post.previous->next : posts_) = post.next;
    if (post.next != nullptr) post.next->previous = post.previous;
}

std::int32_t Module::make(const plexus_host& host, std::unique_ptr<Module>& made) {
    module::Parameters parameters(host);
    // A message must fit a chunk, and the queue several messages.
    const std::uint64_t eager = parameters.size("eager", 64, kMaxBody);
    const std::uint64_t queue = parameters.size("queue", 4 * Chunk::kBytes, 1ull << 40);
    if (parameters.failed()) return PLEXUS_BAD_CONFIG;
    made = std::make_unique<Module>(host, eager, queue);
    const auto refuse = [&](std::int32_t status, const std::string& why) {
        host.log(host.self, PLEXUS_ERROR, why.c_str());
        return status;
    };
    if (made->wait_fd() < 0)
        return refuse(PLEXUS_UNSUPPORTED,
                      "no descriptor to sleep on could be made: " + module::system_text(errno));
    if (!made->join())
        return refuse(PLEXUS_BAD_CONFIG, "a context of the same id is in this process already");
    return PLEXUS_OK;
}

const plexus_ops kOps = module::table_of<Module, Link, PLEXUS_CAP_SLEEP | PLEXUS_CAP_LOCAL>();

// ---- the progress thread's half: what each kind of record does ---------------------------------

std::int32_t Module::poll(std::uint32_t budget) {
    if (batch_ == nullptr && inbox_->idle()) return 0;
    std::uint32_t handled = 0;
    copied_ = 0;
    while (handled < budget && copied_ < kOneStep && next_chunk()) {
        auto& record = *reinterpret_cast<Record*>(batch_->bytes + at_);
        at_ += record_bytes(record.size);
        take(record, true);
        ++handled;
    }
    settle();
    return static_cast<std::int32_t>(handled);
}

// True: batch_ has a record at at_.
bool Module::next_chunk() {
    while (batch_ == nullptr || at_ == batch_->used) {
        if (batch_ != nullptr) {
            Chunk* empty = std::exchange(batch_, batch_->next);
            at_ = 0;
            inbox_->recycle(empty);
            continue;
        }
        batch_ = inbox_->take();
        at_ = 0;
        if (batch_ == nullptr) return false;
    }
    return true;
}

void Module::take(Record& record, bool deliver) {
    Link& end = *record.to;
    const bool tell = deliver && !end.given_up.load(std::memory_order_relaxed);
    switch (record.kind) {
    case Kind::message:
        if (tell) host_.deliver(end.cookie, {record.body(), record.size});
        credit(*end.other, record_bytes(record.size));
        return;
    case Kind::posted:
        fetch(end, *body_of<Post*>(record), tell);
        return;
    case Kind::opening:
        open_incoming(end, deliver);
        return;
    case Kind::opened:
        if (tell) host_.opened(end.cookie);
        if (end.wake_at.exchange(Link::kNever, std::memory_order_seq_cst) == Link::kNever) return;
        [[fallthrough]]; // a send was turned away before
    case Kind::writable:
        if (deliver && !end.given_up.load(std::memory_order_relaxed)) host_.writable(end.cookie);
        return;
    case Kind::sent:
        end_post(*body_of<Post*>(record));
        return;
    case Kind::ended:
        if (tell) {
            const auto reason = body_of<Reason>(record);
            host_.lost(end.cookie, reason.status, module::view(std::string_view(reason.text)));
        }
        return;
    case Kind::closing:
        settle(); // the pending room may refer to the end that is freed
        end_other(end, kPeerClosed);
        forget(end);
        return;
    }
}

void Module::open_incoming(Link& end, bool deliver) {
    end.module = this;
    Link& connector = *end.other;
    add(end);
    std::int32_t verdict = PLEXUS_LINK_LOST;
    if (deliver && !closing())
        verdict = host_.accepted(host_.self, reinterpret_cast<plexus_link*>(&end),
                                 &end.channel->connecting_id, &end.cookie);
    if (verdict == PLEXUS_OK) {
        connector.ready.store(true, std::memory_order_seq_cst); // [ready], and see has_room()
        (void)connector.home->push_if(
            &connector, Kind::opened, 0, [&] { return !connector.deaf; }, [](std::byte*) {});
        return;
    }
    end.given_up.store(true, std::memory_order_relaxed);
    end_other(end, kRefused);
    end.disconnect();
}

void Module::fetch(Link& end, Post& post, bool deliver) {
    void* where = nullptr;
    void* token = nullptr;
    const bool wanted = deliver && host_.place(end.cookie, {post.head.data(), post.head_size}, post.rest_size,
                                               &where, &token) == PLEXUS_OK;
    const bool claimed = post.claim();
    bool whole = true;
    if (wanted && claimed) {
        whole = copy_into(end, static_cast<std::byte*>(where), post.rest);
        copied_ += post.rest_size;
    }
    const bool taken = deliver && claimed && whole; // a refused message is over for the sender, too
    if (claimed) finish(post, taken ? PLEXUS_OK : PLEXUS_MESSAGE_LOST);
    if (wanted && !end.given_up.load(std::memory_order_relaxed))
        host_.placed(end.cookie, token, taken ? PLEXUS_OK : PLEXUS_MESSAGE_LOST);
    credit(*end.other, post.charge);
    post.release();
}

// This module's own post is over, ended by either side.
void Module::end_post(Post& post) {
    remove(post);
    host_.sent(post.from->cookie, post.token, post.status);
    post.from->channel->release();
    post.release();
}

void Module::credit(Link& sender, std::uint64_t bytes) {
    if (credit_.sender != &sender) settle();
    credit_.sender = &sender;
    credit_.bytes += bytes;
}

void Module::settle() {
    if (credit_.sender == nullptr) return;
    const Credit owed = std::exchange(credit_, {});
    make_room(*owed.sender, owed.bytes);
}

} // namespace plexus::local
