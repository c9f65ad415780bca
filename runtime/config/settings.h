// SPDX-License-Identifier: BSD-3-Clause
// Configuration: defaults < the program's suggestions < file < environment < command line < program.
// Every key has a type, a unit, a help line and, once set, an origin. An unknown key or a bad value is an
// error that names file and line, the nearest known key, and what would be accepted.
// Knows no module: what modules take is handed in as a schema. Plain values, no threads;
// Settings may be read from any.
#pragma once

#include "base/quantity.h"
#include "base/result.h"
#include "plexus/module/abi.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plexus::config {

enum class Type : std::uint8_t {
    boolean,   ///< true, false
    count,     ///< a whole number
    size,      ///< bytes: "4 MiB", "64 KiB", "512"
    duration,  ///< "50 us", "5 s", "3 ms"
    text,      ///< anything
    list,      ///< of text: a TOML array, or commas between
    choice,    ///< one of the words in Key::accepts
    skip_poll, ///< a whole number, or "auto"
};

struct Key {
    std::string name; ///< "progress.spin"; a method's: "method.tcp.sndbuf"
    Type type;
    std::string preset;                 ///< as it would be written in a file
    std::string help;                   ///< one line
    std::vector<std::string> accepts{}; ///< Type::choice only
    std::uint64_t least = 0;            ///< smallest number, in bytes or nanoseconds where it has a unit
    std::uint64_t most = UINT64_MAX;
};

/// Every key that may be set. Module parameters are added when the modules are known.
using Schema = std::vector<Key>;

/// The runtime's own keys (methods, module_path, fallback, limits.*, progress.*, job.*,
/// log, …) and, for each of `methods`, the lane keys method.<m>.skip_poll and .blocking.
Schema core_schema(const std::vector<std::string>& methods);

/// The keys method.<method>.* that a module declares in its passport.
/// @error bad_module a type that is not one, a default that is not of its type, or the name
///        of a lane key
Result<Schema> module_keys(std::string_view method, std::span<const plexus_parameter> parameters);

/// The order of methods where nobody sets one, in the grammar of method lists. Data: not all
/// of them need exist.
std::string_view default_methods() noexcept;

/// Whether the methods that a user wrote exist. An excluded one ("^ucx") may also be of the
/// default order. `searched` are the folders that modules were looked for in.
/// @error bad_config names the method, the nearest, those there are, and the folders
Result<void> check_methods(const std::vector<std::string>& written, const std::vector<std::string>& present,
                           const std::vector<std::string>& searched, std::string_view origin);

/// Where values come from. Each is optional.
struct Sources {
    std::vector<std::string> arguments; ///< program arguments without argv[0]
    std::map<std::string, std::string>
        environment;                            ///< PLEXUS_* only, with the prefix; empty ones count as unset
    std::map<std::string, std::string> program; ///< key -> value, set by the program itself
    std::optional<std::string> file;            ///< instead of searching for plexus.toml; "": no file at all
    /// Key -> value, suggested by the program: they hold where no other source says anything.
    std::map<std::string, std::string> defaults{};
    /// The caller has fewer rights than the process: neither environment, nor our options (denied),
    /// nor files that the caller chooses have a say.
    bool privileged = false;
};
/// The PLEXUS_ variables of this process; none where its caller has fewer rights (see Sources).
/// @thread any, while none changes the environment
std::map<std::string, std::string> plexus_environment();
/// True if this process has rights that its caller lacks: setuid, setgid or file capabilities.
bool has_more_rights_than_caller() noexcept;

/// The origin of what nobody has set, and of what only the program has suggested.
inline constexpr std::string_view kDefaultOrigin = "default";
inline constexpr std::string_view kSuggestedOrigin = "default of the program";

/// Who says a value; a later one wins.
enum class Layer : std::uint8_t { suggested, file, environment, arguments, program };

/// What was written, where, not yet checked against a schema: modules must be found before
/// their keys are known.
class Raw {
  public:
    struct Entry {
        std::string value;  ///< a list is in text form, commas between
        std::string origin; ///< "plexus.toml:7", "PLEXUS_METHODS", "--plexus-log", "program"
        Layer layer = Layer::file;
        bool restricted = false; ///< of a file that was only found in the working folder
    };
    /// Where nobody names a file, plexus.toml of the working folder, of the user and of the system are
    /// tried in this order. One counts only if file and folder belong to this user or root and nobody
    /// else can write there. That of the working folder has no say on module_path, job.key_file, listen
    /// and method.*.listen. What is passed over is a warning.
    /// @error bad_config a file that can't be read or parsed (with line), a malformed option
    /// @error not_found  the file that was asked for is not there
    /// @error denied     our options come from a caller who has fewer rights than the process
    static Result<Raw> gather(const Sources& sources);

