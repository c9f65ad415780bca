// SPDX-License-Identifier: BSD-3-Clause
#include "soak/figures.h"

#include "base/log.h"
#include "plexus/plexus.h"
#include "soak/cut.h"
#include "soak/member.h"
#include "support/eventually.h"
#include "support/process.h"
#include "unit/context/key_file.h"

#include <cereal/types/vector.hpp>
#include <csignal>
#include <cstdio>
#include <fmt/core.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>

namespace plexus::soak {
namespace {

using namespace std::chrono_literals;
using testing::Channel;
using testing::Process;

struct Post {
    std::uint64_t own = 0;
    std::uint64_t wrong = 0; ///< requests that were meant for another life
};
constexpr Request<std::uint64_t(Post&, std::uint64_t)> meant{"figures.meant"};
constexpr Request<void(Post&, std::uint64_t)> drop{"figures.drop"};
constexpr Request<std::uint64_t(Post&)> wrong{"figures.wrong"};
constexpr Request<int(Post&, int)> greet{"figures.greet"};

Options options_for(const std::string& methods, const std::string& key,
                    std::map<std::string, std::string> more = {}) {
    Options options;
    options.file = "/dev/null";
    options.set = std::move(more);
    options.set["methods"] = methods;
    options.set["job.key_file"] = key;
    return options;
}

void install(Context& context) {
    context.on(meant, [](Post& post, std::uint64_t life) {
        post.wrong += life == post.own ? 0 : 1;
        return post.own;
    });
    context.on(drop, [](Post& post, std::uint64_t life) { post.wrong += life == post.own ? 0 : 1; });
    context.on(wrong, [](Post& post) { return post.wrong; });
    context.on(greet, [](Post&, int x) { return x; });
}

/// Each broken link logs a line. None is kept in a process whose memory is measured.
void drop_lines() {
    log::set_sink([](log::Level, std::string_view, std::string_view) {});
}

int serve(Channel& channel, std::uint64_t life, const Options& options) {
    drop_lines();
    Post post{life};
    Context context(options);
    install(context);
    const auto bound = context.bind(post);
    channel.put(bound.pointer().save());
    channel.take(24h);
    return 0;
}

template <class R>
bool in_time(const Future<R>& future) {
    return future.wait_for(60s * testing::kPatience);
}

/// A port that nobody uses now.
std::uint16_t free_port() {
    const UniqueFd probe(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(probe.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        ::getsockname(probe.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
        throw std::runtime_error("no port is free");
    return ntohs(address.sin_port);
}

void say(Channel& channel, const std::string& text) { channel.put(std::as_bytes(std::span(text))); }

/// The survivor of restarts: takes the pointer to each life, says what was wrong with the life before.
int survive(Channel& director, const Options& options) {
    drop_lines();
    Context context(options);
    GlobalPointer<Post> old;
    std::uint64_t life = 0;
    for (auto word = director.take(10min); word; word = director.take(10min)) {
        ++life;
        const auto now = GlobalPointer<Post>::load(context, *word);
        std::string fault;
        // The old one is dead: what is sent there ends with an error, and reaches nobody.
        if (old) {
            try {
                for (int i = 0; i < 10; ++i) old.send(drop, life - 1);
            } catch (const Error&) {
                // told
            }
            try {
                Future<std::uint64_t> call = old.call(meant, life - 1);
                if (!in_time(call)) fault = "a call to a life that is over does not end";
                call.get();
                fault = "a life that is over has answered";
            } catch (const Error&) {
                // told
            }
        }
        try {
            for (int i = 0; i < 10; ++i) now.send(drop, life);
            Future<std::uint64_t> call = now.call(meant, life);
            Future<std::uint64_t> count = now.call(wrong);
            if (!in_time(call) || !in_time(count)) fault = "a call to the new life does not end";
            if (call.get() != life) fault = "another life than the new one has answered";
            if (count.get() != 0) fault = "requests have reached the wrong life";
            for (int i = 0; i < 50; ++i) now.send(drop, life); // still on their way when it is killed
        } catch (const Error& error) { fault = std::string("the new life: ") + error.what(); }
        old = now;
        say(director, fault.empty() ? "ok" : fault);
    }
    return 0;
}

struct Flat {
    /// Those of the peers of the moment: UCX over shared memory maps three of each.
    static constexpr std::uint64_t kSegments = 20;

    explicit Flat(pid_t watched)
      : process(watched)
      , before(Holdings::of(watched)) {}
    /// True if it comes back to what it was, but for so much.
    bool comes_back(std::uint64_t bytes, std::uint64_t descriptors) {
        const bool flat = testing::eventually(60s, [&] {
            std::this_thread::sleep_for(100ms);
            now = Holdings::of(process);
            return now.descriptors <= before.descriptors + descriptors && now.threads <= before.threads + 4 &&
                   now.segments <= before.segments + kSegments &&
                   (testing::kSanitized || now.resident <= before.resident + bytes);
        });
        std::printf(
            "  %-24s %10s %10s\n  %-24s %10.1f %10.1f\n  %-24s %10llu %10llu\n  %-24s %10llu %10llu\n"
            "  %-24s %10llu %10llu\n",
            "", "before", "after", "memory, MiB", double(before.resident) / kMiB, double(now.resident) / kMiB,
            "descriptors", static_cast<unsigned long long>(before.descriptors),
            static_cast<unsigned long long>(now.descriptors), "threads",
            static_cast<unsigned long long>(before.threads), static_cast<unsigned long long>(now.threads),
            "shared segments", static_cast<unsigned long long>(before.segments),
            static_cast<unsigned long long>(now.segments));
        return flat;
    }
    pid_t process;
    Holdings before;
    Holdings now{};
};

bool verdict(const char* what, bool good) {
    std::printf("%s: %s\n", what, good ? "as it should be" : "NOT as it should be");
    std::fflush(stdout);
    return good;
}

} // namespace

bool restarts(std::uint64_t rounds, const std::string& method) {
    const testing::KeyFile key;
    const std::map<std::string, std::string> quick{{"limits.forget_peer", "500 ms"},
                                                   {"limits.reconnect", "2 s"}};
    const Options client = options_for(method, key.path(), quick);
    Options server = client;
    if (method == "tcp" || method.ends_with("over=tcp"))
        server.set["method.tcp.port"] = std::to_string(free_port());
    Process survivor([&](Channel& channel) { return survive(channel, client); });
    std::optional<Flat> flat;
    bool good = true;
    for (std::uint64_t life = 1; life <= rounds && good; ++life) {
        Process one([&](Channel& channel) { return serve(channel, life, server); });
        const auto pointer = one.channel().take(30s);
        if (!pointer) return verdict("restarts: a server did not start", false);
        survivor.channel().put(*pointer);
        const auto said = survivor.channel().take(150s);
        const std::string text = said ? text_of(*said) : "the survivor says nothing";
        if (text != "ok")
            std::printf("restarts: round %llu: %s\n", static_cast<unsigned long long>(life), text.c_str());
        good = text == "ok";
        if (life == std::min<std::uint64_t>(10, rounds)) flat.emplace(survivor.pid());
        one.kill(SIGKILL);
    }
    std::printf("restarts: %llu rounds at one address, %s\n", static_cast<unsigned long long>(rounds),
                method.c_str());
    return verdict("restarts", good && flat->comes_back(16 * kMiB, 4));
}

bool clients(std::uint64_t count, const std::string& method) {
    const testing::KeyFile key;
    const Options server =
        options_for(method, key.path(), {{"limits.forget_peer", "1 s"}, {"limits.reconnect", "1 s"}});
    Process one([&](Channel& channel) { return serve(channel, 1, server); });
    const auto pointer = one.channel().take(30s);
    if (!pointer) return verdict("clients: the server did not start", false);
    const auto client = [&](Channel& channel) {
        drop_lines();
        Context context(options_for(method, key.path()));
        const auto far = GlobalPointer<Post>::load(context, *pointer);
        Future<int> call = far.call(greet, 7);
        if (!in_time(call) || call.get() != 7) return 1;
        for (int i = 0; i < 20; ++i) far.send(drop, 1);
        say(channel, "ok");
        channel.take(1h);
        return 0;
    };
    std::optional<Flat> flat;
    std::uint64_t served = 0;
    constexpr std::uint64_t kAtOnce = 4;
    for (std::uint64_t i = 0; i < count; i += kAtOnce) {
        std::vector<std::unique_ptr<Process>> few;
        for (std::uint64_t each = 0; each < kAtOnce; ++each) few.push_back(std::make_unique<Process>(client));
        for (const auto& each : few) {
            const auto said = each->channel().take(60s);
            served += said && text_of(*said) == "ok" ? 1 : 0;
            each->kill(SIGKILL);
        }
        if (one.wait(0ms))
            return verdict(fmt::format("clients: the server has ended; {} were served", served).c_str(),
                           false);
        if (!flat && i + kAtOnce >= std::min<std::uint64_t>(100, count / 2)) flat.emplace(one.pid());
    }
    std::printf("clients: %llu of %llu were served and killed, %s\n", static_cast<unsigned long long>(served),
                static_cast<unsigned long long>((count + kAtOnce - 1) / kAtOnce * kAtOnce), method.c_str());
    const bool all = served == (count + kAtOnce - 1) / kAtOnce * kAtOnce;
    return verdict("clients", flat->comes_back(16 * kMiB, 4) && all);
}

namespace {

constexpr std::size_t kStrangers = 300;

/// Keeps that many silent connections open, making a new one as soon as one is closed.
int be_strangers(Channel& channel, std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    std::vector<UniqueFd> sockets(kStrangers);
    std::uint64_t made = 0;
    bool told = false;
    for (;;) {
        for (UniqueFd& each : sockets) {
            char byte = 0;
            if (each && (::recv(each.get(), &byte, 1, MSG_DONTWAIT | MSG_PEEK) > 0 || errno == EAGAIN))
                continue;
            each.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
            (void)::connect(each.get(), reinterpret_cast<sockaddr*>(&address), sizeof address);
            ++made;
        }
        if (!told && made > kStrangers) {
            told = true; // some were sent away and are back
            say(channel, "ok");
        }
        std::this_thread::sleep_for(1ms);
    }
}

/// Makes a link with a fresh context and mends the link of an old one, again and again. The server can dial
/// neither, so each link is made where the strangers are.
int link_and_mend(Channel& channel, const Options& options, const std::vector<std::byte>& pointer,
                  std::uint16_t port, std::chrono::seconds time) {
    drop_lines();
    constexpr auto kConnectTimeout = 5s; // the default of method.tcp.connect_timeout
    Context old(options);
    const auto far = GlobalPointer<Post>::load(old, pointer);
    const auto end = std::chrono::steady_clock::now() + time;
    std::chrono::steady_clock::duration slowest{};
    std::uint64_t links = 0;
    std::uint64_t cuts = 0;
    const auto call = [&](const GlobalPointer<Post>& whom) {
        const auto start = std::chrono::steady_clock::now();
        Future<int> answer = whom.call(greet, 3);
        const bool good = answer.wait_for(kConnectTimeout * testing::kPatience) && answer.get() == 3;
        slowest = std::max(slowest, std::chrono::steady_clock::now() - start);
        return good;
    };
    do {
        if (!call(far)) return say(channel, "a link was not mended in time"), 0;
        const std::uint64_t cut = cut_tcp({port});
        if (cut == 0) return say(channel, "a call was answered, and there is no link to cut"), 0;
        cuts += cut;
        Context fresh(options);
        if (!call(GlobalPointer<Post>::load(fresh, pointer)))
            return say(channel, "no link was made in time"), 0;
        ++links;
    } while (std::chrono::steady_clock::now() < end);
    using std::chrono::milliseconds;
    say(channel, fmt::format("ok: {} links made, {} cut and mended, the slowest answer after {} ms", links,
                             cuts, std::chrono::duration_cast<milliseconds>(slowest).count()));
    return 0;
}

} // namespace

bool strangers(std::chrono::seconds time) {
    const testing::KeyFile key;
    const std::uint16_t port = free_port();
    const Options options = options_for("faults?over=tcp", key.path());
    Options server = options_for("faults?over=tcp&refuse_connect=1", key.path());
    server.set["method.tcp.port"] = std::to_string(port);
    Process one([&](Channel& channel) { return serve(channel, 1, server); });
    const auto pointer = one.channel().take(30s);
    if (!pointer) return verdict("strangers: the server did not start", false);
    Process crowd([&](Channel& channel) { return be_strangers(channel, port); });
    if (!crowd.channel().take(60s)) return verdict("strangers: nobody was sent away", false);
    Process client([&](Channel& channel) { return link_and_mend(channel, options, *pointer, port, time); });
    const auto said = client.channel().take(time + 120s);
    const std::string text = said ? text_of(*said) : "the client says nothing";
    std::printf("strangers: %zu silent ones: %s\n", kStrangers, text.c_str());
    return verdict("strangers", text.starts_with("ok"));
}

} // namespace plexus::soak
