// SPDX-License-Identifier: BSD-3-Clause
#include "soak/director.h"

#include "support/eventually.h"
#include "wire/bytes.h"

#include <csignal>
#include <cstdio>
#include <fmt/core.h>
#include <sstream>
#include <thread>

namespace plexus::soak {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostBlames = 40;

wire::Bytes word_of(char what) { return {static_cast<std::byte>(what)}; }

} // namespace

Director::Director(const SoakOptions& options)
  : options_(options)
  , random_(options.seed) {
    directory_ = std::make_unique<testing::Process>(
        [this](testing::Channel& channel) { return be_directory(channel, key_.path()); });
    const auto url = directory_->channel().take(20s);
    if (!url) throw std::runtime_error("the directory did not start");
    url_ = text_of(*url);
}

void Director::blame(const std::string& what) {
    std::fprintf(stderr, "soak: %s\n", what.c_str());
    blames_.push_back(what);
}

void Director::start(std::uint32_t rank) {
    Place& place = places_[rank];
    place.life = next_life_++;
    place.group.clear();
    const MemberOptions member{rank, place.life, random_(), options_.methods, key_.path(), url_};
    place.process = std::make_unique<testing::Process>(
        [&member](testing::Channel& channel) { return be_member(channel, member); });
    const auto ready = place.process->channel().take(60s);
    if (!ready || static_cast<char>(ready->front()) != 'r')
        throw std::runtime_error(fmt::format("member {} did not start", rank));
    place.pointer.assign(ready->begin() + 1, ready->end());
}

/// Tells all who is at that place now, and whoever is new there who the others are.
void Director::introduce(std::uint32_t rank) {
    const auto tell = [this](std::uint32_t whom, std::uint32_t about) {
        wire::Bytes word = word_of('p');
        wire::Builder to(word);
        to.u32(about);
        to.u32(places_[about].life);
        to.raw(places_[about].pointer.data(), places_[about].pointer.size());
        places_[whom].process->channel().put(word);
    };
    for (std::uint32_t other = 0; other < kRanks; ++other) {
        if (places_[other].process == nullptr) continue;
        tell(other, rank);
        if (other != rank) tell(rank, other);
    }
}

void Director::take_word(std::uint32_t rank, const std::string& word) {
    Place& place = places_[rank];
    std::istringstream in(word.substr(1));
    std::string rest;
    Life life = 0;
    switch (word.front()) {
    case 's':
    case 't': {
        in >> life;
        std::getline(in, rest);
        if (word.front() == 's')
            reports_[place.life].sent[life] = Sent::from(rest);
        else
            reports_[place.life].received[life] = Received::from(rest);
        break;
    }
    case 'd':
        for (std::uint64_t& each : totals_.deeds) {
            std::uint64_t count = 0;
            in >> count;
            each += count;
        }
        ++reported_;
        break;
    case 'q':
        ++stopped_;
        break;
    case 'g': {
        std::string name;
        std::string outcome;
        in >> name >> outcome;
        std::getline(in, rest);
        if (outcome == "wrong") blame("a collective gave a wrong result in group " + name);
        if (outcome == "error" && !group_disturbed_)
            blame(fmt::format("group {} broke at rank {} although nobody was killed:{}", name, rank, rest));
        if (outcome == "ok")
            ++totals_.groups_ended_ok;
        else
            ++totals_.groups_broken;
        place.group.clear();
        break;
    }
    default:
        break;
    }
}

void Director::listen(std::chrono::milliseconds time) {
    const auto end = Clock::now() + time;
    do {
        for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
            Place& place = places_[rank];
            if (place.process == nullptr) continue;
            while (const auto word = place.process->channel().take(1ms)) take_word(rank, text_of(*word));
            if (const auto code = place.process->wait(0ms))
                throw std::runtime_error(
                    fmt::format("member {} (life {}) ended by itself with {}", rank, place.life, *code));
        }
        std::this_thread::sleep_for(2ms);
    } while (Clock::now() < end);
}

void Director::kill(std::uint32_t rank) {
    Place& place = places_[rank];
    group_disturbed_ = true;
    place.process->kill(SIGKILL);
    place.process->wait(30s);
    dead_.insert(place.life);
    place.process.reset();
    place.group.clear();
    ++totals_.kills;
    if (random_() % 2 == 0) listen(std::chrono::milliseconds(random_() % 500));
    start(rank);
    introduce(rank);
}

void Director::stop_for_a_while(std::uint32_t rank) {
    places_[rank].process->kill(SIGSTOP);
    ++totals_.stops;
    listen(std::chrono::milliseconds(50 + random_() % 1500));
    places_[rank].process->kill(SIGCONT);
}

