// SPDX-License-Identifier: BSD-3-Clause
// A switched network as directed links between named vertices, with terminals where messages enter and leave.
// A value. Pure functions. Any thread.
#pragma once

#include "plexus/export.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plexus::eco {

/// How many messages a terminal sends, and how many it accepts, in one round.
enum class Ports : std::uint8_t {
    one, ///< at most one each
    all, ///< as many as it has links
};

/// "one", "all". @thread any
PLEXUS_API std::string_view to_string(Ports ports) noexcept;

struct DirectedLink {
    std::uint32_t from; ///< a place in LinkGraph::vertices
    std::uint32_t to;
    auto operator<=>(const DirectedLink&) const = default;
};

/// A processor. Two vertices where its messages enter and leave the network at different places, as in a
/// unidirectional multistage network; one where they are the same.
struct Terminal {
    std::uint32_t in;  ///< the vertex where what it sends begins
    std::uint32_t out; ///< the vertex where what it accepts ends
    auto operator<=>(const Terminal&) const = default;
};

struct LinkGraph {
    std::string name; ///< as named_graph() takes it; empty: the graph has no name
    std::vector<std::string> vertices;
    std::vector<DirectedLink> links; ///< a link's number is its place here
    std::vector<Terminal> terminals;
    Ports ports = Ports::one;

    bool operator==(const LinkGraph&) const = default;
};

/// The most of each that a graph may have.
inline constexpr std::size_t kMostTerminals = 1024;
inline constexpr std::size_t kMostLinks = 65536;

/// The links of a way through the network, in order.
using LinkPath = std::vector<std::uint32_t>;

// clang-format off
/// The graph of a known network:
///   omega-N        N = 2^k >= 2: k stages of 2x2 switches, a perfect shuffle before each stage
///   butterfly-N    N = 2^k >= 2: stage s joins lines that differ in bit k - 1 - s (wiring of an FFT)
///   clos-n-m-r     r switches of n terminals, m in the middle; clos-12: 3-3-4, clos-16: 4-4-4
///   btree-N        N = 2^k >= 2: binary tree of switches, the terminals are its leaves
///   ftree-N        N = 2^k >= 2: 2-ary k-tree (fat tree: a butterfly folded), the terminals are its leaves
///   karytree-k-h   k-ary tree of switches of height h, the k^h terminals are its leaves
///   fbtree-N       N = 2^k - 1 >= 3: binary tree with a processor in every vertex, root first, level by level
///   star-N         N terminals at one switch
///   ring-N, mesh-RxC, torus-RxC, cube-d   a processor in every vertex
/// Those with a processor in every vertex are all-port, the others one-port.
/// @error bad_argument no such name, or a size that the kind does not have or that is too large (thrown)
PLEXUS_API LinkGraph named_graph(std::string_view name);
// clang-format on

/// The kinds of names, for help: "omega-N", "butterfly-N", …
PLEXUS_API const std::vector<std::string_view>& graph_kinds();

/// Returns if `graph` is one that schedules can be made for.
/// @error bad_argument why it is none: fewer than two terminals, too large, a link to itself or twice, a
/// vertex that two terminals begin at or end at, a terminal that another cannot reach (thrown)
PLEXUS_API void check(const LinkGraph& graph);

/// True if every link has its opposite and exactly one way without repetition joins each two vertices.
/// check() takes `graph`.
PLEXUS_API bool is_tree(const LinkGraph& graph);

/// At most `most` of the shortest ways from terminal `from` to terminal `to`, in the order of their links'
/// numbers; all of them if there are no more. Empty where from == to or there is none. check()
/// takes `graph`.
/// @error bad_argument there is no such terminal (thrown)
PLEXUS_API std::vector<LinkPath> shortest_paths(const LinkGraph& graph, std::uint32_t from, std::uint32_t to,
                                                std::size_t most);

} // namespace plexus::eco
