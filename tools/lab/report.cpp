// SPDX-License-Identifier: BSD-3-Clause
#include "tools/lab/report.h"

#include "tools/common/json.h"

#include <fmt/format.h>
#include <iterator>

namespace plexus::tools::lab {
namespace {

double in_us(Time time) { return static_cast<double>(time.count()) / 1e3; }
double in_s(Time time) { return static_cast<double>(time.count()) / 1e9; }

/// Of all frames that switches sent on: what waited before them.
QueueLengths in_switches(const Routes& routes, const Fabric& fabric) {
    QueueLengths all;
    for (std::uint32_t i = 0; i < routes.pipes().size(); ++i)
        if (routes.pipes()[i].from != routes.pipes()[i].part || routes.pipes()[i].from.empty())
            all.add(fabric.counts()[i].queues);
    return all;
}

double share(Time part, Time whole) { return whole > Time(0) ? in_s(part) / in_s(whole) : 0; }

} // namespace

std::string report_json(const Network& network, const Routes& routes, const Fabric& fabric,
                        const SwitchCount& count) {
    std::vector<std::string> links;
    for (std::uint32_t i = 0; i < routes.pipes().size(); ++i) {
        const Pipe& pipe = routes.pipes()[i];
        const PipeCount& one = fabric.counts()[i];
        json::Object link;
        link.add("name", pipe.part);
        if (!pipe.from.empty()) link.add("from", pipe.from).add("to", pipe.to);
        link.add("up", fabric.is_up(i)).add("rate_bps", fabric.rate(i));
        link.add("delay_us", in_us(pipe.speed.delay)).add("frames", one.frames).add("bytes", one.bytes);
        link.add("overflowed", one.overflowed).add("cut", one.cut);
        link.add("queue_p99_bytes", one.queues.quantile(0.99)).add("queue_most_bytes", one.queues.most());
        link.add("busy", share(one.busy, count.time));
        links.push_back(link.text());
    }
    const Lateness& late = count.lateness;
    json::Object punctual;
    punctual.add("frames", late.frames()).add("late", late.late());
    punctual.add("late_bound_us", in_us(Lateness::kBound)).add("late_p50_us", in_us(late.quantile(0.5)));
    punctual.add("late_p99_us", in_us(late.quantile(0.99))).add("late_worst_us", in_us(late.worst()));
    punctual.add("not_carried", count.not_carried).add("processor", share(count.processor, count.time));
    punctual.add("spun", share(count.spun, count.time)).add("was_bottleneck", late.late() > 0);
    json::Object all;
    all.add("network", network.name).add("scale", network.scale).add("delays_scaled", network.scaled_delays);
    all.add("hosts", network.hosts.size()).add("seconds", in_s(count.time));
    const QueueLengths queued = in_switches(routes, fabric);
    all.add("queue_p99_bytes", queued.quantile(0.99)).add("queue_most_bytes", queued.most());
    return all.raw("switch", punctual.text()).raw("links", json::list(links)).text();
}

std::string report_text(const Network& network, const Routes& routes, const Fabric& fabric,
                        const SwitchCount& count) {
    std::string text;
    const auto out = std::back_inserter(text);
    fmt::format_to(out, "{:<34} {:>10} {:>10} {:>9} {:>13} {:>6} {:>7} {:>9} {:>9}\n", "link", "rate",
                   "delay", "frames", "bytes", "busy", "lost", "queue 99%", "most");
    for (std::uint32_t i = 0; i < routes.pipes().size(); ++i) {
        const Pipe& pipe = routes.pipes()[i];
        const PipeCount& one = fabric.counts()[i];
        if (one.frames + one.overflowed + one.cut == 0) continue;
        const bool is_cable = pipe.part == pipe.from || pipe.part == pipe.to;
        std::string name = pipe.from.empty() ? pipe.part : pipe.from + " > " + pipe.to;
        if (!pipe.from.empty() && !is_cable) name = pipe.part + ": " + name;
        const std::string rate = fabric.rate(i) == 0 ? "-" : show_rate(fabric.rate(i));
        fmt::format_to(out, "{:<34} {:>10} {:>10} {:>9} {:>13} {:>5.1f}% {:>7} {:>9} {:>9}\n", name, rate,
                       show_time(pipe.speed.delay), one.frames, one.bytes, 100 * share(one.busy, count.time),
                       one.overflowed + one.cut, one.queues.quantile(0.99), one.queues.most());
    }
    const QueueLengths queued = in_switches(routes, fabric);
    fmt::format_to(out, "queued in switches before a frame: at most {} bytes for 99 %, {} at most\n",
                   queued.quantile(0.99), queued.most());
    return text + verdict(network, count);
}

std::string verdict(const Network& network, const SwitchCount& count) {
    std::string text;
    const auto out = std::back_inserter(text);
    if (network.scale != 1)
        fmt::format_to(out, "{} at scale {:g}: every rate is {:g} times that of the network, {}\n",
                       network.name, network.scale, network.scale,
                       network.scaled_delays ? fmt::format("every delay {:g} times", 1 / network.scale)
                                             : std::string("the delays are its own"));
    const Lateness& late = count.lateness;
    if (late.late() == 0) {
        fmt::format_to(out, "the switch was never the bottleneck: {} frames, the latest by {}\n",
                       late.frames(), show_time(late.worst()));
    } else {
        fmt::format_to(out,
                       "the switch was the bottleneck at times: {} of {} frames were more than {} late (99 % "
                       "at most {}, worst {}); a smaller --scale gives it more time\n",
                       late.late(), late.frames(), show_time(Lateness::kBound),
                       show_time(late.quantile(0.99)), show_time(late.worst()));
    }
    return text;
}

} // namespace plexus::tools::lab