    /// What wins for `key`, from whichever source. Valid until the next imply().
    const Entry* find(std::string_view key) const noexcept;
    /// Counts as if `key` had been set where `from` was: for parameters inside a method list
    /// (`tcp?sndbuf=4MiB`). Wins over what the same layer says of `key`. Nothing happens
    /// where nobody set `from`.
    void imply(std::string_view from, std::string key, std::string value);
    /// Sets `key` where nobody has set it but somebody has set `from`, which needs it: as if the same
    /// source had said both. Its origin names `from`.
    void complete(std::string_view from, std::string key, std::string value);
    /// Sets `key` where nobody has set it, for the reason that `origin` gives.
    void presume(std::string origin, std::string key, std::string value);
    /// Forgets what was set in a section that nothing here reads, like "method.ucx".
    void leave_out(std::string_view section);
    /// The arguments that are not ours: without --plexus-* ones, in order. `--` and what
    /// follows it are never ours.
    const std::vector<std::string>& remaining_arguments() const noexcept { return remaining_; }
    /// The file that was read; empty if there was none.
    const std::string& file() const noexcept { return file_; }
    /// What was passed over, and why: sentences for the log.
    const std::vector<std::string>& warnings() const noexcept { return warnings_; }

  private:
    friend class Settings;
    using Entries = std::map<std::string, Entry, std::less<>>;

    Result<void> find_file(bool privileged);
    Result<void> read_named(const std::string& place, std::string_view by);
    Result<void> take_text(const std::string& text, const std::string& file, bool named);
    Result<std::string> take_arguments(const std::vector<std::string>& arguments, bool privileged);
    bool is_withheld(std::string_view key, const Entry& entry);

    Entries entries_; ///< by key, the highest layer's
    // By variable: `_` stands for dots as well as for itself, only a schema can tell.
    Entries variables_;
    std::vector<Entry> sections_; ///< tables of the file; value: name with a dot behind
    std::vector<std::string> remaining_;
    std::vector<std::string> warnings_;
    std::string file_;
};

/// Checked values. Immutable, cheap to copy.
class Settings {
  public:
    /// An unknown variable of the environment that resembles no key may belong to another program:
    /// it is a warning. @error bad_config unknown key (nearest known one named) or bad value (what
    /// would be accepted), with the origin
    static Result<Settings> check(const Raw& raw, Schema schema);

    // Each throws std::out_of_range for a key that is not in the schema: a bug of ours.
    bool boolean(std::string_view key) const;
    std::uint64_t count(std::string_view key) const;
    std::uint64_t bytes(std::string_view key) const;
    std::chrono::nanoseconds duration(std::string_view key) const;
    std::string text(std::string_view key) const; ///< any type, as it was written
    /// Any type, as simple as its grammar permits: sizes as a bare number of bytes ("4194304"),
    /// durations in whole nanoseconds ("50000 ns"). What modules are told.
    std::string plain(std::string_view key) const;
    /// Who set it; "default" where nobody did.
    std::string origin(std::string_view key) const;
    std::vector<std::string> list(std::string_view key) const;
    /// nullopt: "auto".
    std::optional<std::uint32_t> skip_poll(std::string_view key) const;
    bool has(std::string_view key) const noexcept;

    struct Line {
        Key key;
        std::string value;
        std::string origin; ///< "default" where nobody set it
    };
    /// Every key with its value and origin, by name: what `plexus info --config` prints.
    std::vector<Line> lines() const;
    /// What was passed over, and why: sentences for the log.
    const std::vector<std::string>& warnings() const noexcept { return warnings_; }

  private:
    struct Value;
    using Values = std::map<std::string, Value, std::less<>>;
    const Value& at(std::string_view key) const;
    const Value& at(std::string_view key, Type type) const;

    std::shared_ptr<const Values> values_;
    std::vector<std::string> warnings_;
};

// Parsers of single values, for parameters on pointers and in tools.
Result<std::uint64_t> parse_size(std::string_view text);
Result<std::chrono::nanoseconds> parse_duration(std::string_view text);
Result<bool> parse_boolean(std::string_view text);
Result<std::uint64_t> parse_count(std::string_view text);
/// Commas between, spaces around each piece and empty pieces dropped.
std::vector<std::string> split_list(std::string_view text);
/// True if `value` is of `type`; else what would be accepted.
Result<void> check_value(const Key& key, std::string_view value);
/// The known word nearest to `word` by edit distance, if near enough to be a slip.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known);

} // namespace plexus::config
