// Compares what a pod asked for with what it got, from its object alone: the annotations with the
// network status. Pure.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "json/json.h"

namespace mnet::multusctl {

// One line: a network that the pod asked for, got, or both.
struct NetworkRow {
  std::string network;    // default/storage; of the first network what the status calls it
  std::string interface;  // that it has, or asked for
  std::vector<std::string> ips = {};
  std::string mac = {};
  std::string state = "ok";
  std::string why = {};  // of a state other than ok, what it means and what to do

  bool is_good() const { return why.empty(); }
};

// Those of a row, as people read them; of very many the first few.
std::string addresses_of(const NetworkRow& row);

struct PodRows {
  std::string ns, name, node;
  bool is_ended = false;
  std::vector<NetworkRow> networks;
};

// The names of all definitions, `namespace/name`.
using DefinitionNames = std::set<std::string, std::less<>>;

// In the order of the annotation, the first network first; then what it did not ask for.
PodRows rows_of(const json::Object& pod, const DefinitionNames& definitions);

}  // namespace mnet::multusctl
