// SPDX-License-Identifier: BSD-3-Clause
// A whole transport over methods whose every answer and event the test gives: which send is posted, when
// a link opens, what arrives on it, when it breaks. The order of events is what these tests are about, and
// no network gives a chosen order. Test's thread polls, unless a case says otherwise.
#pragma once

#include "plexus/module/module.h"
#include "support/catch.h"
#include "support/eventually.h"
#include "support/log_guard.h"
#include "transport/transport.h"
#include "wire/frame.h"
#include "wire/table.h"

#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace plexus::testing {

class ScriptedMethod {
  public:
    /// What the module knows of one link.
    struct Link {
        ScriptedMethod* method = nullptr;
        void* cookie = nullptr;
        bool given_up = false;
        std::vector<wire::Bytes> sent; ///< messages that were taken, in order
        std::vector<void*> posted;     ///< sends that are not over
        void* placing = nullptr;       ///< the large message that is read in place
    };

    /// Sends of more than `eager` bytes are posted.
    ScriptedMethod(std::string_view name, bool fragile, std::uint64_t eager)
      : name_(name)
      , fragile_(fragile)
      , eager_(eager) {}
    ScriptedMethod(const ScriptedMethod&) = delete;
    ScriptedMethod& operator=(const ScriptedMethod&) = delete;

    std::int32_t answer = PLEXUS_OK;                        ///< to sends; AGAIN: there is no room
    int refusals = 0;                                       ///< so many sends find no room first
    std::int32_t connect = PLEXUS_OK;                       ///< to dials
    bool opens = false;                                     ///< links that are dialled, by themselves
    std::function<void(Link&, const wire::Bytes&)> on_send; ///< a message was taken
    std::string disbelieved;                                ///< what no peer may say of itself
    std::int32_t disbelief = PLEXUS_DENIED;                 ///< the answer of check_claim to that

    const std::string& name() const noexcept { return name_; }
    loader::Module module();
    std::size_t links() const {
        const std::lock_guard hold(mutex_);
        return links_.size();
    }
    /// The link that was made last.
    Link& link() {
        const std::lock_guard hold(mutex_);
        return links_.back();
    }
    /// Frames of that kind that a link has taken.
    std::vector<wire::Bytes> sent(const Link& link, wire::Kind kind) const {
        const std::lock_guard hold(mutex_);
        std::vector<wire::Bytes> found;
        for (const wire::Bytes& each : link.sent)
            if (wire::kind_of(each) == kind) found.push_back(each);
        return found;
    }

    // What the next poll does, in this order. @thread any
    void in_poll(std::function<void()> f) {
        const std::lock_guard hold(mutex_);
        script_.push_back(std::move(f));
    }
    void open(Link& link) {
        in_poll([this, &link] { host_->opened(link.cookie); });
    }
    void deliver(Link& link, wire::Bytes message) {
        in_poll([this, &link, kept = std::move(message)] {
            if (!link.given_up) host_->deliver(link.cookie, {kept.data(), kept.size()});
        });
    }
    /// The head of a large message comes; *said is the host's answer.
    void place(Link& link, wire::Bytes head, std::size_t rest, std::int32_t* said) {
        in_poll([this, &link, kept = std::move(head), rest, said] {
            void* where = nullptr;
            *said = host_->place(link.cookie, {kept.data(), kept.size()}, rest, &where, &link.placing);
        });
    }
    /// More of it has come, but not all.
    void arriving(Link& link) {
        in_poll([this, &link] {
            if (!link.given_up) host_->arriving(link.cookie);
        });
    }
    /// The rest of it has come, unless the link was given up.
    void placed(Link& link) {
        in_poll([this, &link] {
            if (!link.given_up) host_->placed(link.cookie, link.placing, PLEXUS_OK);
        });
    }
    void writable(Link& link) {
        in_poll([this, &link] { host_->writable(link.cookie); });
    }
    void end_posted(Link& link) {
        in_poll([this, &link] { let_go(link); });
    }
    void lose(Link& link, std::int32_t status = PLEXUS_LINK_LOST) {
        in_poll([this, &link, status] {
            let_go(link);
            static constexpr std::string_view kWhy = "the test broke it";
            host_->lost(link.cookie, status, {kWhy.data(), kWhy.size()});
        });
    }
    /// A peer dials: the link, or null if it was not wanted.
    void accept(const ContextId& peer) {
        in_poll([this, peer] {
            plexus_id id;
            std::memcpy(id.bytes, peer.bytes.data(), sizeof id.bytes);
            Link& made = add();
            if (host_->accepted(host_->self, handle(made), &id, &made.cookie) != PLEXUS_OK)
                made.given_up = true;
        });
    }

