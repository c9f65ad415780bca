// SPDX-License-Identifier: BSD-3-Clause
#include "unit/message_link/memory_port.h"

#include "common/values.h"
#include "message_link/engine.h"
#include "plexus/module/table.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <iterator>
#include <random>
#include <sys/eventfd.h>
#include <unistd.h>

namespace plexus::testing {
namespace {

using namespace plexus::message_link;
using Packet = std::vector<std::byte>;

struct Options {
    Settings links;
    std::size_t eager = 0;
    std::size_t room = 0;
    std::size_t copies = 1;
    std::string large;
    bool keeps_order = true;
};

/// A large message that is carried: the receiver copies it out of the sender's memory.
struct Transfer {
    std::mutex mutex;
    std::vector<plexus_view> pieces; // none: it was called off
    bool over = false;
};

struct Arrived : Message {
    Packet packet;
    std::shared_ptr<Transfer> transfer;
};

std::unique_ptr<Arrived> packet_of(const Header& header, const plexus_view* pieces, std::uint32_t count,
                                   std::size_t size, std::shared_ptr<Transfer> transfer, std::uint64_t rest) {
    auto arrived = std::make_unique<Arrived>();
    arrived->packet.resize(kHeaderBytes + size);
    header.write(arrived->packet.data());
    std::byte* out = arrived->packet.data() + kHeaderBytes;
    for (std::uint32_t i = 0; i < count; ++i) {
        if (pieces[i].size > 0) std::memcpy(out, pieces[i].data, pieces[i].size);
        out += pieces[i].size;
    }
    arrived->header = Header::read(arrived->packet.data());
    arrived->body = arrived->packet.data() + kHeaderBytes;
    arrived->size = size;
    arrived->rest = rest;
    arrived->transfer = std::move(transfer);
    return arrived;
}

/// Where a port is sent to. Outlives it while others know it.
struct Mailbox {
    std::uint64_t address = 0;
    const UniqueFd wake_fd{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    std::mutex mutex; // what follows; taken under a port's lock
    bool open = true;
    bool exited = false;
    std::deque<std::unique_ptr<Arrived>> packets;
    std::map<std::uint64_t, plexus_view> offered;

    void ring() const {
        const std::uint64_t one = 1;
        (void)!::write(wake_fd.get(), &one, sizeof one);
    }
};

struct Switchboard {
    std::mutex mutex;
    std::map<std::uint64_t, std::weak_ptr<Mailbox>> mailboxes;
    std::uint64_t last = 0;
};
Switchboard& switchboard() {
    static Switchboard the;
    return the;
}

std::shared_ptr<Mailbox> mailbox_at(ByteView descriptor) {
    std::uint64_t address = 0;
    if (descriptor.size() != sizeof address) return nullptr;
    std::memcpy(&address, descriptor.data(), sizeof address);
    Switchboard& all = switchboard();
    const std::lock_guard hold(all.mutex);
    const auto found = all.mailboxes.find(address);
    return found == all.mailboxes.end() ? nullptr : found->second.lock();
}

struct MemoryPeer final : Peer {
    using All = std::vector<MemoryPeer*>; // of one port

    MemoryPeer(Link& its_link, std::shared_ptr<Mailbox> its_box, All& all)
      : Peer(its_link)
      , box(std::move(its_box))
      , all_(all) {
        all_.push_back(this);
    }
    ~MemoryPeer() override { std::erase(all_, this); }
    bool has_ended() const override {
        const std::lock_guard hold(box->mutex);
        return !box->open;
    }
    const std::shared_ptr<Mailbox> box;
    std::uint16_t number = 0; // of the next copy
    bool end_told = false;

  private:
    All& all_;
};
MemoryPeer& ours(Peer& peer) { return static_cast<MemoryPeer&>(peer); }

class MemoryPort final : public Port, public Fetching, public Carrying {
  public:
    explicit MemoryPort(const Options& options)
      : options_(options)
      , box_(std::make_shared<Mailbox>()) {
        traits_.eager = options.eager;
        traits_.inline_bytes = options.eager;
        traits_.keeps_order = options.keeps_order;
        traits_.most_landings = options.large == "carry" ? 3 : 1;
        Switchboard& all = switchboard();
        const std::lock_guard hold(all.mutex);
        box_->address = ++all.last;
        all.mailboxes[box_->address] = box_;
    }
    ~MemoryPort() override { shut(); }

