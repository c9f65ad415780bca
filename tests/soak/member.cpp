// SPDX-License-Identifier: BSD-3-Clause
#include "soak/member.h"

#include "soak/cut.h"
#include "soak/sender.h"
#include "stream_link/descriptor.h"
#include "support/eventually.h"
#include "support/log_guard.h"
#include "wire/bytes.h"

#include "plexus/eco/group.h"

#include <filesystem>
#include <fmt/core.h>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <unistd.h>

namespace plexus::soak {
namespace {

namespace fs = std::filesystem;
using testing::Channel;

constexpr std::uint32_t kRanks = 4;

Options options_for(const MemberOptions& member) {
    Options options;
    options.file = "/dev/null";
    options.url = member.url;
    options.set = {{"methods", member.methods},
                   {"job.key_file", member.key_file},
                   {"name", "rank " + std::to_string(member.rank)},
                   {"limits.forget_peer", "500 ms"},
                   {"limits.reconnect", "10 s"},
                   {"progress.lookup_timeout", "10 s"}};
    return options;
}

/// Ports of the tcp method in a table.
void add_ports(const DescriptorTable& table, std::set<std::uint16_t>& ports) {
    for (const Descriptor& row : table)
        if (row.method == "tcp")
            if (const auto there = stream_link::Descriptor::decode({row.bytes.data(), row.bytes.size()}))
                ports.insert(there->port);
}

class Member {
  public:
    Member(Channel& director, const MemberOptions& options)
      : director_(director)
      , options_(options)
      , memory_(kRegionWords * kRegions)
      , context_(options_for(options)) {
        context_.on(hand, [](Desk& desk, Life from, std::uint64_t number,
                             std::span<const std::uint8_t> load) { take(desk, from, number, load); });
        context_.on(ask, [](Desk& desk, Life from, std::uint64_t number, std::uint64_t size,
                            std::span<const std::uint8_t> load) {
            take(desk, from, number, load);
            return load_of(number, size);
        });
        context_.on(memory_of, [](Desk& desk) { return desk.memory; });
        context_.on_error([this](const Error& error) { hear(error); });
        context_.on_peer([this](const PeerEvent& event) {
            const std::lock_guard hold(heard_mutex_);
            if (event.status == Status::peer_lost) ++lost_[event.context];
        });
        span_ = context_.bind(std::span(memory_));
        desk_.memory = span_.span();
        bound_ = context_.bind(desk_);
        add_ports(context_.table(), ports_);
        std::vector<std::string> methods;
        for (const Descriptor& row : context_.table())
            if (row.method != "local") methods.push_back(row.method);
        for (std::uint32_t rank = 0; rank < kRanks; ++rank)
            senders_.push_back(
                std::make_unique<Sender>(options.life, options.seed + rank,
                                         rank == options.rank ? std::vector<std::string>{"local"} : methods));
        say("r", bound_.pointer().save());
    }
    ~Member() { finish(); }

    /// Obeys until it is told to end.
    void obey() {
        for (;;) {
            const auto word = director_.take(std::chrono::minutes(90));
            if (!word) return;
            wire::In in(std::span<const std::byte>(*word).subspan(1));
            switch (static_cast<char>(word->front())) {
            case 'p': {
                const std::uint32_t rank = in.u32();
                const Life life = in.u32();
                auto desk = GlobalPointer<Desk>::load(context_, in.rest());
                add_ports(desk.table(), ports_);
                senders_[rank]->aim(life, std::move(desk));
                break;
            }
            case 'c':
                cuts_ += cut_tcp(ports_);
                break;
            case 'g': {
                const std::uint32_t rank = in.u32();
                const std::uint32_t size = in.u32();
                join_group(std::string(in.text()), rank, size);
                break;
            }
            case 'q': {
                std::set<Life> dead;
                for (std::uint32_t count = in.u32(); count > 0; --count) dead.insert(in.u32());
                finish();
                hear_of(dead);
                say_text("q");
                break;
            }
            case 'r':
                report();
                break;
            default:
                return;
            }
        }
    }

  private:
    static void take(Desk& desk, Life from, std::uint64_t number, std::span<const std::uint8_t> load) {
        const std::lock_guard hold(desk.mutex);
        desk.received[from].take(number);
        desk.damaged += is_load_of(number, load) ? 0 : 1;
    }
    // "12 requests to context 01234567 may not have been delivered", "up to 3 messages to …"
    void hear(const Error& error) {
        static const std::regex kLost("([0-9]+) (?:requests|messages) to context ([0-9a-f]{8})");
        std::smatch found;
        const std::string text = error.what();
        const std::lock_guard hold(heard_mutex_);
        if (error.status() != Status::peer_lost && error.status() != Status::peer_back) ++complaints_;
        if (std::regex_search(text, found, kLost)) told_[found[2]] += std::stoull(found[1]);
    }
    void say(const char* what, std::span<const std::byte> bytes) {
        std::vector<std::byte> record{static_cast<std::byte>(*what)};
        record.insert(record.end(), bytes.begin(), bytes.end());
        director_.put(record);
    }
    void say_text(const std::string& text) { director_.put(std::as_bytes(std::span(text))); }

