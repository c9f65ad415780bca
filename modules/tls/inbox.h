// SPDX-License-Identifier: BSD-3-Clause
// What arrives at a link: blocks, in the order in which the inner link began them, opened into messages.
// All of it is for the progress thread.
#pragma once

#include "plexus/module/module.h"
#include "tls/engine.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>

namespace plexus::tls {

class Link;
class Module;

class Inbox {
  public:
    Inbox(Module& module, Link& link, Engine& engine);

    // As the functions of these names in abi.h, for blocks.
    void deliver(plexus_view block);
    std::int32_t place(plexus_view head, std::size_t rest, void** where, void** token);
    void placed(void* token, std::int32_t status);

    /// Hands the host the messages in a block.
    void open(std::span<const std::byte> block);
    /// Reads one small message that is no frame: the handshake's. False: the block does not hold just that.
    bool open_whole(std::span<const std::byte> block, std::span<std::byte> message);
    /// Nothing arrives any more: ends what the host has given a place for.
    void end();

    /// Largest block that is received at all.
    static constexpr std::size_t kMostBlock = 256 * 1024;

  private:
    /// A block that is under way, or waits for those before it.
    struct Coming {
        Block block;
        bool is_there = false;
    };
    /// A large message, and how far it has come.
    struct Landing {
        std::byte* where = nullptr; // null: the host did not want it
        std::uint64_t left = 0;
        void* token = nullptr;
    };

    void take(std::span<const std::byte> block);
    bool begin(std::span<const std::byte> record);
    bool go_on(bool& is_empty);
    void finish_landing();

    Module& module_;
    Link& link_;
    Engine& engine_;
    std::deque<std::unique_ptr<Coming>> comings_;
    Landing landing_;
};

} // namespace plexus::tls
