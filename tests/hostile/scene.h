// SPDX-License-Identifier: BSD-3-Clause
// Three processes of one job: a victim, a member that does to it what a test says, and this process, which
// is an honest third. The victim is watched from outside: it must go on serving the third, end by itself
// with exit code 0 (under the sanitizers, too), and hold no more memory than its limits say.
#pragma once

#include "hostile/member.h"
#include "plexus/plexus.h"
#include "support/catch.h"
#include "support/log_guard.h"
#include "support/process.h"
#include "unit/context/contexts.h"
#include "unit/context/key_file.h"

#include <atomic>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace plexus::testing::hostile {

struct Door {
    std::atomic<std::uint64_t> notes{0};
    std::optional<GlobalPointer<Door>> other{};
};

/// A value that is as deep as its bytes are long.
struct Tree {
    std::unique_ptr<Tree> next;
};
PLEXUS_FIELDS(Tree, next)

inline constexpr Request<int(Door&, int)> echo{"hostile.echo"};
inline constexpr Request<int(Door&, int)> slow_echo{"hostile.slow_echo"}; ///< threaded
inline constexpr Request<std::uint64_t(Door&)> notes{"hostile.notes"};
inline constexpr Request<void(Door&)> note{"hostile.note"};
inline constexpr Request<std::vector<std::uint64_t>(Door&)> large{"hostile.large"}; ///< 4 KiB
inline constexpr Request<std::uint64_t(Door&, std::vector<std::string>)> texts{"hostile.texts"};
inline constexpr Request<std::uint64_t(Door&, Tree)> deep{"hostile.deep"};
inline constexpr Request<bool(Door&, GlobalPointer<Door>)> keep{"hostile.keep"};
/// The victim calls the object that it was told to keep, with a deadline in milliseconds (0: none).
inline constexpr Request<void(Door&, std::uint32_t)> call_other{"hostile.call_other"};
/// It sends there without an end, until nothing was taken for so many milliseconds; then it notes that.
inline constexpr Request<void(Door&, std::uint32_t)> flood_other{"hostile.flood_other"}; ///< threaded
/// How its calls have ended: a status each, in their order.
inline constexpr Request<std::vector<int>(Door&)> outcomes{"hostile.outcomes"};

/// Numbers that the member declares for them.
enum Number : std::uint16_t {
    kEcho = 1,
    kSlowEcho,
    kNotes,
    kNote,
    kLarge,
    kTexts,
    kDeep,
    kKeep,
    kCallOther,
    kFloodOther
};

inline constexpr std::size_t kMiB = 1024 * 1024;

/// The methods that a case runs over, one after the other.
inline std::string each_method() { return GENERATE(as<std::string>{}, "shm", "tcp"); }

class Scene {
  public:
    /// What the member does. It ends with 0, or with a number that the test's failure shows.
    using Deed = std::function<int(Member&)>;

    /// `more`: keys of the victim's configuration.
    Scene(const std::string& method, Deed deed, Values more = {});
    ~Scene();
    Scene(const Scene&) = delete;
    Scene& operator=(const Scene&) = delete;

    /// The third's own context, and its pointer to the victim's door.
    Context& here() noexcept { return *here_; }
    const GlobalPointer<Door>& door() const noexcept { return door_; }
    const std::string& key_file() const noexcept { return key_.path(); }

    /// Lets the member begin; the third calls the victim until the deed is done. False: a call was not
    /// answered, or the deed did not end. The member stays as it is until release().
    bool play();
    /// The same in two steps.
    void begin();
    bool serve_until_done();
    /// True when the deed is done, or its process has ended.
    bool poll_deed();
    /// Waits until that is true of what the victim answers to the third.
    template <class R, class Is>
    bool comes_to(const Request<R(Door&)>& question, Is&& is) {
        return eventually(std::chrono::seconds(30), [&] { return is(within(door_.call(question))); });
    }
    /// Some calls of the third are answered.
    bool serves(int calls = 20);
    /// Bytes of memory that the victim has more than before the deed.
    std::size_t growth() const;
    /// The member's process ends, as if it was killed.
    void kill_member();
    /// The victim is told to end: its exit code, or nothing if it does not.
    std::optional<int> end_victim();
    /// What the deed ended with.
    std::optional<int> deed_ended() const noexcept { return deed_code_; }
    /// Everything that every test asserts at its end.
    void check_end();

  private:
    std::size_t resident() const;

    KeyFile key_;
    std::unique_ptr<Process> victim_;
    std::unique_ptr<Process> member_;
    Address address_;
    ExpectWarning expected_{""}; // the third may hear of what the member does in its name
    std::unique_ptr<Context> here_;
    GlobalPointer<Door> door_;
    std::size_t before_ = 0;
    std::optional<int> deed_code_;
};

} // namespace plexus::testing::hostile
