// SPDX-License-Identifier: BSD-3-Clause
#include "hostile/scene.h"

#include "bootstrap/key.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <mutex>
#include <thread>
#include <unistd.h>

namespace plexus::testing::hostile {
namespace {

/// What the victim heard of its own calls.
struct Calls {
    std::mutex mutex;
    std::vector<int> ended;
};

std::uint64_t depth_of(const Tree& tree) {
    std::uint64_t depth = 0;
    for (const Tree* at = &tree; at->next != nullptr; at = at->next.get()) ++depth;
    return depth;
}

void install(Context& context, const std::shared_ptr<Calls>& calls) {
    context.on(echo, [](Door&, int x) { return x; });
    context.on(slow_echo, threaded, [](Door&, int x) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return x;
    });
    context.on(note, [](Door& door) { ++door.notes; });
    context.on(notes, [](Door& door) { return door.notes.load(); });
    context.on(large, [](Door&) { return std::vector<std::uint64_t>(512, 7); });
    context.on(texts, [](Door&, const std::vector<std::string>& all) { return std::uint64_t{all.size()}; });
    context.on(deep, [](Door&, const Tree& tree) { return depth_of(tree); });
    context.on(keep, [](Door& door, const GlobalPointer<Door>& other) {
        door.other = other;
        return true;
    });
    context.on(call_other, [calls](Door& door, std::uint32_t milliseconds) {
        const auto limit = deadline(std::chrono::milliseconds(milliseconds));
        const auto whom = milliseconds == 0 ? *door.other : door.other->with(limit);
        whom.call(echo, 5).then([calls](Future<int> ended) {
            int status = 0;
            try {
                status = ended.get() == 5 ? 0 : -1; // -1: somebody else's answer
            } catch (const Error& error) { status = static_cast<int>(error.status()); }
            const std::lock_guard hold(calls->mutex);
            calls->ended.push_back(status);
        });
    });
    context.on(flood_other, threaded, [](Door& door, std::uint32_t milliseconds) {
        const auto other = door.other->with(deadline(std::chrono::milliseconds(milliseconds)));
        const std::vector<std::string> load{std::string(4000, 'x')};
        for (int sent = 0; sent < 20'000 && other.try_send(texts, load) == Status::ok;) ++sent;
        ++door.notes;
    });
    context.on(outcomes, [calls](Door&) {
        const std::lock_guard hold(calls->mutex);
        return calls->ended;
    });
}

int be_victim(Channel& channel, const std::string& method, const std::string& key, Values more) {
    const auto expected = expect_warning(""); // of what the member sends
    more.emplace("job.key_file", key);
    more.emplace("limits.max_message", "16 MiB");
    more.emplace("progress.close_timeout", "1 s");
    Door door;
    std::vector<std::byte> memory(Address::kMemoryBytes, std::byte{42});
    const auto calls = std::make_shared<Calls>();
    {
        Context context(by(method, std::move(more)));
        install(context, calls);
        context.on_error([](const Error&) {});
        const auto bound = context.bind(door);
        BoundSpan<std::byte> span = context.bind(std::span(memory));
        Address address;
        address.saved = bound.pointer().save();
        address.door = bound.pointer().target();
        address.memory = span.span().target();
        for (const Descriptor& row : context.table())
            if (row.method == method) address.descriptor = row.bytes;
        channel.put(address.bytes());
        channel.take(std::chrono::minutes(5)); // until it is told to end
    }
    for (const std::byte each : memory)
        if (each != std::byte{42}) return 3; // somebody without the right key has written there
    return 0;
}

JobKey key_in(const std::string& file) {
    const auto key = bootstrap::key_from_file(file).value();
    JobKey copy;
    std::copy(key.bytes.begin(), key.bytes.end(), copy.begin());
    return copy;
}

constexpr std::array<std::byte, 1> kWord{std::byte{1}};

} // namespace

Scene::Scene(const std::string& method, Deed deed, Values more) {
    victim_ = std::make_unique<Process>(
        [&](Channel& channel) { return be_victim(channel, method, key_.path(), more); });
    const auto said = victim_->channel().take(std::chrono::seconds(20));
    if (!said) throw std::runtime_error("the victim did not start");
    address_ = Address::from(*said);
    member_ = std::make_unique<Process>([&](Channel& channel) {
        const auto expected = expect_warning("");
        const auto go = channel.take(std::chrono::minutes(1));
        if (!go) return 90;
        Member member(method, key_in(key_.path()), Address::from(*go),
                      {&echo.info(), &slow_echo.info(), &notes.info(), &note.info(), &large.info(),
                       &texts.info(), &deep.info(), &keep.info(), &call_other.info(), &flood_other.info()});
        const std::byte code{static_cast<std::uint8_t>(deed(member))};
        channel.put({&code, 1});
        channel.take(std::chrono::minutes(5)); // its links stay as they are
        return 0;
    });
    here_ = std::make_unique<Context>(by(method, {{"job.key_file", key_.path()}}));
    door_ = GlobalPointer<Door>::load(*here_, address_.saved);
    if (within(door_.call(echo, 1)) != 1) throw std::runtime_error("the victim does not answer");
}

Scene::~Scene() = default;

std::size_t Scene::resident() const {
    std::ifstream file("/proc/" + std::to_string(victim_->pid()) + "/statm");
    std::size_t total = 0;
    std::size_t pages = 0;
    file >> total >> pages;
    return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

std::size_t Scene::growth() const {
    const std::size_t now = resident();
    return now > before_ ? now - before_ : 0;
}

bool Scene::serves(int calls) {
    for (int i = 0; i < calls; ++i)
        if (within(door_.call(echo, i), std::chrono::seconds(30)) != i) return false;
    return true;
}

void Scene::begin() {
    before_ = resident();
    address_.third = here_->id();
    member_->channel().put(address_.bytes());
}

bool Scene::poll_deed() {
    if (deed_code_) return true;
    if (const auto code = member_->channel().take(std::chrono::milliseconds(2)))
        deed_code_ = std::to_integer<int>(code->front());
    return deed_code_ || member_->wait(std::chrono::milliseconds(0));
}

bool Scene::serve_until_done() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60) * kPatience;
    while (!poll_deed())
        if (!serves(1) || std::chrono::steady_clock::now() > end) return false;
    return deed_code_.has_value();
}

bool Scene::play() {
    begin();
    return serve_until_done();
}

void Scene::kill_member() {
    member_->kill(SIGKILL);
    member_->wait(std::chrono::seconds(10));
}

std::optional<int> Scene::end_victim() {
    victim_->channel().put(kWord);
    return victim_->wait(std::chrono::seconds(30));
}

void Scene::check_end() {
    CHECK(deed_code_.value_or(-1) == 0);
    CHECK(serves());
    if (!kSanitized) CHECK(growth() < 128 * kMiB);
    CHECK(end_victim().value_or(-1) == 0);
}

} // namespace plexus::testing::hostile
