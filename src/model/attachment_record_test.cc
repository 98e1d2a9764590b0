#include "model/attachment_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/error.h"
#include "json/json.h"
#include "model/delegate.h"

namespace mnet::model {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

constexpr std::string_view kRecord =
    R"({"version":1,"containerID":"c1","netns":"/var/run/netns/cni-1","netnsInode":4026532999,"bootID":"b","podNamespace":"ns1","podName":"p1","podUID":"u","static":false,"cniArgs":[["K8S_POD_NAME","p1"],["X","a=b"]],"state":"ready","attachments":[{"source":"annotation","network":"ns1/macvlan1","cniName":"macvlan1","ifName":"net1","autoName":true,"attributes":{"ips":["10.0.0.7/24"]},"configHash":"sha256:00","deviceID":"d","resourceName":"r","config":{"name":"macvlan1","n":1.50},"capabilityArgs":{"mac":"02:00:00:00:00:01"},"result":{"cniVersion":"1.1.0"},"state":"attached","addedAt":"2026-01-02T03:04:05Z"},{"source":"delegate-api","network":"x","cniName":"x","ifName":"net7","autoName":false,"attributes":{},"configHash":"","deviceID":"","resourceName":"","config":{},"capabilityArgs":{},"state":"adding","addedAt":""}]})";

json::Object object(std::string_view text) { return json::parse_object(text).value(); }

std::string broken(std::string_view member, std::string_view value) {
  json::Object record = object(kRecord);
  record.set(std::string(member), json::parse(value).value());
  auto decoded = decode_record(record);
  if (decoded) return "accepted";
  if (decoded.error().code() != Errc::kProtocol) return "another code";
  return decoded.error().text();
}

std::string broken_attachment(std::string_view member, std::string_view value) {
  json::Object record = object(kRecord);
  json::Object& attachment = *record.find("attachments")->as_array()->front().as_object();
  attachment.set(std::string(member), json::parse(value).value());
  auto decoded = decode_record(record);
  if (decoded) return "accepted";
  return decoded.error().text();
}

TEST(AttachmentRecord, IsWrittenAsItWasRead) {
  auto record = decode_record(object(kRecord));

  ASSERT_TRUE(record) << record.error().text();
  EXPECT_EQ(json::dump(encode_record(*record)), kRecord);
}

TEST(AttachmentRecord, KeepsWhatHotplugHasToFinish) {
  AttachmentRecord record = decode_record(object(kRecord)).value();
  record.status_behind = true;
  record.stale_statuses = {{.network = "ns1/a", .ifnames = {"net1", "net1b"}}};
  record.attachments.front().link_index = 7;

  const AttachmentRecord read = decode_record(encode_record(record)).value();

  EXPECT_TRUE(read.status_behind);
  ASSERT_THAT(read.stale_statuses, SizeIs(1));
  EXPECT_EQ(read.stale_statuses.front().network, "ns1/a");
  EXPECT_THAT(read.stale_statuses.front().ifnames, testing::ElementsAre("net1", "net1b"));
  EXPECT_EQ(read.attachments.front().link_index, 7);
}

TEST(AttachmentRecord, FindsAnAttachmentByItsInterface) {
  AttachmentRecord record = decode_record(object(kRecord)).value();

  ASSERT_NE(record.find("net7"), nullptr);
  EXPECT_EQ(record.find("net7")->source, Source::kDelegateApi);
  EXPECT_EQ(record.find("net7")->state, AttachmentState::kAdding);
  EXPECT_FALSE(record.find("net7")->result.has_value());
  EXPECT_EQ(record.find("net2"), nullptr);
  EXPECT_THAT(record.attachments, SizeIs(2));
}

TEST(AttachmentRecord, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(broken("version", "2"), HasSubstr("version: unknown version 2"));
  EXPECT_THAT(broken("version", "null"), HasSubstr("unknown version 0"));
  EXPECT_THAT(broken("state", R"("done")"), HasSubstr("state: unknown value"));
  EXPECT_THAT(broken("containerID", R"("")"), HasSubstr("containerID"));
  EXPECT_THAT(broken("cniArgs", R"([["a"]])"), HasSubstr("cniArgs[0]"));
  EXPECT_THAT(broken("cniArgs", R"([["a",1]])"), HasSubstr("cniArgs[0]"));
  EXPECT_THAT(broken("attachments", "[1]"), HasSubstr("attachments[0]"));
  EXPECT_THAT(broken("netnsInode", R"("1")"), HasSubstr("netnsInode"));
  EXPECT_THAT(broken_attachment("source", R"("magic")"), HasSubstr("attachments[0].source"));
  EXPECT_THAT(broken_attachment("state", "null"), HasSubstr("attachments[0].state"));
  EXPECT_THAT(broken_attachment("config", "[]"), HasSubstr("attachments[0].config"));
  EXPECT_THAT(broken_attachment("ifName", R"("net7")"), HasSubstr("occurs twice"));
  EXPECT_THAT(broken_attachment("ifName", R"("")"), HasSubstr("ifName"));
}

TEST(ConfigHash, DoesNotDependOnTheOrderOfMembers) {
  const std::string hash =
      config_hash(object(R"({"cniVersion":"1.0.0","name":"a","ipam":{"x":1,"y":2}})"));

  EXPECT_EQ(hash, config_hash(object(R"({"ipam":{"y":2,"x":1},"name":"a","cniVersion":"1.0.0"})")));
  EXPECT_THAT(hash, testing::MatchesRegex("sha256:[0-9a-f]*"));
  EXPECT_THAT(hash, SizeIs(71));
}

TEST(ConfigHash, TellsConfigurationsApart) {
  const std::string hash = config_hash(object(R"({"cniVersion":"1.0.0","name":"a","n":1})"));

  EXPECT_NE(hash, config_hash(object(R"({"cniVersion":"1.0.0","name":"b","n":1})")));
  EXPECT_NE(hash, config_hash(object(R"({"cniVersion":"1.0.0","name":"a","n":1.0})")));
  EXPECT_NE(hash, config_hash(object(R"({"cniVersion":"0.4.0","name":"a","n":1})")));
}

TEST(ConfigHash, TakesAMissingVersionForTheOldest) {
  const std::string hash = config_hash(object(R"({"name":"a","cniVersion":"0.1.0"})"));

  EXPECT_EQ(hash, config_hash(object(R"({"name":"a"})")));
  EXPECT_EQ(hash, config_hash(object(R"({"name":"a","cniVersion":""})")));
}

}  // namespace
}  // namespace mnet::model