    void join_group(const std::string& name, std::uint32_t rank, std::uint32_t size) {
        if (group_.joinable()) group_.join();
        group_ = std::thread([this, name, rank, size] {
            std::string outcome = "ok";
            try {
                const auto all = eco::Group::meet(context_, name, rank, size);
                for (std::uint64_t round = 0; round < 20 && outcome == "ok"; ++round) {
                    std::vector<double> data(1 + round * round * 50, rank + 1.0);
                    all.all_reduce(std::span(data), std::plus<>{});
                    const double sum = size * (size + 1) / 2.0;
                    if (data.front() != sum || data.back() != sum) outcome = "wrong";
                    std::vector<double> field(round * 100 + 1,
                                              rank == round % size ? 7.0 + double(round) : 0);
                    all.broadcast(std::span(field), static_cast<eco::Rank>(round % size));
                    if (field.back() != 7.0 + double(round)) outcome = "wrong";
                    all.barrier();
                }
            } catch (const Error& error) { outcome = std::string("error ") + error.what(); }
            say_text("g " + name + " " + outcome.substr(0, 400));
        });
    }

    void finish() {
        for (const auto& sender : senders_) sender->stop();
        if (group_.joinable()) group_.join();
    }

    /// Whoever was killed last is missed when its time to come back is over.
    void hear_of(const std::set<Life>& dead) {
        const auto told = [&] {
            const std::lock_guard hold(heard_mutex_);
            for (const auto& sender : senders_)
                for (const auto& [life, context] : sender->contexts())
                    if (dead.contains(life) && sender->accounts().at(life).next > 0 &&
                        !lost_.contains(context))
                        return false;
            return true;
        };
        static_cast<void>(testing::eventually(std::chrono::seconds(30), [&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
            return told();
        }));
    }

    void report() {
        Deeds all;
        for (const auto& sender : senders_) {
            const Deeds& each = sender->deeds();
            all.calls += each.calls;
            all.answers += each.answers;
            all.puts += each.puts;
            all.gets += each.gets;
            all.moves += each.moves;
            all.errors += each.errors;
            all.hung += each.hung;
            all.damaged += each.damaged;
            for (const auto& [life, account] : sender->accounts()) {
                Sent sent = account;
                const ContextId& context = sender->contexts().at(life);
                {
                    const std::lock_guard hold(heard_mutex_);
                    if (const auto found = told_.find(to_string(context).substr(0, 8)); found != told_.end())
                        sent.told = found->second;
                    if (const auto found = lost_.find(context); found != lost_.end())
                        sent.lost_events = found->second;
                }
                say_text(fmt::format("s {} {}", life, sent.text()));
            }
        }
        {
            const std::lock_guard hold(desk_.mutex);
            for (const auto& [life, received] : desk_.received)
                say_text(fmt::format("t {} {}", life, received.text()));
            all.damaged += desk_.damaged;
        }
        const std::lock_guard hold(heard_mutex_);
        say_text(fmt::format("d {} {} {} {} {} {} {} {} {} {}", all.calls, all.answers, all.puts, all.gets,
                             all.moves, all.errors, all.hung, all.damaged, cuts_, complaints_));
    }

    Channel& director_;
    const MemberOptions options_;
    std::mutex heard_mutex_;                    // of the next three
    std::map<std::string, std::uint64_t> told_; // by the short identity
    std::map<ContextId, std::uint64_t> lost_;
    std::uint64_t complaints_ = 0;
    std::uint64_t cuts_ = 0;
    std::set<std::uint16_t> ports_;
    std::vector<std::uint64_t> memory_;
    Desk desk_;
    Context context_;
    BoundSpan<std::uint64_t> span_;
    Bound<Desk> bound_;
    std::vector<std::unique_ptr<Sender>> senders_;
    std::thread group_;
};

} // namespace

Holdings Holdings::of(pid_t process) {
    const fs::path folder = "/proc/" + std::to_string(process);
    const auto count = [&](const char* what) {
        std::error_code gone;
        const fs::directory_iterator entries(folder / what, gone);
        return static_cast<std::uint64_t>(std::distance(begin(entries), end(entries)));
    };
    std::ifstream file(folder / "statm");
    std::uint64_t total = 0;
    std::uint64_t pages = 0;
    file >> total >> pages;
    // "7f..-7f.. rw-s ...": the letter says that a mapping is shared.
    std::uint64_t segments = 0;
    std::ifstream maps(folder / "maps");
    for (std::string range, access, rest; maps >> range >> access && std::getline(maps, rest);)
        segments += access.ends_with('s') ? 1 : 0;
    return {pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)), count("fd"), count("task"),
            segments};
}

int be_member(Channel& director, const MemberOptions& options) {
    const auto expected = testing::expect_warning(""); // links break here, and everybody says so
    Member member(director, options);
    member.obey();
    return 0;
}

int be_directory(Channel& director, const std::string& key_file) {
    const auto expected = testing::expect_warning("");
    Options options;
    options.file = "/dev/null";
    options.set = {{"methods", "tcp"}, {"job.key_file", key_file}, {"listen", "plexus://127.0.0.1:0"}};
    Context context(options);
    const std::string url = context.url();
    director.put(std::as_bytes(std::span(url)));
    director.take(std::chrono::minutes(24 * 60));
    return 0;
}

} // namespace plexus::soak
