// Creates, questions and deletes the pods that test a network for `multusctl test`.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aio/task.h"
#include "json/json.h"
#include "multusctl/cluster.h"
#include "multusctl/daemons.h"
#include "multusctl/hands/annotation_edit.h"
#include "multusctl/trial/reachability.h"

namespace mnet::multusctl {

struct NetworkTrialPlan {
  std::optional<NetworkChoice> network;  // none: the cluster network
  std::string ns, daemon_ns;             // of the pods, of the daemons
  std::string image;
  std::vector<std::string> nodes;
  std::chrono::seconds timeout{120};
};

class NetworkTrial {
 public:
  using Tell = std::function<void(std::string_view progress)>;
  // The cluster must outlive it and its tasks.
  NetworkTrial(Cluster& cluster, NetworkTrialPlan plan, Tell tell);

  // Deletes what an earlier run left, makes the pods and lets them try. What it made stays until
  // clean_up(), however this ends.
  aio::Task<Verdicts> run();
  // Deletes every pod of this test and of earlier ones in its namespace. May be repeated; an error
  // names the command that does the same.
  aio::Task<void> clean_up();

  // What run() makes, for people.
  static constexpr int kPodsOfNode = 2;

 private:
  aio::Task<void> make_pods();
  aio::Task<void> wait_running();
  aio::Task<bool> look_at(Station* station);
  aio::Task<std::map<std::string, std::string>> find_away(std::vector<std::string> nodes);
  aio::Task<void> explain_absent();
  std::string what_is_missing(const Station& station) const;
  aio::Task<json::Object> probe(Station station);
  json::Object pod_of(const Station& station) const;
  aio::Task<void> delete_pods();

  Cluster& cluster_;
  const NetworkTrialPlan plan_;
  const Tell tell_;
  std::vector<Station> stations_;
  // Of running pods without an address: what is wrong with the network in their status, by name.
  std::map<std::string, std::string> seen_;
};

}  // namespace mnet::multusctl