void Director::begin_group() {
    for (const Place& place : places_)
        if (!place.group.empty()) return;
    const std::string name = fmt::format("soak-{}", ++totals_.groups);
    group_disturbed_ = false;
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
        wire::Bytes word = word_of('g');
        wire::Builder to(word);
        to.u32(rank);
        to.u32(kRanks);
        to.text(name);
        places_[rank].process->channel().put(word);
        places_[rank].group = name;
    }
}

bool Director::end_group(std::chrono::seconds limit) {
    const auto end = Clock::now() + limit * testing::kPatience;
    for (;;) {
        listen(10ms);
        bool over = true;
        for (const Place& place : places_) over = over && place.group.empty();
        if (over) return true;
        if (Clock::now() > end) return false;
    }
}

void Director::disturb() {
    const auto rank = static_cast<std::uint32_t>(random_() % kRanks);
    const std::uint64_t what = random_() % 100;
    if (what < 20) {
        kill(1 + rank % (kRanks - 1)); // rank 0 is the survivor
    } else if (what < 40) {
        stop_for_a_while(rank);
    } else if (what < 80) {
        places_[rank].process->channel().put(word_of('c'));
        ++totals_.cuts_asked;
    } else {
        begin_group();
    }
}

Holdings Director::holdings_of_survivor() const { return Holdings::of(places_[0].process->pid()); }

bool Director::run() {
    std::printf("soak: seed %llu, %lld s, methods %s\n", static_cast<unsigned long long>(options_.seed),
                static_cast<long long>(options_.time.count()), options_.methods.c_str());
    std::fflush(stdout);
    const auto end = Clock::now() + options_.time;
    start(0);
    at_start_ = holdings_of_survivor();
    for (std::uint32_t rank = 1; rank < kRanks; ++rank) start(rank);
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) introduce(rank);
    auto next_line = Clock::now() + 60s;
    const auto warm = Clock::now() + options_.time / 4;
    while (Clock::now() < end) {
        // By then every method has been used, and libraries have the memory that they want.
        if (warm_resident_ == 0 && Clock::now() > warm) warm_resident_ = holdings_of_survivor().resident;
        listen(std::chrono::milliseconds(200 + random_() % 800));
        disturb();
        if (Clock::now() < next_line) continue;
        next_line += 60s;
        const Holdings now = holdings_of_survivor();
        std::printf(
            "soak: %llu kills, %llu stops; the survivor holds %llu MiB, %llu descriptors, %llu threads\n",
            static_cast<unsigned long long>(totals_.kills), static_cast<unsigned long long>(totals_.stops),
            static_cast<unsigned long long>(now.resident / kMiB),
            static_cast<unsigned long long>(now.descriptors), static_cast<unsigned long long>(now.threads));
        std::fflush(stdout);
    }
    if (!end_group(120s)) blame("a group did not end within two minutes");
    collect();
    settle();
    check_survivor();
    print();
    return blames_.empty();
}

void Director::collect() {
    wire::Bytes word = word_of('q');
    wire::Builder to(word);
    to.u32(static_cast<std::uint32_t>(dead_.size()));
    for (const Life each : dead_) to.u32(each);
    for (const Place& place : places_) place.process->channel().put(word);
    const auto all_did = [this](std::size_t& count) {
        const auto end = Clock::now() + 180s * testing::kPatience;
        while (count < kRanks && Clock::now() < end) listen(10ms);
        return count == kRanks;
    };
    if (!all_did(stopped_)) return blame("a member did not end what it had begun within three minutes");
    for (const Place& place : places_) place.process->channel().put(word_of('r'));
    if (!all_did(reported_)) blame("a member does not report");
}

