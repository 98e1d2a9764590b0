#include "multusctl/report/report_page.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "json/at.h"
#include "lint/finding.h"
#include "lint/report.h"
#include "multusctl/doctor.h"
#include "multusctl/node_status.h"
#include "multusctl/pod_networks.h"

namespace mnet::multusctl {
namespace {

constexpr std::size_t kMostRows = 500;

constexpr std::string_view kStyle = R"(
:root{color-scheme:light dark;--bg:#fff;--fg:#1c2126;--dim:#5b6570;--line:#d5dbe1;--box:#f5f7f9;--bad:#b3261e;--badbg:#fdecea;--good:#1b6e3c;--odd:#8a5a00}
@media (prefers-color-scheme:dark){:root{--bg:#14181c;--fg:#e6eaee;--dim:#9aa5b1;--line:#333c45;--box:#1c2228;--bad:#ff8a80;--badbg:#3a1d1b;--good:#7fd8a0;--odd:#f0c060}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1200px;padding:1rem;background:var(--bg);color:var(--fg);font:16px/1.5 system-ui,sans-serif}
h1{font-size:1.5rem;margin:.2rem 0}h2{font-size:1.15rem;margin:2rem 0 .5rem}
.dim{color:var(--dim)}.bad{color:var(--bad)}.good{color:var(--good)}.odd{color:var(--odd)}
.verdict{border:1px solid var(--line);border-left:6px solid var(--good);background:var(--box);padding:.7rem 1rem;border-radius:6px}
.verdict.bad{border-left-color:var(--bad);background:var(--badbg);color:var(--fg)}
.picture{overflow-x:auto;border:1px solid var(--line);border-radius:8px;background:var(--bg);padding:.5rem}
svg text{fill:var(--fg);font:13px system-ui,sans-serif}svg text.name{font-weight:600}svg text.net{font-size:12px}svg text.bad{fill:var(--bad)}
svg rect.node{fill:var(--box);stroke:var(--line)}svg rect.node.bad{stroke:var(--bad);stroke-width:2}
svg .pod{stroke:var(--bg);stroke-width:1.5}svg .cross rect{fill:var(--bad)}svg .cross text{fill:var(--bg);text-anchor:middle;font-weight:700}svg .more{fill:var(--dim)}
ul.checks{list-style:none;margin:0;padding:0}ul.checks li{padding:.35rem 0;border-bottom:1px solid var(--line)}
ul.checks .mark{display:inline-block;width:1.4em;font-weight:700}code,.advice{overflow-wrap:anywhere}.advice{display:block;margin-left:1.4em;color:var(--dim)}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.35rem .6rem;border-bottom:1px solid var(--line);vertical-align:top;overflow-wrap:break-word}th{white-space:nowrap;color:var(--dim);font-weight:600}
tr.bad td{background:var(--badbg);color:var(--fg)}
@media (max-width:640px){body{padding:.6rem}table,tbody,tr,td{display:block;width:100%}thead{display:none}tr{border:1px solid var(--line);border-radius:8px;margin:.5rem 0;padding:.3rem}td{border:0;padding:.15rem .4rem;overflow-wrap:anywhere;display:grid;grid-template-columns:7.5em 1fr}td::before{content:attr(data-label);color:var(--dim)}}
)";

struct Cell {
  std::string_view label;
  std::string text;
};

std::string row_text(const std::vector<Cell>& cells, bool is_good) {
  std::string out = is_good ? "<tr>" : "<tr class=\"bad\">";
  for (const Cell& cell : cells) {
    out += cat("<td data-label=\"", cell.label, "\">", html_text(cell.text), "</td>");
  }
  return out + "</tr>\n";
}

std::string table_text(const std::vector<std::string_view>& headers, const std::string& rows) {
  std::string out = "<table><thead><tr>";
  for (const std::string_view header : headers) out += cat("<th>", header, "</th>");
  return cat(out, "</tr></thead><tbody>\n", rows, "</tbody></table>\n");
}

std::string check_text(const Check& check) {
  const std::string_view kind = check.verdict == Verdict::kGood  ? "good"
                                : check.verdict == Verdict::kBad ? "bad"
                                                                 : "odd";
  return cat("<li><span class=\"mark ", kind, "\">", mark_of(check.verdict), "</span>",
             html_text(check.what),
             check.advice.empty()
                 ? std::string()
                 : cat("<span class=\"advice\">", html_text(check.advice), "</span>"),
             "</li>\n");
}

// The worst first.
std::string checks_text(const std::vector<Check>& checks) {
  const auto rank = [](const Check& check) {
    return check.verdict == Verdict::kBad ? 0 : check.verdict == Verdict::kGood ? 2 : 1;
  };
  std::string out = "<ul class=\"checks\">\n";
  for (const int now : {0, 1, 2}) {
    for (const Check& check : checks) {
      if (rank(check) == now) out += check_text(check);
    }
  }
  return out + "</ul>\n";
}

struct Numbers {
  std::size_t bad_checks = 0, bad_nodes = 0, networks = 0, bad_networks = 0;
  lint::Counts lint;
};

Numbers count(const ReportInput& input) {
  Numbers out;
  out.bad_checks =
      static_cast<std::size_t>(std::ranges::count(input.checks, Verdict::kBad, &Check::verdict));
  for (const NodeStatus& node : input.nodes) out.bad_nodes += troubles_of(node).empty() ? 0 : 1;
  for (const PodRows& pod : input.pods) {
    out.networks += pod.networks.size();
    for (const NetworkRow& row : pod.networks) out.bad_networks += row.is_good() ? 0 : 1;
  }
  out.lint = lint::count(input.findings);
  return out;
}

std::string verdict_text(const ReportInput& input, const Numbers& numbers) {
  const bool is_good = numbers.bad_checks == 0 && numbers.bad_nodes == 0 &&
                       numbers.bad_networks == 0 && numbers.lint.errors == 0;
  std::string out =
      cat("<div class=\"verdict", is_good ? "" : " bad", "\"><strong>",
          is_good ? "✓ No problems found." : "✗ Problems found.", "</strong> ", numbers.bad_nodes,
          " of ", input.nodes.size(), " nodes have problems; ", numbers.bad_networks, " of ",
          numbers.networks, " attachments differ from what the pod asked for; ", numbers.bad_checks,
          " checks failed; ", numbers.lint.errors, " errors and ", numbers.lint.warnings,
          " warnings in definitions and pods.");
  for (const std::string& one : input.unread) {
    out += cat("<br>? Could not be read: ", html_text(one));
  }
  return out + "</div>\n";
}

std::string nodes_text(const std::vector<NodeStatus>& nodes) {
  if (nodes.empty()) return "<p class=\"bad\">✗ No node was read.</p>\n";
  std::string rows;
  for (const NodeStatus& node : nodes) {
    const auto troubles = troubles_of(node);
    const std::string version =
        node.status ? excerpt(json::text_at(*node.status, {"multus"})) : std::string("?");
    rows += row_text({{"node", node.node},
                      {"version", version},
                      {"state", troubles.empty() ? "ok" : cat("✗ ", join(troubles, "; "))}},
                     troubles.empty());
  }
  return table_text({"Node", "Version", "State"}, rows);
}

// What is not as asked for comes first.
std::string pods_text(const std::vector<PodRows>& pods) {
  std::vector<std::pair<const PodRows*, const NetworkRow*>> all;
  for (const bool is_good : {false, true}) {
    for (const PodRows& pod : pods) {
      for (const NetworkRow& row : pod.networks) {
        if (row.is_good() == is_good) all.emplace_back(&pod, &row);
      }
    }
  }
  std::string rows;
  for (std::size_t i = 0; i < std::min(all.size(), kMostRows); ++i) {
    const auto& [pod, row] = all[i];
    rows +=
        row_text({{"pod", cat(pod->ns, "/", pod->name)},
                  {"node", pod->node},
                  {"network", row->network},
                  {"interface", row->interface},
                  {"addresses", addresses_of(*row)},
                  {"state", row->is_good() ? row->state : cat("✗ ", row->state, ": ", row->why)}},
                 row->is_good());
  }
  std::string out = table_text({"Pod", "Node", "Network", "Interface", "Addresses", "State"}, rows);
  if (all.size() > kMostRows)
    out += cat("<p>", all.size() - kMostRows, " more are not listed.</p>\n");
  return out;
}

std::string findings_text(const std::vector<lint::Finding>& findings) {
  if (findings.empty()) return "<p class=\"good\">✓ Nothing found.</p>\n";
  std::string rows;
  for (std::size_t i = 0; i < std::min(findings.size(), kMostRows); ++i) {
    const lint::Finding& one = findings[i];
    const lint::Severity severity = lint::code_of(one.code).severity;
    rows +=
        row_text({{"code", cat(lint::name_of(severity), " ", one.code)},
                  {"object", one.object},
                  {"field", cat(one.spot.field, one.spot.path.empty() ? "" : " ", one.spot.path)},
                  {"what", one.text}},
                 severity != lint::Severity::kError);
  }
  std::string out = table_text({"Code", "Object", "Field", "What"}, rows);
  if (findings.size() > kMostRows) {
    out += cat("<p>", findings.size() - kMostRows, " more are not listed.</p>\n");
  }
  return out;
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : excerpt(text, kWhole)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string report_page(const ReportInput& input) {
  return cat(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; img-src data:\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n<title>Multus report</title>\n<style>",
      kStyle, "</style></head>\n<body>\n<h1>Multus</h1>\n<p class=\"dim\">", html_text(input.when),
      ", multusctl ", html_text(input.version), "</p>\n", verdict_text(input, count(input)),
      "<h2>Nodes, networks and pods</h2>\n<p class=\"dim\">Each network is a line, each pod on it "
      "a dot; ✗ marks an attachment that differs from what the pod asked for, or a node with "
      "problems.</p>\n<div class=\"picture\">\n",
      report_picture(input.nodes, input.pods), "</div>\n<h2>Checks</h2>\n",
      checks_text(input.checks), "<h2>Nodes</h2>\n", nodes_text(input.nodes),
      "<h2>Networks of pods</h2>\n", pods_text(input.pods),
      "<h2>Definitions and pods (lint)</h2>\n", findings_text(input.findings), "</body></html>\n");
}

}  // namespace mnet::multusctl
