#include "multusctl/report/report_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "json/json.h"
#include "multusctl/doctor.h"

namespace mnet::multusctl {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

ReportInput sick_cluster() {
  ReportInput input{.when = "2026-01-01T00:00:00Z", .version = "1"};
  input.checks = {{Verdict::kGood, "the rights are there"},
                  {Verdict::kBad, "the CRD is missing", "kubectl apply -f x"}};
  input.nodes = {
      {.node = "n1", .status = json::Object{{"version", 1}, {"multus", "1"}, {"ready", true}}},
      {.node = "n2", .status = {}, .why = "no daemon"}};
  input.pods = {{.ns = "a",
                 .name = "web",
                 .node = "n1",
                 .networks = {{.network = "cluster", .interface = "eth0", .ips = {"10.0.0.1"}},
                              {.network = "a/<b>",
                               .interface = "net1",
                               .state = "not-attached",
                               .why = "never attached"}}}};
  input.findings = {{.spot = {.field = "spec.config"},
                     .code = "MN012",
                     .object = "a/bad",
                     .text = "unknown type \"brigde\""}};
  return input;
}

TEST(ReportPage, SaysWhatIsWrongFirst) {
  const std::string page = report_page(sick_cluster());

  EXPECT_THAT(page, AllOf(HasSubstr("✗ Problems found."), HasSubstr("1 of 2 nodes have problems"),
                          HasSubstr("1 of 2 attachments"), HasSubstr("1 errors and 0 warnings")));
  EXPECT_LT(page.find("the CRD is missing"), page.find("the rights are there"));
  EXPECT_LT(page.find("never attached"), page.find("data-label=\"network\">cluster"));
  EXPECT_THAT(page, HasSubstr("unknown type &quot;brigde&quot;"));
}

TEST(ReportPage, NeedsNothingFromOutside) {
  const std::string page = report_page(sick_cluster());

  EXPECT_THAT(page, AllOf(Not(HasSubstr("http://")), Not(HasSubstr("https://")),
                          Not(HasSubstr("<script")), HasSubstr("default-src 'none'"),
                          HasSubstr("prefers-color-scheme:dark"), HasSubstr("max-width:640px")));
}

TEST(ReportPage, EscapesForeignText) {
  const std::string page = report_page(sick_cluster());

  EXPECT_THAT(page, AllOf(HasSubstr("a/&lt;b&gt;"), Not(HasSubstr("a/<b>"))));
  EXPECT_EQ(html_text("<\xe2\x80\xae&\"'>"), "&lt;\\u202e&amp;&quot;&#39;&gt;");
}

TEST(ReportPage, DrawsEachNetworkAsALineAndEachPodOnIt) {
  const ReportInput input = sick_cluster();
  const std::string picture = report_picture(input.nodes, input.pods);

  EXPECT_THAT(picture, AllOf(HasSubstr("<svg"), HasSubstr("class=\"node bad\""),
                             HasSubstr("<circle"), HasSubstr("class=\"cross\"")));
  EXPECT_THAT(report_picture({}, {}), Not(HasSubstr("<svg")));
}

TEST(ReportPage, SaysThatAllIsWellOnlyIfItIs) {
  ReportInput input{.when = "now", .version = "1"};
  EXPECT_THAT(report_page(input), HasSubstr("✓ No problems found."));
  input.unread = {"lint: needs the right to list pods"};
  EXPECT_THAT(report_page(input), HasSubstr("Could not be read: lint"));
}

}  // namespace
}  // namespace mnet::multusctl
