// SPDX-License-Identifier: BSD-3-Clause
// A context: an address space that takes part. It has an identity, objects that others may
// name, handlers for their requests, and a scheduler that polls every method it has.
#pragma once

#include "plexus/bound.h"
#include "plexus/forward.h"
#include "plexus/handler.h"
#include "plexus/shown_group.h"
#include "plexus/span.h"

#include <chrono>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct plexus_passport; // plexus/module/abi.h

namespace plexus {

/// What a program says about its context.
struct Options {
    /// Configuration keys and values, as in a file: {{"methods", "shm, tcp"}}. They win over file,
    /// environment and command line: for what the program cannot do without.
    std::map<std::string, std::string> set;
    /// The configuration file to read instead of plexus.toml; it is read whoever may write to it.
    std::string file;
    /// Join the directory at this URL ("plexus://host:port") instead of the job's.
    std::string url;
    /// Keys and values as in `set` that the program suggests and whoever runs it may override: file,
    /// environment, command line and `set` win over them.
    std::map<std::string, std::string> defaults{};
};

/// What goes by one method. Counts are since the start. A message is a request, an answer, a piece of bulk
/// data, or what these refer to; what is sent again after a break counts again. Bytes are the messages',
/// without what the method adds. What moves one-sided, between memories, is not among them.
struct LaneTraffic {
    std::uint64_t links = 0; ///< open connections, now
    std::uint64_t shared_bytes = 0;
    std::uint64_t messages_sent = 0;
    std::uint64_t bytes_sent = 0;
    std::uint64_t messages_received = 0;
    std::uint64_t bytes_received = 0;
    std::uint64_t repairs = 0; ///< attempts to make a broken connection anew
    /// Times that it took over from another that was tried and failed, and requests marked unreliable that it
    /// carried all the same.
    std::uint64_t fallbacks = 0;
    /// Connections refused: over a boundary, or the peer broke a rule. Of a method that loses messages also
    /// what was forged, replayed, malformed, or of no connection that is open.
    std::uint64_t refusals = 0;
    /// Of requests marked unreliable: no room to send, out of date, or not known here yet. Of a method that
    /// loses messages also whatever found the socket full, of strangers too.
    std::uint64_t dropped = 0;
};

/// One way to reach others: its module, and how the scheduler treats it.
struct LaneReport {
    std::string method;
    std::string origin;          ///< "built in", or the module's file
    std::string help;            ///< one line
    bool automatic = false;      ///< skip_poll = auto
    std::uint32_t skip_poll = 1; ///< asked in every k-th turn; the present value where automatic
    bool blocking = false;       ///< a thread waits for it and raises a flag
    bool confined = false;       ///< polled under a Polling guard only
    double poll_cost_ns = 0;     ///< of a poll that found nothing
    std::uint64_t polls = 0;
    std::uint64_t hits = 0; ///< polls that found work
    LaneTraffic traffic;
    std::uint64_t max_message = 0; ///< bytes; 0: no limit of its own
    std::uint64_t inline_bytes = 0;
    std::uint64_t eager_bytes = 0;
};

/// Why a method that was asked for, or a module file that was found, is not in use.
struct RefusedModule {
    std::string what;
    std::string why;
};

/// A configuration key with its value and where that came from.
struct SettingReport {
    std::string key;
    std::string value;
    /// "default", "default of the program", "plexus.toml:7", "PLEXUS_METHODS", "--plexus-log", "program";
    /// "listen (plexus.toml:7)" for a value that another key asked for
    std::string origin;
    std::string help;
};

/// Who started this process, and how that was seen.
struct LauncherReport {
    std::string name; ///< "plexus run", "PMIx", "PMI-1" or "none"
    std::string why;  ///< "PMIX_RANK is set, by Open MPI's mpirun"
    std::string job;  ///< what the launcher calls the job; empty without one
};

/// Another context was lost, or can be reached again.
struct PeerEvent {
    ContextId context;
    std::string name;                  ///< its configuration key `name`, where it has said it
    Status status = Status::peer_lost; ///< or peer_back
    std::string why;
};

class PLEXUS_API Context {
  public:
    /// Starts a context: configuration, modules, job. Our options (--plexus-*) are taken from
    /// the arguments, which stay as they are; see arguments(). @error bad_config, bad_module,
    /// denied, busy … (thrown), with a sentence that says what to do
    Context(int argc, const char* const* argv, Options options = {});
    explicit Context(Options options = {});
    Context(Context&&) noexcept;
    Context& operator=(Context&&) = delete;
    /// Closes: what was accepted is sent, peers are told, handlers end. Takes progress.close_timeout and
    /// little more: waits in handlers that still run then end with `closed`, and a handler that does not
    /// return is left running on its thread; it must not use the context any more. Does nothing in a
    /// process that was forked from the one that started the context; all other calls fail with `closed`
    /// there.
    ~Context();

