// SPDX-License-Identifier: BSD-3-Clause
#include "soak/ledger.h"

#include <algorithm>
#include <sstream>

namespace plexus::soak {
namespace {

constexpr std::size_t kAnsweredKept = 512;

template <class Numbers>
void write(std::ostream& out, const Numbers& numbers) {
    out << ' ' << numbers.size();
    for (const auto each : numbers) out << ' ' << each;
}
std::set<std::uint64_t> read_set(std::istream& in) {
    std::set<std::uint64_t> numbers;
    std::size_t count = 0;
    in >> count;
    for (std::uint64_t each = 0; count > 0 && in >> each; --count) numbers.insert(each);
    return numbers;
}

} // namespace

void Received::take(std::uint64_t number) {
    if (number >= next_) {
        if (number > next_) missing_.push_back({next_, number - 1});
        next_ = number + 1;
        return;
    }
    const auto gap = std::find_if(missing_.begin(), missing_.end(), [number](const Range& each) {
        return each.first <= number && number <= each.last;
    });
    if (gap == missing_.end()) {
        ++repeated_;
        return;
    }
    ++late_;
    const Range whole = *gap;
    auto at = missing_.erase(gap);
    if (number < whole.last) at = missing_.insert(at, {number + 1, whole.last});
    if (whole.first < number) missing_.insert(at, {whole.first, number - 1});
}

std::string Received::text() const {
    std::ostringstream out;
    out << next_ << ' ' << repeated_ << ' ' << late_ << ' ' << missing_.size();
    for (const Range& each : missing_) out << ' ' << each.first << ' ' << each.last;
    return out.str();
}

Received Received::from(const std::string& text) {
    std::istringstream in(text);
    Received made;
    std::size_t count = 0;
    in >> made.next_ >> made.repeated_ >> made.late_ >> count;
    for (Range each{}; count > 0 && in >> each.first >> each.last; --count) made.missing_.push_back(each);
    return made;
}

std::string Sent::text() const {
    std::ostringstream out;
    out << next << ' ' << told << ' ' << lost_events;
    write(out, refused);
    std::vector<std::uint64_t> last(answered.begin(), answered.end());
    if (last.size() > kAnsweredKept) last.erase(last.begin(), last.end() - kAnsweredKept);
    write(out, last);
    return out.str();
}

Sent Sent::from(const std::string& text) {
    std::istringstream in(text);
    Sent made;
    in >> made.next >> made.told >> made.lost_events;
    made.refused = read_set(in);
    made.answered = read_set(in);
    return made;
}

Balance& Balance::operator+=(const Balance& other) noexcept {
    sent += other.sent;
    received += other.received;
    told += other.told;
    unaccounted += other.unaccounted;
    untrue += other.untrue;
    return *this;
}

Balance compare(const Sent& sent, const Received& received) {
    std::vector<Range> missing = received.missing();
    if (received.next() < sent.next) missing.push_back({received.next(), sent.next - 1});
    Balance balance;
    balance.sent = sent.next;
    std::uint64_t absent = 0;
    std::uint64_t known = 0;
    for (const Range& each : missing) {
        absent += each.last - each.first + 1;
        const auto among = [&each](const std::set<std::uint64_t>& numbers) {
            return static_cast<std::uint64_t>(
                std::distance(numbers.lower_bound(each.first), numbers.upper_bound(each.last)));
        };
        known += among(sent.refused);
        balance.untrue += among(sent.answered);
    }
    balance.received = sent.next - absent;
    balance.told = std::min(absent, known + sent.told);
    if (sent.lost_events > 0) balance.told = absent;
    balance.unaccounted = absent - balance.told;
    return balance;
}

} // namespace plexus::soak
