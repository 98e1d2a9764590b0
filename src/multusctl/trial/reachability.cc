#include "multusctl/trial/reachability.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "json/at.h"
#include "json/json.h"
#include "multusctl/trial/echo.h"

namespace mnet::multusctl {
namespace {

std::string_view name_of(Echo::State state) {
  switch (state) {
    case Echo::State::kOk:
      return "ok";
    case Echo::State::kNoRoute:
      return "no-route";
    case Echo::State::kNoAnswer:
      return "no-answer";
    case Echo::State::kMtu:
      return "mtu";
  }
  return "";
}

const json::Object* target_of(const json::Object& answer, const std::string& address) {
  for (const json::Object* one : json::objects_of(answer.find("targets"))) {
    if (json::text_at(*one, {"address"}) == address) return one;
  }
  return nullptr;
}

// What to do about each state, once.
std::string advice_of(const std::string& state) {
  if (state == "no-route") {
    return "no route: the interface has no route to the other addresses; look at the ranges of the "
           "definition's ipam, which should be of one subnet on all nodes, or at `routes` in it";
  }
  if (state == "no-answer") {
    return "no answer: the nodes do not reach each other through this network; look at the master "
           "interfaces, their VLANs and switch ports, and at firewalls on the nodes";
  }
  if (state == "mtu") {
    return "wrong MTU: set `mtu` of the plugin to what arrives, or raise the MTU of the masters "
           "and switches between";
  }
  return "duplicate address: two stations on the network use it; look at the ranges of "
         "definitions on the same network (`multusctl lint --cluster`), at static addresses, and "
         "for machines outside the cluster";
}

class Judgement {
 public:
  Judgement(const std::vector<Station>& stations, const std::vector<json::Object>& answers)
      : stations_(stations), answers_(answers) {}

  Verdicts run() {
    for (const Station& station : stations_) {
      if (!station.why_not.empty()) {
        out_.problems.push_back(cat("node ", station.node, ", pod ", station.pod,
                                    " did not take part: ", station.why_not));
      }
    }
    find_duplicates();
    for (std::size_t from = 0; from < stations_.size(); ++from) {
      for (std::size_t to = 0; to < stations_.size(); ++to) {
        if (from == to || !stations_[to].why_not.empty() || !stations_[from].why_not.empty()) {
          continue;
        }
        for (const std::string& address : stations_[to].addresses) add(from, to, address);
      }
    }
    for (const std::string& state : states_) out_.problems.push_back(advice_of(state));
    return std::move(out_);
  }

 private:
  // Given to two pods by the IPAM, or answered for by a station outside.
  void find_duplicates() {
    std::map<std::string, std::string> owners;
    for (const Station& station : stations_) {
      for (const std::string& address : station.addresses) {
        const auto [known, is_new] = owners.emplace(address, station.pod);
        if (is_new) continue;
        note_duplicate(address, cat("pods ", known->second, " and ", station.pod));
      }
    }
    std::string unasked;
    for (std::size_t i = 0; i < stations_.size(); ++i) {
      if (unasked.empty()) unasked = excerpt(json::text_at(answers_[i], {"unasked"}));
      for (const json::Object* one : json::objects_of(answers_[i].find("duplicates"))) {
        const std::string mac = excerpt(json::text_at(*one, {"mac"}));
        note_duplicate(excerpt(json::text_at(*one, {"address"})),
                       cat("pod ", stations_[i].pod, " and ",
                           mac.empty() ? "another station" : cat("the station ", mac)));
      }
    }
    if (unasked.empty()) return;
    out_.notes.push_back(
        cat("whether stations other than these pods use their addresses was not "
            "asked: the pods are not allowed to use ARP (",
            unasked, "); runtimes allow it with the capability NET_RAW"));
  }

  void note_duplicate(const std::string& address, const std::string& owners) {
    states_.insert("duplicate-address");
    duplicates_.insert(address);
    out_.problems.push_back(cat("address ", address, " is used twice: by ", owners));
  }

  void add(std::size_t from, std::size_t to, const std::string& address) {
    Passage passage{.from = stations_[from].pod,
                    .to = stations_[to].pod,
                    .from_node = stations_[from].node,
                    .to_node = stations_[to].node,
                    .address = address,
                    .state = "unknown"};
    if (const json::Object* echo = target_of(answers_[from], address)) {
      passage.state = excerpt(json::text_at(*echo, {"state"}));
      passage.why = excerpt(json::text_at(*echo, {"why"}), 300);
      if (const auto micros = json::number_at(*echo, {"roundTripMicros"}); micros > 0) {
        passage.round_trip = cat(micros / 1000, ".", micros % 1000 / 100, " ms");
      }
      if (const auto largest = json::number_at(*echo, {"largest"}); largest > 0) {
        passage.mtu = cat(largest, "/", json::number_at(*echo, {"mtu"}));
      }
      const std::string by = json::text_at(*echo, {"by"});
      if (!by.empty() && by != stations_[to].pod) {
        passage.why = cat("the address is also used by ", excerpt(by));
        passage.state = "duplicate-address";
      }
    }
    if (duplicates_.contains(address)) passage.state = "duplicate-address";
    if (passage.state != "ok" && passage.state != "unknown") states_.insert(passage.state);
    out_.passages.push_back(std::move(passage));
  }

  const std::vector<Station>& stations_;
  const std::vector<json::Object>& answers_;
  std::set<std::string> duplicates_, states_;
  Verdicts out_;
};

}  // namespace

Verdicts judge(const std::vector<Station>& stations, const std::vector<json::Object>& answers) {
  return Judgement(stations, answers).run();
}

json::Object to_json(const std::string& address, const Echo& echo) {
  return {{"address", address}, {"state", name_of(echo.state)},
          {"by", echo.by},      {"roundTripMicros", echo.round_trip.count()},
          {"mtu", echo.mtu},    {"largest", echo.largest},
          {"why", echo.why}};
}

json::Object to_json(const Verdicts& verdicts) {
  json::Array passages;
  for (const Passage& one : verdicts.passages) {
    passages.push_back(json::Object{{"from", one.from},
                                    {"fromNode", one.from_node},
                                    {"to", one.to},
                                    {"toNode", one.to_node},
                                    {"address", one.address},
                                    {"state", one.state},
                                    {"roundTrip", one.round_trip},
                                    {"mtu", one.mtu},
                                    {"explanation", one.why}});
  }
  return {{"version", 1},
          {"passages", std::move(passages)},
          {"problems", json::Value(verdicts.problems)},
          {"notes", json::Value(verdicts.notes)}};
}

bool is_good(const Verdicts& verdicts) {
  return verdicts.problems.empty() && !verdicts.passages.empty() &&
         std::ranges::all_of(verdicts.passages,
                             [](const Passage& one) { return one.state == "ok"; });
}

}  // namespace mnet::multusctl