    /// A context that joins whoever serves at `url`: the job's key is needed there (job.key_file).
    static Context attach(std::string_view url, Options options = {});

    const ContextId& id() const noexcept;
    /// What the key `name` says; empty if nobody has set it.
    std::string name() const;
    /// Place in the job that `plexus run`, mpirun, srun or mpiexec started; 0 of 1 outside a job.
    std::uint32_t rank() const noexcept;
    std::uint32_t size() const noexcept;
    LauncherReport launcher() const;
    /// The program's arguments without ours, without argv[0].
    const std::vector<std::string>& arguments() const noexcept;
    /// Where others may attach; empty if this context serves no directory.
    std::string url() const;

    /// Runs `function(T&, …)` for each such request, inline: on the thread that polls, one at a
    /// time in this context. It must not block. The answer may come later: see plexus/reply.h. @error busy
    /// the name has a handler (thrown)
    template <class R, class T, class... P, class Function>
    void on(const Request<R(T&, P...)>& request, Function&& function) {
        install(request.info(), detail::make_handler(request, false, std::forward<Function>(function)));
    }
    /// The same on a pool thread (handlers.threads), several at a time.
    template <class R, class T, class... P, class Function>
    void on(const Request<R(T&, P...)>& request, Threaded, Function&& function) {
        install(request.info(), detail::make_handler(request, true, std::forward<Function>(function)));
    }

    /// Gives `object` a name that others can use. It must outlive the Bound. @thread any
    template <class T>
    Bound<T> bind(T& object) {
        return Bound<T>(detail::Binding(core_, &object, 0, detail::object_type<T>()));
    }
    /// Lets others get and put these elements.
    template <detail::Element T>
    BoundSpan<T> bind(std::span<T> memory) {
        return {detail::Binding(core_, memory.data(), memory.size_bytes(), detail::wire_type<T>()), memory};
    }

    /// The same for `count` new elements, all zero, in memory that peers reach best: the first method
    /// allocates it that moves memory by itself, where there is one (as MPI_Win_allocate does). They
    /// live until the BoundSpan's reset() or the end of this context: `local()`. Without such a method, or
    /// where it refuses, they come from the heap. @error too_large there is no memory for them (thrown)
    template <detail::Element T>
    BoundSpan<T> allocate(std::uint64_t count) {
        if (count > std::numeric_limits<std::size_t>::max() / sizeof(T))
            throw Error(Status::too_large, "so many elements fit into no memory");
        void* memory = nullptr;
        auto binding = detail::Binding::allocate(core_, count * sizeof(T), detail::wire_type<T>(), memory);
        return {std::move(binding), std::span(static_cast<T*>(memory), count)};
    }

    /// Makes a pointer findable by name in the job. @error busy somebody else has that name (thrown)
    template <class T>
    void publish(std::string_view name, const GlobalPointer<T>& pointer) {
        publish_bytes(name, pointer.save());
    }
    /// The pointer of that name, waiting until it is published: progress.lookup_timeout at most. It fails
    /// with deadline_exceeded if `deadline`, or else limits.call_deadline, is earlier. @thread any
    template <class T>
    Future<GlobalPointer<T>> lookup(std::string_view name, Deadline deadline = {}) {
        auto state = std::make_shared<detail::TypedCall<GlobalPointer<T>>>(core_);
        lookup_bytes(name, deadline, state);
        return Future<GlobalPointer<T>>(std::move(state));
    }
    /// Ready when every context of the job has called it as often as this one. Also says that
    /// whatever they published before can be found. Deadline as in lookup(). For the others a fence that was
    /// cancelled, or whose deadline has passed, has been called all the same. @thread any
    Future<void> fence(Deadline deadline = {});

