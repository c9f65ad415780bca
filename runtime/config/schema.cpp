// SPDX-License-Identifier: BSD-3-Clause
// Every key: the runtime's own, and those that modules declare.
#include "base/log.h"
#include "config/settings.h"

#include <algorithm>
#include <set>

namespace plexus::config {
namespace {

std::vector<Key> lane_keys(std::string_view method) {
    return {
        {fmt::format("method.{}.skip_poll", method), Type::skip_poll, "auto",
         "poll this method in every k-th turn: a number, or \"auto\" to follow its traffic"},
        {fmt::format("method.{}.blocking", method), Type::boolean, "false",
         "a thread of its own sleeps until this method has work, instead of polling it"},
        {fmt::format("method.{}.within", method), Type::list, "any",
         fmt::format(
             "how far this method may reach: any, site, subnet, host, or names of sites; beyond, another "
             "method is taken{}",
             method == "forward" ? "; not set: as far as methods that do not encrypt" : "")},
    };
}

std::optional<Type> type_named(std::string_view word) noexcept {
    if (word == "bool") return Type::boolean;
    if (word == "count") return Type::count;
    if (word == "size") return Type::size;
    if (word == "duration") return Type::duration;
    if (word == "text") return Type::text;
    if (word == "list") return Type::list;
    return {};
}

constexpr std::uint64_t kMaxInt32 = INT32_MAX;

} // namespace

Schema core_schema(const std::vector<std::string>& methods) {
    Schema schema{
        {"methods", Type::list, std::string(default_methods()),
         "methods to use, the preferred first: \"first, second?key=value\", or \"^name\" for all but one"},
        {"module_path", Type::list, "", "folders with more modules, searched before the installed ones"},
        {"fallback",
         Type::choice,
         "allow",
         "when the preferred method cannot be had: allow, warn about or forbid another",
         {"allow", "warn", "forbid"}},
        {"name", Type::text, "", "a name for this context in its log and in listings"},
        {"site", Type::text, "",
         "the name of the site where this context is: what `within` of the methods refers to"},
        {"listen", Type::text, "",
         "plexus://host:port where others join and look up names; methods then listen on that host too"},

        {"launcher",
         Type::choice,
         "auto",
         "who started this process and knows its job: auto (by the environment), plexus (plexus run), pmix, "
         "pmi "
         "(PMI-1) or none",
         {"auto", "plexus", "pmix", "pmi", "none"}},

        {"limits.max_message", Type::size, "1 GiB", "largest message that is sent or taken", {}, 1024},
        {"limits.handler_queue", Type::size, "64 MiB",
         "memory of what handlers have sent to a peer and has not left, of a peer's requests that wait for "
         "that, and of all requests that wait for a thread; above it they are refused"},
        {"limits.retain", Type::size, "4 MiB",
         "unconfirmed bytes kept for each peer, to be sent again by another way"},
        {"limits.reconnect", Type::duration, "10 s",
         "how long a peer that connected to this context, and can't be dialled from it, may take to come "
         "back"},
        {"limits.silence", Type::duration, "2 min",
         "a peer on another host from which nothing came for so long, although it was asked, is lost; 0: "
         "never"},
        {"limits.forget_peer", Type::duration, "1 min",
         "a peer without any connection is forgotten after so long, if nobody holds a pointer to it"},
        {"limits.calls",
         Type::count,
         "65536",
         "calls that may wait for their reply at once",
         {},
         1,
         kMaxInt32},

        {"limits.call_deadline", Type::duration, "0",
         "a call fails that has no answer after so long; 0: it waits until the peer is lost"},

        {"progress.thread", Type::boolean, "true", "a thread makes progress while the program makes none"},
        {"progress.spin", Type::duration, "50 us",
         "how long a waiting thread polls without giving its core away"},
        {"progress.yield", Type::duration, "200 us", "how long it then polls and yields, before it sleeps"},
        {"progress.handover", Type::duration, "1 ms",
         "how long the progress thread stays away after the program has polled"},
        {"progress.idle_permille",
         Type::count,
         "10",
         "share of the poll loop, in thousandths, for lanes that find nothing",
         {},
         0,
         1000},
        {"progress.lookup_timeout", Type::duration, "30 s",
         "how long a lookup or a fence waits for others before it is an error"},
        {"progress.close_timeout", Type::duration, "5 s",
         "how long closing waits for what is still under way"},

        {"eco.multicast",
         Type::choice,
         "off",
         "broadcasts of a group by IP multicast, not encrypted, where each member hears each other one: off, "
         "on "
         "(calls that ask for it), auto (also where it was measured to be faster when the group was made)",
         {"off", "on", "auto"}},
        {"eco.multicast_interface", Type::text, "",
         "IPv4 address of this host from which multicast goes out; empty: the first interface that can, or "
         "the "
         "loopback interface if all members are on one host"},
        {"eco.multicast_rate",
         Type::count,
         "0",
         "megabits a second that a member sends by multicast at most; 0: as fast as the slowest receiver",
         {},
         0,
         1'000'000},

        {"forward.allow", Type::list, "none",
         "names of contexts that this one relays to, for those who cannot reach them: a list, all or none"},
        {"forward.memory", Type::size, "64 MiB",
         "what all relayed links together may hold here, in equal shares"},
        {"forward.links", Type::count, "64", "links that may be relayed at once", {}, 1, 65536},

        {"handlers.threads", Type::count, "2", "threads that run threaded handlers", {}, 1, 4096},

        {"counters", Type::boolean, "true",
         "show counters to other processes of this user on this host: plexus top reads them"},
        {"job.key_file", Type::text, "",
         "file with the secret that all contexts of the job share, 32 random bytes or more; private to you"},
        {"log", Type::text, "warn",
         "what to log: trace, debug, info, warn, error or off; \"warn,transport=debug\" by subsystem"},
    };
    for (const std::string& method : methods)
        for (Key& key : lane_keys(method)) schema.push_back(std::move(key));
    return schema;
}

Result<Schema> module_keys(std::string_view method, std::span<const plexus_parameter> parameters) {
    std::set<std::string> taken;
    for (const Key& key : lane_keys(method)) taken.insert(key.name);
    Schema schema;
    for (const plexus_parameter& parameter : parameters) {
        std::string name = fmt::format("method.{}.{}", method, parameter.key);
        if (!taken.insert(name).second)
            return fail(Status::bad_module, "the module {} declares a parameter {} that is there already",
                        method, parameter.key);
        const auto type = type_named(parameter.type);
        if (!type)
            return fail(Status::bad_module,
                        "the module {} declares its parameter {} with the unknown type \"{}\"", method,
                        parameter.key, parameter.type);
        Key key{std::move(name), *type, parameter.preset, parameter.help};
        if (const auto checked = check_value(key, key.preset); !checked)
            return fail(Status::bad_module,
                        "the module {} gives its parameter {} a default that is not one: {}", method,
                        parameter.key, checked.failure().why);
        schema.push_back(std::move(key));
    }
    return schema;
}

} // namespace plexus::config