  private:
    static ScriptedMethod& of(plexus_module* module) { return *reinterpret_cast<ScriptedMethod*>(module); }
    static Link& of(plexus_link* link) { return *reinterpret_cast<Link*>(link); }
    static plexus_link* handle(Link& link) { return reinterpret_cast<plexus_link*>(&link); }

    Link& add() {
        const std::lock_guard hold(mutex_);
        Link& made = links_.emplace_back();
        made.method = this;
        return made;
    }
    std::int32_t send(Link& link, const plexus_view* pieces, std::uint32_t count, void* token);
    void let_go(Link& link) {
        std::vector<void*> over;
        {
            const std::lock_guard hold(mutex_);
            over.swap(link.posted);
        }
        for (void* token : over) host_->sent(link.cookie, token, PLEXUS_OK);
    }
    std::int32_t poll() {
        std::deque<std::function<void()>> script;
        {
            const std::lock_guard hold(mutex_);
            script.swap(script_);
        }
        for (const auto& step : script) step();
        return static_cast<std::int32_t>(script.size());
    }

    static inline ScriptedMethod* opening = nullptr; ///< `open` has no argument that says which

    const std::string name_;
    const bool fragile_;
    const std::uint64_t eager_;
    const plexus_host* host_ = nullptr;
    mutable std::mutex mutex_; // what follows; no callback runs under it
    std::deque<Link> links_;
    std::deque<std::function<void()>> script_;
};

inline std::int32_t ScriptedMethod::send(Link& link, const plexus_view* pieces, std::uint32_t count,
                                         void* token) {
    if (link.given_up) return PLEXUS_LINK_LOST;
    if (answer != PLEXUS_OK) return answer;
    if (refusals > 0) {
        --refusals;
        return PLEXUS_AGAIN;
    }
    wire::Bytes whole;
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto* const from = static_cast<const std::byte*>(pieces[i].data);
        whole.insert(whole.end(), from, from + pieces[i].size);
    }
    const bool posts = whole.size() > eager_;
    if (on_send) on_send(link, whole);
    const std::lock_guard hold(mutex_);
    link.sent.push_back(std::move(whole));
    if (posts) link.posted.push_back(token);
    return posts ? PLEXUS_POSTED : PLEXUS_OK;
}

inline loader::Module ScriptedMethod::module() {
    plexus_ops raw{};
    raw.size = PLEXUS_OPS_SIZE;
    raw.caps = fragile_ ? PLEXUS_CAP_FRAGILE : 0u;
    raw.open = [](const plexus_host* host, plexus_module** made) {
        opening->host_ = host;
        *made = reinterpret_cast<plexus_module*>(opening);
        return std::int32_t{PLEXUS_OK};
    };
    raw.close = [](plexus_module*) {};
    raw.drain = [](plexus_module* module) {
        for (Link& link : of(module).links_) of(module).let_go(link);
    };
    raw.destroy = [](plexus_module*) {};
    raw.describe = [](plexus_module* module, plexus_rows* rows) {
        return module::add_row(*rows, "", module::view(of(module).name_));
    };
    raw.applies = [](plexus_module* module, plexus_view descriptor, plexus_text*) {
        const std::string_view said(static_cast<const char*>(descriptor.data), descriptor.size);
        return std::int32_t{said == of(module).name_ ? PLEXUS_OK : PLEXUS_NO_METHOD};
    };
    raw.connect = [](plexus_module* module, plexus_view, const plexus_id*, void* cookie, plexus_link** link) {
        if (of(module).connect != PLEXUS_OK) return of(module).connect;
        Link& made = of(module).add();
        made.cookie = cookie;
        *link = handle(made);
        if (of(module).opens) of(module).open(made);
        return std::int32_t{PLEXUS_OK};
    };
    raw.disconnect = [](plexus_link* link) { of(link).given_up = true; };
    raw.check_claim = [](plexus_link* link, plexus_claim, const char* said, plexus_text* why) {
        if (said != of(link).method->disbelieved) return std::int32_t{PLEXUS_OK};
        module::write(*why, "its certificate is another's");
        return of(link).method->disbelief;
    };
    raw.send = [](plexus_link* link, const plexus_view* pieces, std::uint32_t count, void* token) {
        return of(link).method->send(of(link), pieces, count, token);
    };
    raw.poll = [](plexus_module* module, std::uint32_t) { return of(module).poll(); };
    raw.query = [](plexus_module* module, plexus_link*, plexus_query what, std::uint64_t* value) {
        *value = what == PLEXUS_QUERY_EAGER_BYTES ? of(module).eager_ : 0;
        return std::int32_t{PLEXUS_OK};
    };
    opening = this;
    return {name_, "the test", "", loader::seal(raw).value(), {}};
}