    /// One turn of the scheduler; how many events it handled. Does not block. @thread any
    std::uint32_t progress();
    /// True on a thread that runs an inline handler, or what a future's then() had to do: it must
    /// not wait for anything that needs progress. @thread any
    bool inside_handler() const noexcept;
    /// What holds for calls that name no deadline: limits.call_deadline, or no_deadline. @thread any
    Deadline call_deadline() const;
    /// Makes progress until stop(), sleeping while there is nothing. @thread any
    void run();
    /// The same for at most this long; true if stop() ended it.
    bool run_for(std::chrono::nanoseconds time);
    /// Makes progress until `done()`, which is asked between turns.
    void run_until(const std::function<bool()>& done);
    void stop() noexcept;
    /// Runs `action` once when the context begins to close, before anything of it ends: for libraries that
    /// keep threads or unfinished work of their own beside a context. The newest action runs first. Not in a
    /// forked child. What it waits for here ends with `closed` after half of progress.close_timeout. What it
    /// throws is logged. @thread any; the action runs on the one that closes @error closed (thrown)
    void at_close(std::function<void()> action);
    /// From now on this context's counters include the groups that `groups` reports, beside those of earlier
    /// calls: for libraries that have groups of contexts. `groups` is called on the counters' thread for each
    /// read until the context has closed, which waits for it: it must not block. What it throws is logged,
    /// and groups of later calls are missing from that read. Without effect on a context that has closed.
    /// @thread any @error closed in a forked child (thrown)
    void show_groups(GroupSource groups);

    /// A descriptor for a foreign event loop, readable when progress() would find something
    /// in any method, or when a timer of a method has run out. Ask arm() before each sleep; false: do not
    /// sleep, call progress() and look again at what you wait for.
    int fd() const;
    bool arm();

    /// Errors that no caller waits for: one-way requests that could not be delivered or whose
    /// handler failed, exceptions of continuations; peers that were lost (peer_lost) or are back
    /// (peer_back), with their identity in the text. Default: a warning in the log, for peers a line at
    /// level info. What the handler throws is logged. @thread progress, or that of a continuation
    using ErrorHandler = std::function<void(const Error&)>;
    void on_error(ErrorHandler handler);
    /// Peers that are lost, or come back, as data; on_error() hears of them, too. @thread progress
    using PeerHandler = std::function<void(const PeerEvent&)>;
    void on_peer(PeerHandler handler);

    /// Every lane, in order of preference. @thread any
    std::vector<LaneReport> lanes() const;
    /// Changes skip_poll of a method now; nullopt: auto. @error bad_argument no such lane (thrown)
    void skip_poll(std::string_view method, std::optional<std::uint32_t> turns);
    /// Polls a method only while a Polling guard for it is alive (Nexus, Table 1: selective polling).
    void confine(std::string_view method, bool confined = true);

    /// From now on `policy` chooses the row for every pointer that names no methods and has no policy of its
    /// own, also where a way was chosen already; what was sent before arrives before. Empty: the first row
    /// that applies, again. Pointers with preferences of their own (a table, `fallback`) keep the way that
    /// they have until it breaks. A broken way is replaced by the next row that applies. @thread any
    void use(Policy policy);

    /// Opens one more method while the context runs: a module's file, or the passport of one in the program
    /// itself, which stays until the end of the process. Its rows go behind those of the own table; so
    /// pointers that are made or sent from now on carry them, and older ones work as they did. What file,
    /// environment, command line and Options say of a method of the default list holds before `parameters`. A
    /// method that is not open in this context may have been there before, by another file: this one takes
    /// its place. The module stays until the context ends; one that is refused is among refused(). May block
    /// as long as the module takes to open. @thread any, but not inside an inline handler
    /// @error bad_module not a module, of another ABI, or one that refuses to open here
    /// @error busy the method is open already, or another thread adds one just now
    /// @error bad_config `methods` excludes it, it has no such parameter, or its boundary can't be
    /// @error too_large the own table, or the list of methods, is full; would_deadlock, closed (thrown)
    void add_module(const std::filesystem::path& file, const Parameters& parameters = {});
    void add_module(const struct plexus_passport& passport, const Parameters& parameters = {});

    /// From now on relays between contexts that cannot reach each other; links that are relayed already go
    /// on. Contexts to be reached name this one's url() in their key method.forward.via. The keys forward.*
    /// say the same for the start. @thread any
    /// @error bad_config this context serves no directory (key `listen`), has no method "forward", or
    ///        `memory` is too little for `links` (thrown)
    /// @error busy another forwarder has this directory (thrown)
    void forward(ForwardRules rules);

    /// This context's own table: what travels in its pointers.
    DescriptorTable table() const;
    /// What selection finds for each row of a table, here and now, without any network traffic.
    Choice explain(const DescriptorTable& table) const;
    std::vector<RefusedModule> refused() const;
    std::vector<SettingReport> settings() const;

    const std::shared_ptr<detail::Core>& core() const noexcept { return core_; }

  private:
    void install(const detail::RequestInfo& request, std::unique_ptr<detail::Handler> handler);
    void publish_bytes(std::string_view name, const std::vector<std::byte>& bytes);
    void lookup_bytes(std::string_view name, Deadline deadline, std::shared_ptr<detail::CallState> state);

    std::shared_ptr<detail::Core> core_;
};

} // namespace plexus
