// SPDX-License-Identifier: BSD-3-Clause
#include "ucx/library.h"

#include "base/lock.h"
#include "base/spelling.h"
#include "plexus/module/abi.h"
#include "ucx/trace.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>
#include <utility>

namespace plexus::ucx {
namespace {

// What is asked for where the configuration names nothing: devices that Plexus has no method
// of its own for.
constexpr const char* kFabrics = "ib,ugni";

struct FreeConfig {
    void operator()(ucp_config_t* config) const noexcept { ::ucp_config_release(config); }
};
using Config = std::unique_ptr<ucp_config_t, FreeConfig>;

std::string quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

std::string in_words(std::string text, const Trace& trace) {
    if (!trace.empty()) text += " (" + trace.text() + ")";
    return text;
}

std::vector<std::string> devices_of(const std::vector<Resource>& resources) {
    std::vector<std::string> out;
    for (const Resource& each : resources)
        if (std::find(out.begin(), out.end(), each.device) == out.end()) out.push_back(each.device);
    return out;
}

std::vector<Resource> resources_of(ucp_context_h context) {
    char* text = nullptr;
    std::size_t size = 0;
    std::FILE* stream = ::open_memstream(&text, &size);
    if (stream == nullptr) return {};
    ::ucp_context_print_info(context, stream);
    std::fclose(stream);
    auto out = parse_resources({text, size});
    std::free(text);
    return out;
}

// Empty: it went well.
std::string set(ucp_config_t* config, const std::string& name, const std::string& value) {
    const Trace trace;
    const ucs_status_t status = ::ucp_config_modify(config, name.c_str(), value.c_str());
    if (status == UCS_OK) return {};
    return in_words("UCX does not take " + name + " = " + quoted(value) + ": " + ::ucs_status_string(status),
                    trace);
}

// A variable of one of these transports is known without the transport's name up to UCX 1.16, later with it:
// it is set by both, and a name that means nothing is only remarked on.
constexpr std::string_view kTransports[] = {"TCP_", "CMA_"};

/// The variable's second name; empty: it has one.
std::string without_transport(const std::string& variable) {
    for (const std::string_view transport : kTransports)
        if (variable.starts_with(transport)) return variable.substr(transport.size());
    return {};
}

// tcp would carry the data: it is named, and no fabric is.
bool runs_over_tcp(const Options& options) {
    const auto is_tcp = [](const std::string& each) { return each == "tcp"; };
    return std::any_of(options.tls.begin(), options.tls.end(), is_tcp) &&
           std::all_of(options.tls.begin(), options.tls.end(),
                       [&](const std::string& each) { return is_tcp(each) || stays_on_host(each); });
}

// Where a peer goes while tcp sends to it in place, UCX completes that sending twice and gives up
// the process (runtime/notes/0006-libraries.md). Copied into segments as large as a
// connection likes them, messages are about as fast.
constexpr std::pair<const char*, const char*> kCopiesOverTcp[] = {{"ZCOPY_THRESH", "inf"},
                                                                  {"TCP_PUT_ENABLE", "n"},
                                                                  {"TCP_TX_SEG_SIZE", "512k"},
                                                                  {"TCP_RX_SEG_SIZE", "512k"}};

std::string set_everywhere(ucp_config_t* config, const std::string& name, const std::string& value) {
    const std::string error = set(config, name, value);
    const std::string second = without_transport(name);
    return error.empty() && !second.empty() ? set(config, second, value) : error;
}

std::string configure(ucp_config_t* config, const Options& options) {
    const std::string tls = options.tls.empty() ? kFabrics : joined(options.tls);
    std::string error = set(config, "TLS", tls);
    // Shared memory takes part where endpoints fail only if it is told to.
    if (error.empty()) error = set(config, "MM_ERROR_HANDLING", "y");
    // Endpoints that can be closed by force take cma for large messages only if it says that it revokes
    // memory. It does not, and nothing here relies on it (see ends_by_force()).
    if (error.empty()) error = set_everywhere(config, "CMA_MEMORY_INVALIDATE", "y");
    if (error.empty() && !options.net_devices.empty())
        error = set(config, "NET_DEVICES", joined(options.net_devices));
    if (error.empty() && options.on_host_only())
        error = set(config, "MM_FIFO_SIZE", std::to_string(kHostQueue));
    if (runs_over_tcp(options))
        for (const auto& [name, value] : kCopiesOverTcp)
            if (error.empty()) error = set_everywhere(config, name, value);
    for (const auto& [name, value] : options.env)
        if (error.empty()) error = set_everywhere(config, name, value);
    return error;
}

// UCX lists what no part of it took when its first worker stands.
std::string unknown_variable(const Options& options, const Trace& trace) {
    const auto remarked = [&](const std::string& name, const std::string& value) {
        const std::string pair = name + "=" + value + ",";
        for (const std::string& line : trace.lines()) {
            if (line.find("invalid configuration") == std::string::npos) continue;
            const std::string list = "," + line.substr(line.find(": ") + 2) + ",";
            if (list.find("," + pair) != std::string::npos) return true;
        }
        return false;
    };
    for (const auto& [name, value] : options.env)
        if (remarked(name, value) &&
            (without_transport(name).empty() || remarked(without_transport(name), value)))
            return name;
    return {};
}

bool copies_between_processes(const Resource& each) {
    return each.transport == "cma" || each.transport == "knem" || each.transport == "xpmem";
}

// UCX serves its connections from a thread of the whole process, which a child does not have,
// while it shares the descriptors that this thread waits for.
class Uses {
  public:
    bool begin() {
        const Lock hold(mutex_);
        if (count_ > 0 && process_ != ::getpid()) return false;
        process_ = ::getpid();
        ++count_;
        return true;
    }
    void end() {
        const Lock hold(mutex_);
        if (process_ == ::getpid()) --count_;
    }

