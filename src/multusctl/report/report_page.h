// The page of `multusctl report`: HTML that needs nothing else, with a picture of nodes, networks
// and pods. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lint/finding.h"
#include "multusctl/doctor.h"
#include "multusctl/node_status.h"
#include "multusctl/pod_networks.h"

namespace mnet::multusctl {

struct ReportInput {
  std::string when;  // RFC 3339
  std::string version;
  std::vector<Check> checks = {};
  std::vector<NodeStatus> nodes = {};
  std::vector<PodRows> pods = {};
  std::vector<lint::Finding> findings = {};
  std::vector<std::string> unread = {};  // what could not be read, and why
};

std::string report_page(const ReportInput& input);

// For HTML: what a browser would read as markup, and what a terminal or a reader's eye would be
// misled by, is escaped.
std::string html_text(std::string_view text);

// The picture alone: each network is a line through all nodes, each pod a mark on its networks.
std::string report_picture(const std::vector<NodeStatus>& nodes, const std::vector<PodRows>& pods);

}  // namespace mnet::multusctl