    const Traits& traits() const noexcept override { return traits_; }
    std::string name() const override { return "memory"; }
    message_link::Bytes descriptor() const override {
        message_link::Bytes out(sizeof box_->address);
        std::memcpy(out.data(), &box_->address, out.size());
        return out;
    }
    Speed speed(const Peer*) const override { return {100, 10'000'000'000}; }
    Fetching* fetching() noexcept override { return options_.large == "fetch" ? this : nullptr; }
    Carrying* carrying() noexcept override { return options_.large == "carry" ? this : nullptr; }

    Outcome send(Peer& peer, const Header& header, const plexus_view* pieces, std::uint32_t count,
                 std::size_t size, std::string& why) override {
        return post(peer, header, pieces, count, size, nullptr, why);
    }
    bool has_room(const Peer&, bool retry) const override { return retry; }
    bool is_sending(const Peer&) const override { return false; } // what is sent is there

    std::unique_ptr<Peer> reach(ByteView descriptor, Link& link, std::int32_t& status,
                                std::string& why) override {
        auto box = mailbox_at(descriptor);
        status = PLEXUS_LINK_LOST;
        why = "nobody is at that address";
        if (box == nullptr) return nullptr;
        return std::make_unique<MemoryPeer>(link, std::move(box), peers_);
    }

    std::size_t poll(Event* out, std::size_t most) override {
        const Hold hold(lock);
        std::size_t count = 0;
        for (; count < most && !events_.empty(); ++count) {
            out[count] = std::move(events_.front());
            events_.pop_front();
        }
        tell_carried(out, most, count);
        tell_ended(out, most, count);
        const std::lock_guard box(box_->mutex);
        for (; count < most && !box_->packets.empty(); ++count) {
            const std::size_t reach =
                options_.keeps_order ? 1 : std::min<std::size_t>(box_->packets.size(), 6);
            const auto at = box_->packets.begin() + static_cast<std::ptrdiff_t>(random_() % reach);
            Arrived& arrived = **at;
            held_.push_back(std::move(*at));
            box_->packets.erase(at);
            out[count].what = Event::What::arrived;
            out[count].message = &arrived;
        }
        return count;
    }
    void recycle(Message& message) override {
        std::erase_if(held_, [&](const auto& each) { return each.get() == &message; });
    }
    bool arm(std::uint64_t& sleep_ns, bool stalled) override {
        if (stalled || !carried_.empty()) sleep_ns = std::min<std::uint64_t>(sleep_ns, 1'000'000);
        std::uint64_t rung = 0;
        (void)!::read(box_->wake_fd.get(), &rung, sizeof rung);
        const std::lock_guard box(box_->mutex);
        return box_->packets.empty() && events_.empty();
    }
    int wait_fd() const noexcept override { return box_->wake_fd.get(); }
    void stop_writes(Peer&, const std::atomic<std::uint32_t>&) override {} // none goes on after its call
    void cut(Peer& peer) override {
        const Hold hold(lock);
        call_off(&peer);
    }
    void shut() override {
        const Hold hold(lock);
        call_off(nullptr);
        {
            const std::lock_guard box(box_->mutex);
            box_->open = false;
            box_->packets.clear();
        }
        set_shut();
    }
    Closed closed() override { return {"the memory port is shut", false}; }

    bool may_offer(const Peer&) const override { return true; }
    bool offer(const plexus_view& memory, Registration& out, Stretch& stretch) override {
        stretch = {0, ++last_key_, memory.size};
        const std::lock_guard hold(box_->mutex);
        box_->offered[stretch.key] = memory;
        out = Registration(box_.get(), [box = box_, key = stretch.key](void*) {
            const std::lock_guard drop(box->mutex);
            box->offered.erase(key);
        });
        return true;
    }
    Outcome prepare(void*, std::size_t, Registration&, void*& handle, std::string&) override {
        handle = nullptr;
        return PLEXUS_OK;
    }
    std::size_t most_bytes() const override { return 10'000; }
    Outcome fetch(Peer& peer, std::byte* where, std::size_t size, void*, const Stretch& from,
                  std::string&) override {
        if (events_.size() >= 4) return PLEXUS_AGAIN;
        Event& event = events_.emplace_back();
        event.what = Event::What::fetched;
        event.peer = &peer;
        event.bytes = size;
        const Mailbox& box = *ours(peer).box;
        const std::lock_guard hold(ours(peer).box->mutex);
        const auto found = box.offered.find(from.key);
        if (found == box.offered.end() || from.address + size > found->second.size) {
            event.why = "that memory is not offered";
        } else {
            std::memcpy(where, static_cast<const std::byte*>(found->second.data) + from.address, size);
        }
        return PLEXUS_POSTED;
    }

    Outcome carry(Peer& peer, const Header& header, const plexus_view* pieces, std::uint32_t count,
                  std::uint64_t rest, void* token, std::string& why) override {
        auto transfer = std::make_shared<Transfer>();
        transfer->pieces.assign(pieces + 1, pieces + count);
        const Outcome outcome = post(peer, header, pieces, 1, pieces[0].size, transfer, why, rest);
        if (outcome != PLEXUS_OK) return outcome;
        carried_.push_back({std::move(transfer), &peer, token, rest + pieces[0].size});
        return PLEXUS_POSTED;
    }
    Outcome receive(Peer& peer, Message& message, void* where, void* token) override {
        Transfer& transfer = *static_cast<Arrived&>(message).transfer;
        Event& event = events_.emplace_back();
        event.what = Event::What::landed;
        event.peer = &peer;
        event.token = token;
        const std::lock_guard hold(transfer.mutex);
        event.status = transfer.pieces.empty() ? PLEXUS_MESSAGE_LOST : PLEXUS_OK;
        auto* out = static_cast<std::byte*>(where);
        for (const plexus_view& piece : transfer.pieces) {
            if (piece.size > 0) std::memcpy(out, piece.data, piece.size);
            out += piece.size;
        }
        transfer.over = true;
        ours(peer).box->ring();
        return PLEXUS_POSTED;
    }

  private:
    struct Carried {
        std::shared_ptr<Transfer> transfer;
        Peer* peer;
        void* token;
        std::uint64_t bytes;
    };

    Outcome post(Peer& peer, Header header, const plexus_view* pieces, std::uint32_t count, std::size_t size,
                 const std::shared_ptr<Transfer>& transfer, std::string& why, std::uint64_t rest = 0) {
        Mailbox& box = *ours(peer).box;
        const std::lock_guard hold(box.mutex);
        if (!box.open || is_shut()) {
            why = "the peer's port is shut";
            return PLEXUS_LINK_LOST;
        }
        if (box.packets.size() >= options_.room) return PLEXUS_AGAIN;
        const std::size_t copies = is_counted(header.kind) ? options_.copies : 1;
        for (std::size_t i = 0; i < copies; ++i) {
            if (is_ordered(header.kind)) header.number = ours(peer).number++;
            box.packets.push_back(packet_of(header, pieces, count, size, transfer, rest));
        }
        box.ring();
        return PLEXUS_OK;
    }
    // Messages that the receiver has copied, or that it never will because it has gone.
    void tell_carried(Event* out, std::size_t most, std::size_t& count) {
        for (auto each = carried_.begin(); each != carried_.end() && count < most;) {
            const bool gone = ours(*each->peer).has_ended();
            const std::shared_ptr<Transfer> transfer = each->transfer; // outlives the lock
            const std::lock_guard hold(transfer->mutex);
            if (!transfer->over && !gone) {
                ++each;
                continue;
            }
            out[count++] = sent(*each, transfer->over);
            transfer->pieces.clear();
            each = carried_.erase(each);
        }
    }
    void tell_ended(Event* out, std::size_t most, std::size_t& count) const {
        for (MemoryPeer* const each : peers_) {
            const std::lock_guard hold(each->box->mutex);
            if (count == most || !each->box->exited || std::exchange(each->end_told, true)) continue;
            out[count].what = Event::What::ended;
            out[count++].peer = each;
        }
    }
    static Event sent(const Carried& each, bool well) {
        Event event;
        event.what = Event::What::sent;
        event.peer = each.peer;
        event.token = each.token;
        event.bytes = each.bytes;
        event.status = well ? PLEXUS_OK : PLEXUS_MESSAGE_LOST;
        return event;
    }
    void call_off(const Peer* peer) { // null: all
        std::erase_if(carried_, [&](const Carried& each) {
            if (peer != nullptr && each.peer != peer) return false;
            const std::lock_guard hold(each.transfer->mutex);
            events_.push_back(sent(each, each.transfer->over));
            each.transfer->pieces.clear();
            return true;
        });
    }

    const Options options_;
    Traits traits_;
    const std::shared_ptr<Mailbox> box_;
    std::deque<Event> events_;
    std::vector<Carried> carried_;
    std::vector<std::unique_ptr<Arrived>> held_; // the engine has them
    MemoryPeer::All peers_;
    std::uint64_t last_key_ = 0;
    std::minstd_rand random_{5};
};

class MemoryModule final : public Engine {
  public:
    MemoryModule(const plexus_host& host, const Options& options)
      : Engine(host, options.links) {
        std::vector<std::unique_ptr<Port>> all;
        all.push_back(std::make_unique<MemoryPort>(options));
        failed_ = start(std::move(all)) != 0;
    }

    static std::int32_t make(const plexus_host& host, std::unique_ptr<MemoryModule>& made) {
        module::Parameters given(host);
        Options options;
        options.large = given.text("large");
        options.keeps_order = given.text("order") == "kept";
        options.eager = static_cast<std::size_t>(given.size("eager", 1'024, 1 << 20));
        options.room = static_cast<std::size_t>(given.count("room", 1, 1 << 20));
        options.copies = static_cast<std::size_t>(given.count("copies", 1, 1 << 20));
        options.links.window = static_cast<std::uint16_t>(given.count("window", 1, 16'384));
        options.links.connect_timeout = given.duration("connect_timeout");
        options.links.handshake_timeout = given.duration("handshake_timeout");
        options.links.dead_after = given.duration("dead_after");
        options.links.linger = given.duration("linger");
        if (given.failed()) return PLEXUS_BAD_CONFIG;
        made = std::make_unique<MemoryModule>(host, options);
        return made->failed_ ? PLEXUS_UNSUPPORTED : PLEXUS_OK;
    }

  private:
    std::int32_t choose(plexus_view descriptor, Port*& port, std::string& why) const override {
        port = ports().front().get();
        why = "the descriptor is damaged";
        return descriptor.size == sizeof(std::uint64_t) ? PLEXUS_OK : PLEXUS_BAD_ARGUMENT;
    }
    bool failed_ = false;
};

constexpr plexus_parameter kParameters[] = {
    {"large", "text", "parts", "how large messages go"},
    {"order", "text", "kept", "whether messages may overtake each other"},
    {"room", "count", "100000", "packets that wait at a receiver"},
    {"copies", "count", "1", "how often each counted message is sent"},
    {"eager", "size", "4 KiB", "largest message that is copied"},
    {"window", "count", "64", "messages under way"},
    {"connect_timeout", "duration", "5 s", "how long a peer may take to answer"},
    {"handshake_timeout", "duration", "5 s", "how long a stranger may take"},
    {"dead_after", "duration", "0 s", "silence after which a peer is gone"},
    {"linger", "duration", "1 s", "how long a link that was given up may take"},
};
const plexus_ops kOps = module::table_of<MemoryModule, Link, PLEXUS_CAP_SLEEP | PLEXUS_CAP_FRAGILE>();
const plexus_passport kPassport = {
    .magic = PLEXUS_ABI_MAGIC,
    .abi_major = PLEXUS_ABI_MAJOR,
    .abi_minor = PLEXUS_ABI_MINOR,
    .name = "memory",
    .help = "engines of one process",
    .ops = &kOps,
    .parameters = kParameters,
    .parameter_count = std::size(kParameters),
    .parameter_size = sizeof(plexus_parameter),
};

} // namespace

const Method& memory_method() {
    static const Method method = method_of(kPassport);
    return method;
}

BareOptions memory(std::map<std::string, std::string> settings) {
    BareOptions options;
    options.settings = std::move(settings);
    return options;
}

void break_memory_port(ByteView descriptor) {
    const auto box = mailbox_at(descriptor);
    const std::lock_guard hold(box->mutex);
    box->open = false;
}

void end_memory_process(ByteView descriptor) {
    const auto box = mailbox_at(descriptor);
    const std::lock_guard hold(box->mutex);
    box->exited = true;
}

void slip_in(ByteView descriptor, const Header& header) {
    const auto box = mailbox_at(descriptor);
    const std::lock_guard hold(box->mutex);
    box->packets.push_back(packet_of(header, nullptr, 0, 0, nullptr, 0));
    box->ring();
}

} // namespace plexus::testing