  private:
    Mutex mutex_;
    int count_ PLEXUS_GUARDED_BY(mutex_) = 0;
    pid_t process_ PLEXUS_GUARDED_BY(mutex_) = 0;
};
constinit Uses uses;

} // namespace

Library::~Library() { close(); }

void Library::close() noexcept {
    worker_.reset();
    context_.reset();
    if (std::exchange(open_, false)) uses.end();
}

Version Library::version() noexcept {
    unsigned major = 0;
    unsigned minor = 0;
    unsigned release = 0;
    ::ucp_get_version(&major, &minor, &release);
    return {static_cast<std::uint8_t>(major), static_cast<std::uint8_t>(minor)};
}

std::int32_t Library::open(const Options& options, std::string& why) {
    if (!uses.begin()) {
        why = "this process was forked from one that had UCX open, and UCX's thread stayed there: start the "
              "program anew (exec), or open the ucx method in one of them only";
        return PLEXUS_UNSUPPORTED;
    }
    open_ = true;
    if (const std::string word = unknown_transport(options.tls); !word.empty()) {
        why = "tls names " + quoted(word) + ", which is no transport of UCX" +
              did_you_mean(word, all_transports());
        return PLEXUS_BAD_CONFIG;
    }
    const std::int32_t status = make_context(options, why);
    return status == PLEXUS_OK ? make_worker(options, why) : status;
}

std::int32_t Library::make_context(const Options& options, std::string& why) {
    ucp_config_t* read = nullptr;
    if (::ucp_config_read(nullptr, nullptr, &read) != UCS_OK) {
        why = "UCX can't read its configuration; see the variables UCX_* of the environment";
        return PLEXUS_BAD_CONFIG;
    }
    const Config config(read);
    why = configure(config.get(), options);
    if (!why.empty()) return PLEXUS_BAD_CONFIG;

    ucp_params_t wanted{};
    wanted.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED | UCP_PARAM_FIELD_NAME;
    wanted.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
    moves_memory_ = options.remote > 0 && !runs_over_tcp(options);
    if (moves_memory_) wanted.features |= UCP_FEATURE_RMA;
    wanted.mt_workers_shared = 0;
    wanted.name = "plexus";
    const Trace trace;
    ucp_context_h made = nullptr;
    const ucs_status_t status = ::ucp_init(&wanted, config.get(), &made);
    context_.reset(status == UCS_OK ? made : nullptr);
    if (status == UCS_OK) {
        resources_ = resources_of(made);
        const auto known = devices_of(resources_);
        for (const std::string& device : options.net_devices) {
            const std::string name = device.substr(0, device.rfind('~'));
            if (name == "all" || name.front() == '^' ||
                std::find(known.begin(), known.end(), name) != known.end())
                continue;
            why = "net_devices names " + quoted(name) + ", and UCX has no such device for these transports" +
                  did_you_mean(name, known);
            return PLEXUS_BAD_CONFIG;
        }
        on_host_ = std::all_of(resources_.begin(), resources_.end(),
                               [](const Resource& each) { return stays_on_host(each.transport); });
        endpoints_fail_ =
            !on_host_ || std::none_of(resources_.begin(), resources_.end(), copies_between_processes);
        ends_by_force_ =
            endpoints_fail_ || std::none_of(resources_.begin(), resources_.end(), [](const Resource& each) {
                return copies_between_processes(each) && each.transport != "cma";
            });
        return PLEXUS_OK;
    }
    if (status == UCS_ERR_NO_DEVICE && options.tls.empty()) {
        why = "this machine has no fabric that UCX reaches; tls = \"tcp\" or \"shm\" would use it without";
        return PLEXUS_UNSUPPORTED;
    }
    why = in_words("UCX can't be opened: " + std::string(::ucs_status_string(status)), trace);
    return PLEXUS_UNSUPPORTED;
}

std::int32_t Library::make_worker(const Options& options, std::string& why) {
    ucp_worker_params_t wanted{};
    wanted.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE | UCP_WORKER_PARAM_FIELD_FLAGS |
                        UCP_WORKER_PARAM_FIELD_AM_ALIGNMENT;
    wanted.thread_mode = UCS_THREAD_MODE_SERIALIZED; // our lock does it
    wanted.flags = UCP_WORKER_FLAG_IGNORE_REQUEST_LEAK;
    wanted.am_alignment = 8;
    // Shared memory would not let a thread sleep that has something to send, and never tells
    // when there is room: such a thread sleeps for a short time, but must wake for messages.
    if (on_host_) {
        wanted.field_mask |= UCP_WORKER_PARAM_FIELD_EVENTS;
        wanted.events = UCP_WAKEUP_RX;
    }
    const Trace trace;
    ucp_worker_h made = nullptr;
    ucs_status_t status = ::ucp_worker_create(context_.get(), &wanted, &made);
    if (status == UCS_OK) {
        worker_.reset(made);
        status = ::ucp_worker_get_efd(made, &event_fd_);
    }
    ucp_worker_attr_t known{};
    known.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS;
    if (status == UCS_OK) status = ::ucp_worker_query(made, &known);
    if (status != UCS_OK) {
        why = in_words("UCX can't make a worker: " + std::string(::ucs_status_string(status)), trace);
        return PLEXUS_UNSUPPORTED;
    }
    if (const std::string name = unknown_variable(options, trace); !name.empty()) {
        ::ucp_worker_release_address(made, known.address);
        why = "env names UCX_" + name + ", which is no variable of UCX for these transports";
        return PLEXUS_BAD_CONFIG;
    }
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(known.address);
    address_.assign(bytes, bytes + known.address_length);
    ::ucp_worker_release_address(made, known.address);
    return PLEXUS_OK;
}

} // namespace plexus::ucx
