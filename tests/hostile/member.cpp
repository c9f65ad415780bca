// SPDX-License-Identifier: BSD-3-Clause
#include "hostile/member.h"

#include "wire/table.h"

#include <cstring>
#include <stdexcept>

namespace plexus::testing::hostile {

namespace {

BareOptions options_of(const JobKey& key, std::optional<ContextId> id) {
    BareOptions options;
    options.key = key;
    if (id) {
        options.id.emplace();
        std::memcpy(options.id->bytes, id->bytes.data(), id->bytes.size());
    }
    return options;
}

/// More than any stream has.
constexpr std::uint64_t kAll = std::uint64_t{1} << 40;

plexus_id as_module_id(const ContextId& id) {
    plexus_id out{};
    std::memcpy(out.bytes, id.bytes.data(), id.bytes.size());
    return out;
}

} // namespace

std::vector<std::byte> Address::bytes() const {
    wire::Bytes out;
    wire::Builder to(out);
    to.u32(static_cast<std::uint32_t>(saved.size()));
    to.raw(saved.data(), saved.size());
    to.u32(static_cast<std::uint32_t>(descriptor.size()));
    to.raw(descriptor.data(), descriptor.size());
    to.raw(&door, sizeof door);
    to.raw(&memory, sizeof memory);
    to.raw(&third, sizeof third);
    return out;
}

Address Address::from(std::span<const std::byte> bytes) {
    wire::In in(bytes);
    Address made;
    const auto take = [&in](std::vector<std::byte>& into) {
        const wire::View view = in.raw(in.u32());
        into.assign(view.begin(), view.end());
    };
    take(made.saved);
    take(made.descriptor);
    for (auto [to, size] : {std::pair<void*, std::size_t>{&made.door, sizeof made.door},
                            {&made.memory, sizeof made.memory},
                            {&made.third, sizeof made.third}}) {
        const wire::View view = in.raw(size);
        if (in.ok()) std::memcpy(to, view.data(), size);
    }
    if (!in.ok()) throw std::runtime_error("no address of a victim");
    return made;
}

Member::Member(std::string method, const JobKey& key, Address address,
               std::vector<const detail::RequestInfo*> names)
  : method_(std::move(method))
  , key_(key)
  , address_(std::move(address))
  , names_(std::move(names)) {
    open(std::nullopt);
}

void Member::open(std::optional<ContextId> id) {
    host_ = std::make_unique<BareHost>(find_method(method_), options_of(key_, id));
    host_->hooks.message = [this](End& end, ByteView message) {
        // The victim holds back what it has for this member until it knows how far its last stream got.
        if (wire::kind_of(message) == wire::Kind::replay_request) {
            const auto asked = wire::decode_stream(message);
            host_->push(end, std::make_shared<const Bytes>(frame_of(wire::Kind::replay_answer,
                                                                    wire::StreamFrame{asked->stream, kAll})));
        }
        inbox_.emplace_back(message.begin(), message.end());
    };
}

void Member::become(const ContextId& id) {
    link_ = nullptr;
    inbox_.clear();
    host_.reset();
    open(id);
}

End& Member::dial() {
    const plexus_id whom = as_module_id(address_.id());
    End* const end = host_->connect(address_.descriptor, whom);
    if (end == nullptr) throw std::runtime_error("no link could be started");
    const bool up = pump(std::chrono::seconds(20), [&] { return end->is_open() || end->is_lost(); });
    if (!up || end->is_lost()) throw std::runtime_error("no link came up: " + end->lost_why());
    return *end;
}

wire::Bytes Member::own_table() const {
    DescriptorTable table;
    table.push_back({method_, host_->descriptor(), {}});
    return wire::encode_table(table);
}

std::uint64_t Member::own_table_hash() const { return wire::table_hash(own_table()); }

void Member::hello(End& end, std::uint32_t stream, std::uint8_t version) {
    const wire::Bytes table = own_table();
    wire::Hello hello;
    hello.version = version;
    hello.stream = stream;
    hello.max_message = std::uint64_t{1} << 30;
    hello.memory = 7;
    hello.table = table;
    say(end, wire::encode(hello));
}

void Member::declare(End& end, std::uint16_t number, const detail::RequestInfo& request) {
    say(end, wire::encode(wire::Declare{number, request.signature, request.name, {}}));
}

End& Member::join() {
    link_ = &dial();
    hello(*link_, stream_++);
    const auto names = names_;
    for (std::size_t i = 0; i < names.size(); ++i)
        declare(*link_, static_cast<std::uint16_t>(i + 1), *names[i]);
    return *link_;
}

End& Member::link() {
    if (link_ == nullptr || link_->is_lost()) join();
    return *link_;
}

bool Member::say(End& end, wire::Bytes frame, std::size_t head) {
    const std::size_t pieces = frame.size() > head ? 2 : 1;
    const auto shared = std::make_shared<const Bytes>(std::move(frame));
    for (;;) {
        const std::int32_t status = host_->send(end, shared, head, static_cast<std::uint32_t>(pieces));
        if (status != PLEXUS_AGAIN) return status == PLEXUS_OK || status == PLEXUS_POSTED;
        host_->poll();
        if (end.is_lost()) return false;
    }
}

bool Member::push(End& end, const wire::Bytes& frame) {
    const auto shared = std::make_shared<const Bytes>(frame);
    return eventually(std::chrono::milliseconds(200), [&] {
        const std::int32_t status = host_->send(end, shared, 64, frame.size() > 64 ? 2 : 1);
        return status == PLEXUS_OK || status == PLEXUS_POSTED;
    });
}

wire::RequestHeader Member::to_door(std::uint16_t number) const {
    wire::RequestHeader header;
    header.request = number;
    header.key = address_.door.key;
    header.handle = address_.door.handle;
    header.generation = address_.door.generation;
    return header;
}

wire::BulkHeader Member::to_memory(std::uint64_t offset, std::uint64_t length) const {
    wire::BulkHeader header;
    header.key = address_.memory.key;
    header.handle = address_.memory.handle;
    header.generation = address_.memory.generation;
    header.offset = offset;
    header.length = length;
    return header;
}

wire::Bytes Member::request(std::uint16_t number, std::uint64_t call, wire::View arguments) const {
    wire::RequestHeader header = to_door(number);
    if (call != 0) {
        header.flags = wire::kWantsReply;
        header.call = call;
    }
    wire::Bytes bytes(header.bytes());
    wire::encode(header, bytes.data());
    bytes.insert(bytes.end(), arguments.begin(), arguments.end());
    return bytes;
}

wire::Bytes Member::own_pointer() const {
    wire::Bytes bytes;
    wire::Builder to(bytes);
    to.raw(host_->id().bytes, sizeof host_->id().bytes);
    to.u64(1); // key, handle, generation: this member looks at none of them
    to.u32(1);
    to.u32(1);
    to.u64(own_table_hash());
    return bytes;
}

bool Member::closed(End& end, std::chrono::milliseconds limit) {
    return pump(limit, [&] { return end.is_lost(); });
}

bool Member::next(wire::Kind kind, Bytes* frame) {
    return pump(std::chrono::seconds(30), [&] {
        while (!inbox_.empty()) {
            const Bytes message = std::move(inbox_.front());
            inbox_.pop_front();
            if (wire::kind_of(message) != kind) continue;
            if (frame != nullptr) *frame = message;
            return true;
        }
        return false;
    });
}

bool Member::heard(End& end) {
    const std::uint64_t call = ++calls_;
    if (!say(end, request(1, call, arguments_of(7)))) return false;
    for (Bytes answer; next(wire::Kind::reply, &answer);)
        if (const auto reply = wire::decode_reply(answer); reply && reply->call == call) return true;
    return false;
}

} // namespace plexus::testing::hostile
