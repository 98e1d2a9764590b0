#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "multusctl/node_status.h"
#include "multusctl/pod_networks.h"
#include "multusctl/report/report_page.h"

namespace mnet::multusctl {
namespace {

constexpr std::size_t kMostNodes = 40, kMostNetworks = 40, kMostMarks = 24;
constexpr int kLabels = 190, kNode = 240, kGap = 18, kTop = 56, kLane = 46;
// Colours of lanes. They repeat: the label tells a lane apart, too.
constexpr std::array<std::string_view, 6> kColours = {"#2f7ed8", "#8a5cd1", "#1f9e89",
                                                      "#c77d11", "#c2478f", "#5b7083"};

struct Mark {
  std::string title;
  bool is_good = true;
};
using Lane = std::map<std::string, std::vector<Mark>>;  // by node

class Picture {
 public:
  Picture(const std::vector<NodeStatus>& nodes, const std::vector<PodRows>& pods) {
    for (const NodeStatus& node : nodes) add_node(node.node, troubles_of(node).empty());
    for (const PodRows& pod : pods) add_pod(pod);
    cut_ = order_.size() > kMostNodes ? order_.size() - kMostNodes : 0;
    order_.resize(std::min(order_.size(), kMostNodes));
  }

  std::string draw() const {
    if (order_.empty() || lanes_.empty()) return "<p>There is nothing to draw.</p>\n";
    const std::size_t rows = std::min(lanes_.size(), kMostNetworks);
    const int width = kLabels + static_cast<int>(order_.size()) * (kNode + kGap);
    const int height = kTop + static_cast<int>(rows) * kLane + 20;
    std::string out =
        cat("<svg role=\"img\" aria-label=\"nodes, networks and pods\" viewBox=\"0 0 ", width, " ",
            height, "\" width=\"", width, "\" height=\"", height, "\">\n");
    for (std::size_t i = 0; i < order_.size(); ++i) out += node_box(i, height);
    std::size_t row = 0;
    for (const auto& [network, lane] : lanes_) {
      if (row == rows) break;
      out += draw_lane(network, lane, row++, width);
    }
    out += "</svg>\n";
    if (cut_ > 0) out += cat("<p>", cut_, " more nodes are not drawn.</p>\n");
    if (lanes_.size() > rows) {
      out += cat("<p>", lanes_.size() - rows, " more networks are not drawn.</p>\n");
    }
    return out;
  }

 private:
  void add_node(const std::string& name, bool is_good) {
    if (!is_good_.emplace(name, is_good).second) return;
    order_.push_back(name);
  }

  void add_pod(const PodRows& pod) {
    if (pod.node.empty()) return;
    add_node(pod.node, true);
    for (const NetworkRow& row : pod.networks) {
      const std::string network = row.network.empty() ? "(unreadable)" : row.network;
      lanes_[network][pod.node].push_back(
          {.title = cat(pod.ns, "/", pod.name, " ", row.interface, " ", addresses_of(row), " ",
                        row.is_good() ? "" : cat(row.state, ": ", row.why)),
           .is_good = row.is_good()});
    }
  }

  static int x_of(std::size_t node) { return kLabels + static_cast<int>(node) * (kNode + kGap); }

  std::string node_box(std::size_t index, int height) const {
    const std::string& name = order_[index];
    const bool is_good = is_good_.at(name);
    return cat("<rect class=\"", is_good ? "node" : "node bad", "\" x=\"", x_of(index),
               "\" y=\"6\" width=\"", kNode, "\" height=\"", height - 12,
               "\" rx=\"8\"/>\n<text class=\"", is_good ? "name" : "name bad", "\" x=\"",
               x_of(index) + 12, "\" y=\"30\">", is_good ? "" : "✗ ",
               html_text(shortened(name, 26)), "<title>", html_text(name), "</title></text>\n");
  }

  static std::string shortened(const std::string& text, std::size_t most) {
    return text.size() <= most ? text : cat(text.substr(0, most - 1), "…");
  }

  std::string draw_lane(const std::string& network, const Lane& lane, std::size_t row,
                        int width) const {
    const int y = kTop + static_cast<int>(row) * kLane + kLane / 2;
    const std::string_view colour = kColours[row % kColours.size()];
    std::string out =
        cat("<text class=\"net\" x=\"4\" y=\"", y - 6, "\">", html_text(shortened(network, 26)),
            "<title>", html_text(network), "</title></text>\n<line x1=\"4\" y1=\"", y, "\" x2=\"",
            width - kGap, "\" y2=\"", y, "\" stroke=\"", colour, "\" stroke-width=\"3\"/>\n");
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const auto marks = lane.find(order_[i]);
      if (marks != lane.end()) out += draw_marks(marks->second, x_of(i) + 16, y, colour);
    }
    return out;
  }

  // Bad ones first: they must be seen.
  static std::string draw_marks(const std::vector<Mark>& all, int x, int y,
                                std::string_view colour) {
    std::vector<Mark> marks;
    for (const bool is_good : {false, true}) {
      std::ranges::copy_if(all, std::back_inserter(marks),
                           [is_good](const Mark& mark) { return mark.is_good == is_good; });
    }
    std::string out;
    const std::size_t shown = std::min(marks.size(), kMostMarks);
    const int step = (kNode - 56) / static_cast<int>(std::max<std::size_t>(shown, 8));
    for (std::size_t i = 0; i < shown; ++i) {
      const int at = x + static_cast<int>(i) * step;
      if (marks[i].is_good) {
        out += cat("<circle cx=\"", at, "\" cy=\"", y, "\" r=\"6\" fill=\"", colour,
                   "\" class=\"pod\"><title>", html_text(marks[i].title), "</title></circle>\n");
      } else {
        out += cat("<g class=\"cross\"><rect x=\"", at - 8, "\" y=\"", y - 8,
                   "\" width=\"16\" height=\"16\" rx=\"3\"/><text x=\"", at, "\" y=\"", y + 5,
                   "\">✗</text><title>", html_text(marks[i].title), "</title></g>\n");
      }
    }
    if (marks.size() > shown) {
      out += cat("<text class=\"more\" x=\"", x + static_cast<int>(shown) * step, "\" y=\"", y - 8,
                 "\">+", marks.size() - shown, "</text>\n");
    }
    return out;
  }

  std::vector<std::string> order_;       // nodes
  std::map<std::string, bool> is_good_;  // nodes
  std::map<std::string, Lane> lanes_;    // networks
  std::size_t cut_ = 0;
};

}  // namespace

std::string report_picture(const std::vector<NodeStatus>& nodes, const std::vector<PodRows>& pods) {
  return Picture(nodes, pods).draw();
}

}  // namespace mnet::multusctl
