#include "model/pod_args.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "base/result.h"
#include "base/try.h"
#include "cni/args.h"
#include "model/selection_element.h"

namespace mnet::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

Result<PodArgs> parse_pod_args(const std::string& text) {
  MNET_TRY(auto&& pairs, cni::parse_args(text));
  return read_pod_args(std::move(pairs));
}

std::string error_of(const std::string& text) {
  auto args = parse_pod_args(text);
  return args ? "no error" : args.error().text();
}

TEST(PodArgs, ReadsThePodAndKeepsEverything) {
  auto args = parse_pod_args("IgnoreUnknown=TRUE;K8S_POD_NAME=p;X=a=b;K8S_POD_UID=;IP=10.0.0.1");

  ASSERT_TRUE(args);
  EXPECT_EQ(args->pod.name, "p");
  EXPECT_TRUE(args->ignore_unknown);
  EXPECT_EQ(args->ip->text(), "10.0.0.1");
  EXPECT_EQ(args->pairs.size(), 5u);
  EXPECT_TRUE(parse_pod_args(""));
}

// P46.
TEST(PodArgs, NamesThePairThatIsWrong) {
  EXPECT_THAT(error_of("K8S_POD_NAME:x"), HasSubstr("ARGS: invalid pair \"K8S_POD_NAME:x\""));
  EXPECT_THAT(error_of("K8S_POD_NAME=x;"), HasSubstr("ARGS: invalid pair \"\""));
  EXPECT_THAT(error_of("IgnoreUnknown=yes"),
              HasSubstr("ARGS: error parsing value of pair \"IgnoreUnknown=yes\""));
  EXPECT_THAT(error_of("IgnoreUnknown=0, A=b"), HasSubstr("ARGS: invalid pair"));
  EXPECT_THAT(error_of("IP=x"), HasSubstr("ARGS: error parsing value of pair \"IP=x\""));
  EXPECT_THAT(error_of("A=1;B=2"), HasSubstr("ARGS: unknown args [\"A=1\" \"B=2\"]"));
  EXPECT_THAT(error_of("k8s_pod_name=x"), HasSubstr("ARGS: unknown args"));
}

TEST(PodArgs, LenientlySkipsWhatSaysNothing) {
  const PodArgs args = read_pod_args_leniently(
      cni::parse_args_leniently("x;;IgnoreUnknown=maybe;K8S_POD_NAME=p;FOO=1"));
  EXPECT_EQ(args.pod.name, "p");
  EXPECT_THAT(delegate_args(args.pod, args.pairs),
              ElementsAre(Pair("IgnoreUnknown", "true"), Pair("K8S_POD_NAMESPACE", ""),
                          Pair("K8S_POD_NAME", "p"), Pair("K8S_POD_INFRA_CONTAINER_ID", ""),
                          Pair("K8S_POD_UID", ""), Pair("FOO", "1")));
}

TEST(PodArgs, PassesAddressWishesOnInPlaceOfTheRequests) {
  NetworkSelectionElement selection;
  selection.mac = "c211.2233.4466";
  selection.ips = {"10.0.0.1/24", "2001:db8::1"};
  auto args = with_selected_addresses({{"IP", "1.2.3.4"}, {"A", "b"}}, selection);
  EXPECT_THAT(args.value(), ElementsAre(Pair("IP", "10.0.0.1/24,2001:db8::1"), Pair("A", "b"),
                                        Pair("MAC", "c211.2233.4466")));
  selection.ips->clear();
  EXPECT_EQ(with_selected_addresses({}, selection)->size(), 1u);
}

TEST(PodArgs, ChecksAddressWishes) {
  const auto error_with = [](const std::string& mac, const std::string& ip) {
    NetworkSelectionElement selection;
    selection.mac = mac;
    selection.ips = {ip};
    auto args = with_selected_addresses({}, selection);
    return args ? "no error" : args.error().text();
  };
  for (const std::string mac : {"c2:11:22", "zz:11:22:33:44:55", "c2:11:22-33:44:55",
                                "c2.11.22.33.44.55", "c21122334455", "c2:11:22:33:44:55:66"}) {
    EXPECT_THAT(error_with(mac, "10.0.0.1"), HasSubstr("failed to parse mac address")) << mac;
  }
  EXPECT_EQ(error_with("24-8a-07-03-00-8d-ae-2e", "10.0.0.1"), "no error");
  EXPECT_THAT(error_with("", "10.0.0.300"), HasSubstr("failed to parse IP address \"10.0.0.300\""));
  EXPECT_THAT(error_with("", "10.0.0.1/33"),
              HasSubstr("failed to parse IP address \"10.0.0.1/33\""));
}

}  // namespace
}  // namespace mnet::model
