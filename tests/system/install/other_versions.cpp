// SPDX-License-Identifier: BSD-3-Clause
// A program that has an Asio and a spdlog of versions of its own, which is what libraries of templates
// and inline functions come to in a program: functions with the names of those inside Plexus that
// do something else. Here they end the program. Then it uses Plexus in ways that need both, and
// takes across the library's edge what has to be one type on both sides.
#include <plexus/plexus.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {
[[noreturn]] void mixed_up(const char* name) {
    std::fprintf(stderr, "Plexus called the program's %s\n", name);
    std::_Exit(9);
}
} // namespace

namespace asio {
class execution_context {
  public:
    class service;
};
namespace detail {
class scheduler;
class epoll_reactor;
class service_registry {
  public:
    template <class Service, class Owner>
    static execution_context::service* create(void*);
};
template <>
[[gnu::used]] execution_context::service* service_registry::create<scheduler, execution_context>(void*) {
    mixed_up("asio::detail::service_registry");
}
template <>
[[gnu::used]] execution_context::service* service_registry::create<epoll_reactor, execution_context>(void*) {
    mixed_up("asio::detail::service_registry");
}
} // namespace detail
} // namespace asio

namespace spdlog {
namespace level {
enum level_enum : int { any };
}
class logger {
  public:
    void set_level(level::level_enum);
    void flush_on(level::level_enum);
};
[[gnu::used]] void logger::set_level(level::level_enum) { mixed_up("spdlog::logger"); }
[[gnu::used]] void logger::flush_on(level::level_enum) { mixed_up("spdlog::logger"); }
} // namespace spdlog

namespace {

struct Sum {
    double value = 0;
};
inline constexpr plexus::Request<double(Sum&, const std::string&)> add{"sum.add"};

bool check(bool holds, const char* what) {
    if (!holds) std::fprintf(stderr, "it does not hold that %s\n", what);
    return holds;
}

// An error made inside the library is caught by its type here, and by those it derives from.
bool errors_are_one_type() {
    try {
        plexus::Context nowhere{plexus::Options{.set = {{"methods", "pigeon"}}, .file = {}, .url = {}}};
    } catch (const std::runtime_error& error) {
        const auto* ours = dynamic_cast<const plexus::Error*>(&error);
        return check(ours != nullptr, "an error of the library is a plexus::Error in the program") &&
               check(ours->code().category() == plexus::error_category(), "its category is the library's") &&
               check(ours->code() == plexus::Status::bad_config, "its code is bad_config");
    }
    return check(false, "a method that nobody has is refused");
}

} // namespace

int main(int argc, char** argv) {
    if (!errors_are_one_type()) return 1;
    plexus::Context here{argc, argv};
    Sum sum;
    plexus::Bound<Sum> bound;
    double answer = 4;
    if (here.rank() == 0) {
        here.on(add, [](Sum& to, const std::string& text) { return to.value += std::stod(text); });
        bound = here.bind(sum);
        here.publish("sum", bound.pointer());
    } else {
        const auto far = here.lookup<Sum>("sum").get();
        answer = far.call(add, "1.5").get();
        answer += far.call(add, "1").get();
        std::printf("%.1f by %s\n", answer, far.method().c_str());
        try {
            far.call(add, "no number").get(); // the handler throws there, the future does here
            answer = 0;
        } catch (const plexus::Error&) {}
    }
    here.fence().get();
    return check(answer == 4, "1.5 and 2.5 are 4") ? 0 : 1;
}