/// Keeps what the rooms above would be told.
class Recorder : public transport::Listener {
  public:
    struct Ended {
        const transport::Channel* via;
        transport::WhichCalls which;
        Status status;
    };
    bool awaited = false;      ///< somebody waits for answers, of every channel
    std::size_t uncertain = 0; ///< calls_uncertain()

    std::vector<Ended> calls;   ///< that were lost
    std::vector<Status> peers;  ///< peer_lost()
    std::vector<Status> errors; ///< on_error()
    std::size_t frames = 0;     ///< that were lost
    std::vector<Status> events; ///< peer_event()

    std::unique_ptr<transport::Attachment> attach(transport::Peer&) override { return nullptr; }
    void peer_arrived(transport::Peer&) override {}
    void peer_lost(transport::Peer&, Status status, const std::string&) override { peers.push_back(status); }
    bool awaits(transport::Peer&) override { return awaited; }
    bool awaits(const transport::Channel&) override { return awaited; }
    void calls_uncertain(transport::Channel&) override { ++uncertain; }
    void calls_lost(transport::Channel& via, transport::WhichCalls which, Status status,
                    const std::string&) override {
        calls.push_back({&via, which, status});
    }
    void calls_moved(transport::Channel&, transport::Channel&) override {}
    void frames_lost(transport::Peer&, const std::vector<wire::View>& heads, Status,
                     const std::string&) override {
        frames += heads.size();
    }
    std::chrono::nanoseconds deferred_work() override { return std::chrono::nanoseconds::max(); }
    void peer_event(transport::Peer&, Status what, const std::string&) override { events.push_back(what); }
    void on_error(Status status, const std::string&) override { errors.push_back(status); }
};

/// A request of so many bytes, as its sender has it.
struct Message : transport::Frame {
    explicit Message(std::size_t bytes)
      : first(wire::RequestHeader::kBytes)
      , rest(std::make_shared<wire::Bytes>(bytes - first.size())) {
        wire::encode(wire::RequestHeader{}, first.data());
        both[0] = {first.data(), first.size()};
        both[1] = {rest->data(), rest->size()};
        pieces = both;
        count = rest->empty() ? 1 : 2;
        size = bytes;
        head = first.data();
    }
    Message(const Message&) = delete;
    Message& operator=(const Message&) = delete;

    wire::Bytes first;
    std::shared_ptr<wire::Bytes> rest;
    detail::Piece both[2];
};

