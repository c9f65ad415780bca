// SPDX-License-Identifier: BSD-3-Clause
// How a message of at least 4 KiB is copied: which strategy is the fastest for its size class on this link.
// Pure arithmetic over measured costs: no clock, no memory of the link's. @thread one
//
// A trial measures the strategies in turn, message by message, so that all of them meet the same load.
// Between two trials the best one is used and nothing is measured. The pause between trials doubles up
// to kLongestPause messages: the other strategies get less than 2 % of the messages then, and a
// change of costs is noticed within two pauses. A strategy that lost clearly gets one or two messages of a
// trial only; if these say that it may be the best, a full trial follows. A new best has to win two full
// trials in turn.
//
// What was copied past the caches lies in memory: a copy through the caches to the same place is slow then,
// and fast once all of the shared area was written through the caches. So while copies past the caches are
// the best, a trial of the others begins with that many bytes that are not measured, and the pauses are
// longer. The other way round a single message shows what it costs.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace plexus::shm {

enum class Copy : std::uint8_t {
    cached,      ///< through the caches
    nontemporal, ///< past them
    fetch,       ///< by the receiver, from the sender's memory
};
inline constexpr std::array kAllCopies{Copy::cached, Copy::nontemporal, Copy::fetch};
inline constexpr std::size_t kCopies = kAllCopies.size();

class CopySet {
  public:
    constexpr CopySet& add(Copy copy) noexcept {
        bits_ |= 1u << static_cast<unsigned>(copy);
        return *this;
    }
    constexpr bool has(Copy copy) const noexcept { return (bits_ >> static_cast<unsigned>(copy) & 1) != 0; }
    /// The first that was added by the order of the enumeration; the set is not empty.
    constexpr Copy first() const noexcept { return static_cast<Copy>(std::countr_zero(bits_)); }
    constexpr bool several() const noexcept { return (bits_ & (bits_ - 1)) != 0; }

  private:
    std::uint32_t bits_ = 0;
};

class CopyChoice {
  public:
    static constexpr std::uint64_t kLeast = 4096; ///< bytes; smaller messages have no class
    static constexpr std::size_t kClasses = 13;   ///< from 4 KiB on, each twice the last; all from 16 MiB on
    static constexpr std::uint32_t kFirstPause = 16;
    static constexpr std::uint32_t kLongestPause = 480;

    struct Pick {
        Copy copy = Copy::cached;
        bool measure = false;    ///< the choice waits for note()
        std::uint32_t trial = 0; ///< of the class, from 1 on
    };

    /// `area_bytes`: of the shared memory through which messages are copied.
    explicit CopyChoice(std::uint64_t area_bytes) noexcept
      : area_bytes_(area_bytes) {}

    /// The strategy for the next message, one of `allowed`, which is not empty. The same again until sent().
    /// `bytes`: at least kLeast. `may_measure`: note() can follow.
    Pick next(std::uint64_t bytes, CopySet allowed, bool may_measure) noexcept;
    /// That message is on its way.
    void sent(std::uint64_t bytes, const Pick& pick) noexcept;
    /// A message that was to be measured is over. `ns`: its cost; 0: unknown.
    void note(std::uint64_t bytes, const Pick& pick, std::uint64_t ns) noexcept;

    struct Learned {
        Copy copy = Copy::cached;                 ///< the choice
        std::array<float, kCopies> ns_per_byte{}; ///< by Copy, in the last trial of each; 0: there was none
        constexpr float cost(Copy of) const noexcept { return ns_per_byte[static_cast<std::size_t>(of)]; }
    };
    using AllLearned = std::array<Learned, kClasses>;
    /// What is known of each class.
    AllLearned learned() const noexcept;
    static std::size_t class_of(std::uint64_t bytes) noexcept;
    /// Bytes of the smallest message of a class.
    static constexpr std::uint64_t least_of(std::size_t index) noexcept { return kLeast << index; }

  private:
    static constexpr std::uint32_t kRounds = 4;
    static constexpr std::size_t kLongestTrial = kRounds * kCopies;

    struct Trial {
        bool runs = false;
        std::uint32_t number = 0;
        std::uint8_t planned = 0;  // measured messages
        std::uint8_t asked = 0;    // of those, on their way
        std::uint8_t answered = 0; // of those, over
        std::uint32_t warm_up = 0; // messages through the caches before the measured ones
        std::array<Copy, kLongestTrial> plan{};
        std::array<std::uint8_t, kCopies> seen{}; // known costs
        std::array<std::array<float, kRounds>, kCopies> costs{};
    };
    struct Class {
        Copy best = Copy::cached;
        bool in_full = true;               // the next trial is a full one
        bool confirming = false;           // another strategy won the last trial
        std::uint32_t pause = 0;           // messages until the next
        std::uint32_t pause_length = 0;    // of the present pause
        std::uint32_t longest_pause = 0;   // that a trial like the last one asks for
        std::array<float, kCopies> cost{}; // ns for a byte in the last trial; 0: unknown
        Trial trial;
    };

    static Copy best_of(const Class& of, CopySet allowed) noexcept;
    static std::uint32_t rounds_for(const Class& of, Copy copy) noexcept;
    static bool in_block(const Class& of) noexcept;
    void begin_trial(Class& of, std::uint64_t bytes, CopySet allowed) const noexcept;
    static void judge(Class& of) noexcept;

    const std::uint64_t area_bytes_;
    std::array<Class, kClasses> classes_{};
};

} // namespace plexus::shm
