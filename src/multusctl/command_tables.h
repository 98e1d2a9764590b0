// The table of commands in three parts (commands.h has the whole), and what rows have in common.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "multusctl/commands.h"

namespace mnet::multusctl {

std::span<const Command> seeing_commands();  // change nothing
std::span<const Command> hand_commands();    // repair and try things
std::span<const Command> own_commands();     // about this program

inline constexpr std::array<std::string_view, 3> kTableOutputs = {"wide", "json", "yaml"};
inline constexpr std::array<std::string_view, 2> kValueOutputs = {"json", "yaml"};
// Of commands that ask this node's daemon or those of a cluster.
inline constexpr std::array<std::string_view, 3> kDaemonFlags = {"namespace", "socket",
                                                                 "this-node"};
inline constexpr std::array kDaemonMeanings = {
    Flag{"namespace", 'n', "NAME", "the namespace of the daemons; default: kube-system"}};

template <std::size_t N, std::size_t M>
constexpr std::array<std::string_view, N + M> joined(
    const std::array<std::string_view, N>& first, const std::array<std::string_view, M>& second) {
  std::array<std::string_view, N + M> all;
  std::ranges::copy(second, std::ranges::copy(first, all.begin()).out);
  return all;
}

}  // namespace mnet::multusctl
