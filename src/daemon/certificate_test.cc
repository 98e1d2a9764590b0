#include "daemon/certificate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "aio/blocking_pool.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "certs/certs.h"
#include "daemon/config.h"
#include "sys/test_dir.h"

namespace mnet::daemon {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::string_view kKubeconfig =
    R"({"current-context":"c","contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],)"
    R"("clusters":[{"name":"c","cluster":{"server":"https://127.0.0.1:1"}}],)"
    R"("users":[{"name":"u","user":{"token":"t"}}]})";

class Certificate : public testing::Test {
 protected:
  Result<std::unique_ptr<certs::NodeCertificate>> make(
      const std::string& keys,
      const std::vector<std::string>& environment = {"MULTUS_NODE_NAME=node1"}) {
    MNET_TRY(const auto& config, parse_config(cat(R"({"perNodeCertificate":{)", keys, "}}")));
    return make_certificate(loop_.get_executor(), config, environment, pool_, Log());
  }
  // Of a configuration that must not start.
  std::string refusal(const std::string& keys,
                      const std::vector<std::string>& environment = {"MULTUS_NODE_NAME=node1"}) {
    const auto made = make(keys, environment);
    return made ? "accepted" : made.error().text();
  }

  sys::TestDir dir_;
  aio::asio::io_context loop_;
  aio::BlockingPool pool_{1};
  std::string good_ =
      cat(R"("enabled":true,"certDir":")", dir_ / "certs", R"(","bootstrapKubeconfig":")",
          dir_.write("kubeconfig", kKubeconfig), "\"");
};

TEST_F(Certificate, IsMadeOnlyWhereItIsEnabled) {
  const auto disabled = make(R"("enabled":false,"certDuration":"abc")");
  const auto enabled = make(good_);

  ASSERT_TRUE(disabled.has_value());
  EXPECT_EQ(*disabled, nullptr);
  ASSERT_TRUE(enabled.has_value()) << enabled.error().text();
  EXPECT_NE(*enabled, nullptr);
}

// 03, 12: row 145
TEST_F(Certificate, AConfigurationThatCannotWorkIsRefusedWithItsKey) {
  EXPECT_THAT(refusal(R"("enabled":true,"certDir":"/c")"), HasSubstr("bootstrapKubeconfig"));
  EXPECT_THAT(refusal(R"("enabled":true,"bootstrapKubeconfig":"/b","certDir":"")"),
              HasSubstr("certDir"));
  EXPECT_THAT(refusal(good_ + R"(,"certDuration":"5m")"),
              AllOf(HasSubstr("certDuration"), HasSubstr("600")));
  EXPECT_THAT(refusal(good_ + R"(,"certDuration":"abc")"),
              AllOf(HasSubstr("certDuration"), HasSubstr("abc")));
  EXPECT_THAT(refusal(good_ + R"(,"certDuration":"-1h")"), HasSubstr("certDuration"));
  EXPECT_THAT(refusal(good_ + R"(,"certDuration":"99999h")"), HasSubstr("certDuration"));
  EXPECT_THAT(refusal(good_, {}), HasSubstr("MULTUS_NODE_NAME"));
}

}  // namespace
}  // namespace mnet::daemon