void Director::settle() {
    for (const auto& [from, report] : reports_) {
        for (const auto& [to, received] : report.received) {
            repeated_ += received.repeated();
            late_ += received.late();
            if (received.repeated() > 0)
                blame(fmt::format("life {} got {} numbers of life {} twice", from, received.repeated(), to));
            if (received.late() > 0)
                blame(
                    fmt::format("life {} got {} numbers of life {} out of order", from, received.late(), to));
        }
        for (const auto& [to, sent] : report.sent) {
            if (dead_.contains(to)) {
                if (sent.next > sent.refused.size() && sent.lost_events == 0)
                    blame(fmt::format(
                        "life {} was not told that life {} is dead, to which it had sent {} numbers", from,
                        to, sent.next));
                continue;
            }
            const auto far = reports_.find(to);
            if (far == reports_.end()) continue; // blamed already
            const auto got = far->second.received.find(from);
            const Balance one = compare(sent, got == far->second.received.end() ? Received() : got->second);
            balance_ += one;
            lost_alive_ += sent.lost_events;
            if (sent.lost_events > 0)
                blame(fmt::format("life {} was told {} times that life {} is lost, which lives", from,
                                  sent.lost_events, to));
            if (one.unaccounted > 0)
                blame(
                    fmt::format("{} of {} numbers from life {} to life {} did not come, and nobody was told",
                                one.unaccounted, one.sent, from, to));
            if (one.untrue > 0)
                blame(fmt::format("{} calls from life {} to life {} were answered and did not come",
                                  one.untrue, from, to));
        }
    }
    if (totals_.deeds[1] == 0) blame("no call was answered");
    if (totals_.deeds[2] == 0) blame("no put ended well");
    const bool has_tcp = options_.methods.empty() || options_.methods.find("tcp") != std::string::npos;
    if (has_tcp && totals_.cuts_asked > 0 && totals_.deeds[8] == 0) blame("no connection was cut");
    if (totals_.deeds[6] > 0) blame(fmt::format("{} waits did not end", totals_.deeds[6]));
    if (totals_.deeds[7] > 0) blame(fmt::format("{} messages or transfers were damaged", totals_.deeds[7]));
}

// The others end, and are forgotten: then the survivor holds what it held before it met them.
void Director::check_survivor() {
    for (std::uint32_t rank = 1; rank < kRanks; ++rank) {
        places_[rank].process->channel().put(word_of('e'));
        const auto code = places_[rank].process->wait(60s);
        if (code != 0) blame(fmt::format("member {} ended with {}", rank, code.value_or(-1)));
        places_[rank].process.reset();
    }
    constexpr std::uint64_t kMore = 64 * kMiB; // what the heap keeps
    // Pool threads, the watch of groups and what a fabric library starts with its first use stay.
    constexpr std::uint64_t kStay = 24;
    const auto flat = [&] {
        at_end_ = holdings_of_survivor();
        return at_end_.descriptors <= at_start_.descriptors + kStay &&
               at_end_.threads <= at_start_.threads + kStay &&
               (testing::kSanitized || at_end_.resident <= warm_resident_ + kMore);
    };
    if (!testing::eventually(90s, [&] {
            std::this_thread::sleep_for(100ms);
            return flat();
        }))
        blame("the survivor holds more than at the start");
    places_[0].process->channel().put(word_of('e'));
    if (const auto code = places_[0].process->wait(60s); code != 0)
        blame(fmt::format("the survivor ended with {}", code.value_or(-1)));
}

void Director::print() const {
    const auto line = [](const char* what, std::uint64_t count) {
        std::printf("  %-42s %12llu\n", what, static_cast<unsigned long long>(count));
    };
    const auto& deeds = totals_.deeds;
    std::printf("\nsoak: what happened\n");
    line("kills and restarts", totals_.kills);
    line("stops", totals_.stops);
    line("connections cut", deeds[8]);
    line("groups begun", totals_.groups);
    line("their members that ended well", totals_.groups_ended_ok);
    line("their members that were told of a break", totals_.groups_broken);
    line("moves to another method", deeds[4]);
    line("calls", deeds[0]);
    line("answers", deeds[1]);
    line("puts", deeds[2]);
    line("gets", deeds[3]);
    line("errors that were told to senders", deeds[5]);
    std::printf("soak: numbers between those that lived to the end\n");
    line("sent", balance_.sent);
    line("received", balance_.received);
    line("did not come, and the sender was told", balance_.told);
    line("did not come, and nobody was told", balance_.unaccounted);
    line("came twice", repeated_);
    line("came out of order", late_);
    line("damaged", deeds[7]);
    line("waits that did not end", deeds[6]);
    std::printf("soak: the survivor, at the start and at the end\n");
    line("memory after a quarter of the time, MiB", warm_resident_ / kMiB);
    const auto two = [](const char* what, std::uint64_t first, std::uint64_t second) {
        std::printf("  %-42s %12llu %12llu\n", what, static_cast<unsigned long long>(first),
                    static_cast<unsigned long long>(second));
    };
    two("memory, MiB", at_start_.resident / kMiB, at_end_.resident / kMiB);
    two("descriptors", at_start_.descriptors, at_end_.descriptors);
    two("threads", at_start_.threads, at_end_.threads);
    std::printf("soak: seed %llu: %s\n", static_cast<unsigned long long>(options_.seed),
                blames_.empty() ? "everything is accounted for" : "NOT everything is accounted for");
    for (std::size_t i = 0; i < std::min(blames_.size(), kMostBlames); ++i)
        std::printf("  %s\n", blames_[i].c_str());
}

} // namespace plexus::soak