/// One context's transport, and one peer that can be reached by all its methods: two, or three. Where the
/// options name a site, the peer is said to be there, and the first method reaches no further. `Heard` is
/// what the transport tells.
template <class Heard = Recorder>
class RigOf {
  public:
    /// `of_heard`: arguments of its constructor.
    template <class... OfHeard>
    explicit RigOf(transport::EndpointOptions options = {}, bool fragile = true,
                   std::uint64_t eager = UINT64_MAX, std::size_t methods = 2, OfHeard... of_heard)
      : heard(std::move(of_heard)...)
      , one("one", fragile, eager)
      , two("two", fragile, eager)
      , three("three", fragile, eager)
      , settings_(settled(options.place.site.empty() ? "any" : "site"))
      , transport(id(1), options, scheduler, heard) {
        DescriptorTable table;
        table.set_place(options.place);
        for (ScriptedMethod* method : {&one, &two, &three}) {
            if (table.size() == methods) break;
            transport.open(method->module(), settings_, modules_).value();
            const auto* const name = reinterpret_cast<const std::byte*>(method->name().data());
            table.push_back({method->name(), {name, name + method->name().size()}, {}});
        }
        transport.endpoint().seal_table({});
        peer = transport.endpoint().peer(id(2));
        peer->learn(transport::KnownTable::make(table), true);
        transport.demux().on(wire::Kind::request, {[](void* self, transport::Link&, wire::View, Buffer*) {
                                                       ++static_cast<RigOf*>(self)->delivered;
                                                   },
                                                   nullptr, this});
    }
    ~RigOf() {
        scheduler.stop();
        transport.destroy();
    }
    RigOf(const RigOf&) = delete;
    RigOf& operator=(const RigOf&) = delete;

    static ContextId id(std::uint8_t number) {
        ContextId made;
        made.bytes.fill(number);
        return made;
    }
    transport::Channel& channel(const ScriptedMethod& method) {
        const auto table = peer->owners_table();
        for (const Descriptor& row : table->table)
            if (row.method == method.name()) return transport.endpoint().channel(*peer, row);
        throw std::logic_error("no such row");
    }
    /// Dials, and lets the link open.
    ScriptedMethod::Link& link_up(ScriptedMethod& method) {
        channel(method).reconnect();
        ScriptedMethod::Link& made = method.link();
        method.open(made);
        turns();
        return made;
    }
    /// All that the scripts have left to do, and what follows from it.
    void turns() {
        for (int i = 0; i < 4; ++i) scheduler.progress();
    }
    /// Runs f as a handler would: inside a turn.
    template <class F>
    void inside(F f) {
        one.in_poll(f);
        turns();
    }
    /// The number of the stream that a link carries, as its hello says it.
    std::uint32_t stream_of(const ScriptedMethod::Link& link) const {
        const auto hellos = link.method->sent(link, wire::Kind::hello);
        const auto said = hellos.empty() ? std::nullopt : wire::decode_hello(wire::View(hellos.front()));
        return said ? said->stream : 0;
    }
    static wire::Bytes control(wire::Kind kind, std::uint32_t stream, std::uint64_t count) {
        wire::Bytes bytes(wire::StreamFrame::kBytes);
        wire::encode(kind, wire::StreamFrame{stream, count}, bytes.data());
        return bytes;
    }
    /// The peer's first frame on a link.
    wire::Bytes hello(std::uint32_t stream, std::uint8_t version = wire::kVersion) const {
        return hello(stream, version, peer->owners_table()->encoded);
    }
    /// The same from a peer at another site than it was said to be.
    wire::Bytes hello_from(const std::string& site, std::uint32_t stream) const {
        DescriptorTable table = peer->owners_table()->table;
        table.set_place({site, table.place().host});
        return hello(stream, wire::kVersion, wire::encode_table(table));
    }
    static wire::Bytes hello(std::uint32_t stream, std::uint8_t version, const wire::Bytes& table) {
        wire::Hello said;
        said.version = version;
        said.stream = stream;
        said.max_message = 1u << 30;
        said.table = table;
        return wire::encode(said);
    }

    poll::Scheduler scheduler{poll::SchedulerOptions{}};
    Heard heard;
    ScriptedMethod one;
    ScriptedMethod two;
    ScriptedMethod three;
    std::shared_ptr<transport::Peer> peer;
    std::uint64_t delivered = 0; ///< requests of the peer

  private:
    static config::Settings settled(const std::string& within) {
        config::Sources sources;
        sources.file = "";
        sources.program = {{"method.one.skip_poll", "1"},
                           {"method.two.skip_poll", "1"},
                           {"method.three.skip_poll", "1"},
                           {"method.one.within", within}};
        return config::Settings::check(config::Raw::gather(sources).value(),
                                       config::core_schema({"one", "two", "three"}))
            .value();
    }

    loader::Modules modules_;
    config::Settings settings_;

  public:
    transport::Transport transport; // over all of the above
};
using Rig = RigOf<>;

} // namespace plexus::testing
