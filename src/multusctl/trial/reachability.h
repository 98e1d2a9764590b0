// Judges a network by the echoes between the pods of `multusctl test`. Pure.
#pragma once

#include <string>
#include <vector>

#include "json/json.h"
#include "multusctl/trial/echo.h"

namespace mnet::multusctl {

// A pod of the test.
struct Station {
  std::string pod, node;
  std::string interface = {};  // of the network
  std::vector<std::string> addresses = {};
  std::string why_not = {};  // it takes no part; empty: it does
};

// One direction between two pods, for one address.
struct Passage {
  std::string from, to;  // pods
  std::string from_node, to_node;
  std::string address;
  std::string state;  // ok, no-route, no-answer, mtu, duplicate-address, unknown
  std::string round_trip = {}, mtu = {};  // for people
  std::string why = {};
};

struct Verdicts {
  std::vector<Passage> passages;
  std::vector<std::string> problems;    // one line each, with what to do
  std::vector<std::string> notes = {};  // what could not be found out
};

// `answers`: what `multusctl probe` printed in each of the stations, in their order; empty if that
// failed.
Verdicts judge(const std::vector<Station>& stations, const std::vector<json::Object>& answers);

json::Object to_json(const std::string& address, const Echo& echo);
json::Object to_json(const Verdicts& verdicts);
bool is_good(const Verdicts& verdicts);

}  // namespace mnet::multusctl
