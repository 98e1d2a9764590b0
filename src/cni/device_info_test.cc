#include "cni/device_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "json/json.h"

namespace mnet::cni {
namespace {

using testing::HasSubstr;

std::string again(std::string_view text) { return json::dump(parse_device_info(text).value()); }

TEST(DeviceInfo, KeepsEveryKnownMemberInOrder) {
  EXPECT_EQ(
      again(R"({"pci":{"representor-device":"r","pci-address":"0000:18:02.5","vhost-net":"v",)"
            R"("rdma-device":"m","pf-pci-address":"p"},"version":"1.1.0","type":"pci"})"),
      R"({"type":"pci","version":"1.1.0","pci":{"pci-address":"0000:18:02.5","vhost-net":"v",)"
      R"("rdma-device":"m","pf-pci-address":"p","representor-device":"r"}})");
  EXPECT_EQ(again(R"({"type":"vdpa","vdpa":{"parent-device":"a","driver":"b","path":"c",)"
                  R"("pci-address":"d","pf-pci-address":"e","representor-device":"f"}})"),
            R"({"type":"vdpa","vdpa":{"parent-device":"a","driver":"b","path":"c",)"
            R"("pci-address":"d","pf-pci-address":"e","representor-device":"f"}})");
  EXPECT_EQ(again(R"({"vhost-user":{"path":"/p","mode":"client"},)"
                  R"("memif":{"mode":"ethernet","path":"/m","role":"master"}})"),
            R"({"vhost-user":{"mode":"client","path":"/p"},)"
            R"("memif":{"role":"master","path":"/m","mode":"ethernet"}})");
}

TEST(DeviceInfo, LeavesOutWhatIsEmptyOrUnknown) {
  EXPECT_EQ(again("{}"), "{}");
  EXPECT_EQ(again(R"({"type":"","version":null,"x":[1],"pci":{"pci-address":"","y":1}})"),
            R"({"pci":{}})");
  EXPECT_EQ(again(R"({"pci":null,"Type":"memif"})"), R"({"type":"memif"})");
}

TEST(DeviceInfo, NamesTheMemberOfTheWrongType) {
  EXPECT_THAT(parse_device_info(R"({"type":5})").error().text(), HasSubstr("type"));
  EXPECT_THAT(parse_device_info(R"({"pci":[]})").error().text(), HasSubstr("pci"));
  EXPECT_THAT(parse_device_info(R"({"vdpa":{"driver":{}}})").error().text(),
              HasSubstr("vdpa.driver"));
}

TEST(DeviceInfo, IsNoneWithoutAnObject) {
  for (const std::string_view text : {"", "{", "[]", "null", "5", "\"pci\"", "{} x", "\xff"}) {
    EXPECT_FALSE(parse_device_info(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace mnet::cni
