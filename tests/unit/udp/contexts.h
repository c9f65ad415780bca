// SPDX-License-Identifier: BSD-3-Clause
// Two contexts with udp beside tcp, and a way between their udp sockets that a test may disturb.
#pragma once

#include "plexus/plexus.h"
#include "relay.h"
#include "support/catch.h"
#include "support/eventually.h"
#include "support/log_guard.h"

#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace plexus::testing::udp {

struct Sensor {};
constexpr Request<void(Sensor&, std::uint64_t)> reading{"udp.reading"};
constexpr Request<void(Sensor&, std::vector<char>)> picture{"udp.picture"};
constexpr Request<std::uint64_t(Sensor&)> total{"udp.total"};

inline Options options(const std::string& methods, std::map<std::string, std::string> more = {}) {
    Options made;
    made.set = std::move(more);
    made.set["module_path"] = std::string(std::getenv("TESTED_BUILD")) + "/modules";
    made.set["methods"] = methods;
    made.file = "/dev/null";
    return made;
}

inline LaneTraffic traffic_of(const Context& context, std::string_view method) {
    for (const LaneReport& lane : context.lanes())
        if (lane.method == method) return lane.traffic;
    return {};
}

/// What a sensor was told, and by which methods. The handlers' thread writes.
struct Record {
    mutable std::mutex mutex;
    std::vector<std::uint64_t> readings;
    std::map<std::string, std::uint64_t> by;
    std::vector<std::size_t> pictures;
    std::uint64_t last_by_udp = 0;

    std::size_t count() const {
        const std::lock_guard hold(mutex);
        return readings.size();
    }
    std::uint64_t count_by(const std::string& method) const {
        const std::lock_guard hold(mutex);
        const auto found = by.find(method);
        return found == by.end() ? 0 : found->second;
    }
    std::vector<std::uint64_t> all() const {
        const std::lock_guard hold(mutex);
        return readings;
    }
};

struct Side {
    explicit Side(const std::string& methods = "tcp, udp", std::map<std::string, std::string> more = {})
      : context(options(methods, std::move(more)))
      , bound(context.bind(sensor)) {
        context.on(reading, [this](Sensor&, std::uint64_t value) {
            const std::lock_guard hold(record.mutex);
            record.readings.push_back(value);
            ++record.by[caller().method];
            if (caller().method == "udp") record.last_by_udp = value;
        });
        context.on(picture, [this](Sensor&, const std::vector<char>& pixels) {
            const std::lock_guard hold(record.mutex);
            record.pictures.push_back(pixels.size());
            ++record.by[caller().method];
        });
        context.on(total, [this](Sensor&) { return std::uint64_t{record.count()}; });
    }
    Record record;
    Sensor sensor;
    Context context;
    Bound<Sensor> bound;
};

inline GlobalPointer<Sensor> handed(Context& to, const Side& from) {
    return GlobalPointer<Sensor>::load(to, from.bound.pointer().save());
}

/// A pointer whose datagrams go through the relay.
inline GlobalPointer<Sensor> through(const Relay& relay, const GlobalPointer<Sensor>& pointer) {
    DescriptorTable table = pointer.table();
    const std::size_t row = table.find("udp").value();
    Descriptor changed = table[row];
    changed.bytes = with_port(changed.bytes, relay.port());
    table.erase(row);
    table.insert(row, std::move(changed));
    GlobalPointer<Sensor> other(pointer);
    other.set_table(std::move(table));
    return other;
}

/// Sends until one has gone by udp; what it sent, from `value` on.
inline std::uint64_t until_by_udp(const Side& far, const UnreliablePointer<Sensor>& pointer,
                                  std::uint64_t value = 1'000'000) {
    const std::uint64_t first = value;
    const std::uint64_t before = far.record.count_by("udp");
    const bool arrived = eventually(10s, [&] {
        pointer.send(reading, value++);
        std::this_thread::sleep_for(1ms); // a sensor's pace: what comes faster than it is read is lost
        return far.record.count_by("udp") > before;
    });
    if (!arrived) throw std::runtime_error("nothing went by udp: " + pointer.pointer().explain());
    return value - first;
}

/// Sends readings, each with a number of its own, until the last of them has come by udp: the way keeps the
/// order, so that nothing is on it then, whatever was lost. Nor is anything on the way by tcp.
inline void until_none_under_way(const Side& far, const UnreliablePointer<Sensor>& pointer) {
    std::uint64_t value = 2'000'000;
    for (int tries = 0; tries < 20; ++tries) {
        pointer.send(reading, ++value);
        if (!eventually(500ms, [&] {
                const std::lock_guard hold(far.record.mutex);
                return far.record.last_by_udp == value;
            }))
            continue;
        if (!pointer.pointer().call(total).wait_for(10s * kPatience))
            throw std::runtime_error("no answer came by tcp");
        return;
    }
    throw std::runtime_error("what is sent by udp does not arrive: " + pointer.pointer().explain());
}

} // namespace plexus::testing::udp
