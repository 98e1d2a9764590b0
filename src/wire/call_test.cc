#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/result.h"
#include "wire/wire.h"

namespace mnet::wire {
namespace {

using testing::ElementsAre;
using Environment = std::map<std::string, std::string>;

const Environment kWhole = {{"CNI_COMMAND", "ADD"}, {"CNI_CONTAINERID", "c"}, {"CNI_NETNS", "/n"},
                            {"CNI_IFNAME", "net0"}, {"CNI_ARGS", "a=b"},      {"CNI_PATH", "/p"}};

Result<Call> extract(Environment env) {
  Request request;
  request.env.assign(env.begin(), env.end());
  return extract_call(request);
}

Environment whole_without(const std::string& name, const std::string& command = "ADD") {
  Environment env = kWhole;
  env["CNI_COMMAND"] = command;
  env.erase(name);
  return env;
}

std::string identity_error(std::string_view args, PodRules rules = {}) {
  return pod_identity(args, rules).error().text();
}

TEST(ExtractCall, TakesAllThatARequestSays) {
  const auto call = extract(kWhole);

  ASSERT_TRUE(call.has_value());
  EXPECT_EQ(call->command, "ADD");
  EXPECT_EQ(call->container_id, "c");
  EXPECT_EQ(call->netns, "/n");
  EXPECT_EQ(call->ifname, "net0");
  EXPECT_EQ(call->args, "a=b");
  EXPECT_EQ(call->path, "/p");
}

// 03, 12: rows 26 and 33.
TEST(ExtractCall, NamesWhatIsMissing) {
  const std::string head = "could not extract the CNI command args: ";
  EXPECT_EQ(extract({}).error().text(), head + "unexpected or missing CNI_COMMAND");
  for (const char* name : {"CNI_CONTAINERID", "CNI_NETNS", "CNI_ARGS"}) {
    EXPECT_EQ(extract(whole_without(name)).error().text(), head + "missing " + name);
  }
}

// 03, 12: row 34: absent, not empty.
TEST(ExtractCall, CallsTheInterfaceEth0WhenItIsNotNamed) {
  Environment empty = kWhole;
  empty["CNI_IFNAME"] = "";

  EXPECT_EQ(extract(whole_without("CNI_IFNAME"))->ifname, "eth0");
  EXPECT_EQ(extract(empty)->ifname, "");
}

// 03, 12: row 39.
TEST(ExtractCall, NeedsNoNamespaceForDel) {
  EXPECT_EQ(extract(whole_without("CNI_NETNS", "DEL"))->netns, "");
  EXPECT_FALSE(extract(whole_without("CNI_NETNS", "CHECK")).has_value());
}

// 03, 12: row 40.
TEST(ExtractCall, NeedsOnlyTheCommandForStatusAndGc) {
  for (const char* command : {"STATUS", "GC"}) {
    const auto call = extract({{"CNI_COMMAND", command}, {"CNI_PATH", "/p"}});

    ASSERT_TRUE(call.has_value());
    EXPECT_EQ(call->command, command);
    EXPECT_EQ(call->ifname, "");
    EXPECT_EQ(call->path, "/p");
  }
}

// 03, 12: row 32: refused later, with its own text.
TEST(ExtractCall, LetsUnknownCommandsPass) {
  for (const char* command : {"VERSION", "add", ""}) {
    EXPECT_EQ(extract(whole_without("", command))->command, command);
  }
}

// 03, 12: row 35.
TEST(PodIdentity, SplitsAtTheFirstEqualsSignAndTrims) {
  const auto pod = pod_identity(
      " K8S_POD_NAMESPACE = ns ;;a=b=c; ;K8S_POD_NAME=p=q;K8S_POD_UID=u;"
      "K8S_POD_INFRA_CONTAINER_ID=i;",
      {});

  ASSERT_TRUE(pod.has_value());
  EXPECT_EQ(pod->ns, "ns");
  EXPECT_EQ(pod->name, "p=q");
  EXPECT_EQ(pod->uid, "u");
  EXPECT_EQ(pod->infra_container_id, "i");
}

// 03, 12: row 36.
TEST(PodIdentity, NeedsNamespaceAndName) {
  const std::string head = "could not extract the kubernetes runtime args: ";
  EXPECT_EQ(identity_error(""), head + "missing K8S_POD_NAMESPACE");
  EXPECT_EQ(identity_error("K8S_POD_NAME=p"), head + "missing K8S_POD_NAMESPACE");
  EXPECT_EQ(identity_error("K8S_POD_NAMESPACE=n"), head + "missing K8S_POD_NAME");
  EXPECT_EQ(identity_error("K8S_POD_NAMESPACE=n;K8S_POD_NAME="),
            "required CNI variable missing. pod name: ; pod namespace: n");
  EXPECT_EQ(identity_error("K8S_POD_NAMESPACE= ;K8S_POD_NAME=p", {.lenient = true}),
            "required CNI variable missing. pod name: p; pod namespace: ");
}

TEST(PodIdentity, NeedsNothingWithAFolderOfManifests) {
  const auto none = pod_identity("", {.required = false});
  const auto podman = pod_identity("K8S_POD_NAME=p", {.required = false});

  ASSERT_TRUE(none.has_value() && podman.has_value());
  EXPECT_EQ(none->name, "");
  EXPECT_EQ(podman->name, "p");
}

TEST(PodIdentity, RefusesAPartThatIsNoPairUnlessLenient) {
  const std::string args = "K8S_POD_NAMESPACE=n;junk;K8S_POD_NAME=p";

  EXPECT_EQ(identity_error(args),
            "could not extract the kubernetes runtime args: invalid CNI_ARG 'junk'");
  const auto pod = pod_identity(args, {.lenient = true});
  ASSERT_TRUE(pod.has_value());
  EXPECT_EQ(pod->name, "p");
  EXPECT_THAT(pod->skipped, ElementsAre("junk"));
}

TEST(PodIdentity, WithoutUidSaysWhyItCouldNotBeFound) {
  EXPECT_EQ(missing_pod_uid(Error(Errc::kNotFound, "pods \"p\" not found")).text(),
            "could not extract the kubernetes runtime args: missing pod UID; attempted to recover "
            "it from the K8s API, but failed: pods \"p\" not found");
}

TEST(RequestLine, QuotesEveryValue) {
  EXPECT_EQ(request_line({.command = "ADD",
                          .container_id = "c",
                          .netns = "/n",
                          .ifname = "e\"",
                          .args = "a=b",
                          .path = ""}),
            R"(ContainerID:"c" Netns:"/n" IfName:"e\"" Args:"a=b" Path:"")");
}

}  // namespace
}  // namespace mnet::wire
