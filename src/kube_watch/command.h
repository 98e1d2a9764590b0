// What kube-watch is asked to do (04, 2.1).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "jsonpath/jsonpath.h"
#include "nodetools/health_server.h"

namespace mnet::kube_watch {

struct Command {
  enum class Action : std::uint8_t { kObject, kFile, kHealth, kVersion, kHelp };
  Action action = Action::kHelp;

  std::string type = {};               // of objects, as it was written
  std::optional<std::string> ns = {};  // none: the current one
  std::string name = {};               // empty: all of the type
  bool wants_all_namespaces = false;
  std::string label = {};
  std::string jsonpath = "{}";
  std::optional<jsonpath::JsonPath> path = {};  // the same, understood

  std::string file = {};

  std::string channel = "/var/run/kube-watch/channel";
  std::string handler = "/usr/share/kube-watch/handler";
  bool wants_empty = false;
  std::chrono::seconds handler_timeout{0};  // none
  std::string kubeconfig = {};
  std::optional<http::ListenAddress> listen = {};
  std::vector<std::string> warnings = {};
};

// kNotFound if the usage is to be shown; else the error's text. The exit code is 2 for both.
Result<Command> parse_command(const std::vector<std::string>& words);

std::string usage();

}  // namespace mnet::kube_watch
