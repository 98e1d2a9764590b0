// The packets of `multusctl test`: one end answers, the other sends and measures. Blocking.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace mnet::multusctl {

inline constexpr std::uint16_t kEchoPort = 7391;

// Answers from the address that was asked, with as many bytes, under this name, until the process
// ends.
Result<void> answer_echoes(std::uint16_t port, const std::string& name);

struct EchoTarget {
  std::string address;    // numeric
  std::string interface;  // to send through; empty: as routes say
  std::uint16_t port = kEchoPort;
  std::chrono::milliseconds patience{1000};  // for each packet
};

struct Echo {
  enum class State : std::uint8_t { kOk, kNoRoute, kNoAnswer, kMtu };
  State state = State::kNoAnswer;
  std::string by = {};  // the name of the one that answered
  std::chrono::microseconds round_trip{0};
  int mtu = 0;           // of the interface, as far as packets of its size were tried
  int largest = 0;       // packet that was answered, headers included
  std::string why = {};  // for people
};
// Small packets, then the largest that the interface allows; if that one is not answered, the
// largest that is.
Echo send_echoes(const EchoTarget& target);

// One station of the interface's network that has one of our own addresses, too.
struct Duplicate {
  std::string address, mac;  // no MAC: the kernel's own detection for IPv6 found it
};
// Asks by ARP, and looks at what the kernel found for IPv6. An error where that is not allowed or
// the interface has no ARP.
Result<std::vector<Duplicate>> find_duplicates(const std::string& interface,
                                               std::chrono::milliseconds patience);

}  // namespace mnet::multusctl
