// The original's daemon, as recorded, answers our shim: same input, same output.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "process.h"
#include "shim/fake_daemon.h"
#include "sys/file.h"
#include "sys/test_dir.h"
#include "wire/wire.h"

namespace mnet::test {
namespace {

using shim::FakeDaemon;
using testing::ElementsAreArray;
using testing::SizeIs;

constexpr std::string_view kRecordings = MNET_TEST_DATA "/recordings";
constexpr std::string_view kRecordedDir = "/run/multus-cap";

std::string contents(const std::string& path) { return sys::find_file(path)->value_or(""); }

std::string body_of(const std::string& message) {
  return message.substr(message.find("\r\n\r\n") + 4);
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// By name: the tests are made before the program stands where it finds the folders.
constexpr std::array<std::string_view, 14> kExchanges = {
    "add-031",    "add-110",       "add-again-110", "add-bad-network", "add-no-args",
    "add-no-pod", "add-wrong-uid", "check-100",     "del-031",         "del-110",
    "del-again",  "del-unknown",   "gc-110",        "status-110"};

class Recording : public testing::TestWithParam<std::string_view> {
 protected:
  std::string file(std::string_view name) const {
    return contents(cat(kRecordings, "/", GetParam(), "/", name));
  }
  std::string probe() const {
    return std::filesystem::exists(cat(kRecordings, "/", GetParam(), "/1-healthz.request"))
               ? "healthz"
               : "readyz";
  }
};

TEST_P(Recording, IsAnsweredAsByTheOriginal) {
  const sys::TestDir dir;
  wire::Request recorded = *wire::parse_request(body_of(file("2-cni.request")));
  Program program;
  for (const auto& [name, value] : recorded.env) program.env.push_back(cat(name, "=", value));
  // The one change: the socket lies elsewhere.
  program.text = replaced(file("stdin.json"), kRecordedDir, dir.path());
  recorded.config = replaced(recorded.config, kRecordedDir, dir.path());
  FakeDaemon daemon(dir / "multus.sock",
                    {{"/" + probe(), {{.bytes = file(cat("1-", probe(), ".response"))}}},
                     {"/cni", {{.bytes = file("2-cni.response")}}}});

  const Finished finished = run(program);

  EXPECT_EQ(finished.exit, file("exit") == "0\n" ? 0 : 1);
  ASSERT_THAT(daemon.seen("/" + probe()), SizeIs(1));
  EXPECT_EQ(daemon.seen("/" + probe())[0].body, body_of(file(cat("1-", probe(), ".request"))));
  ASSERT_THAT(daemon.seen("/cni"), SizeIs(1));
  EXPECT_EQ(daemon.seen("/cni")[0].body, wire::to_text(recorded));
  if (finished.exit == 0) {
    EXPECT_EQ(finished.out, file("stdout"));
    return;
  }
  // Ours leaves out what the configuration was (03-F34).
  const ErrorObject original = Finished{.out = file("stdout"), .err = ""}.error();
  EXPECT_EQ(finished.error().code, original.code);
  EXPECT_EQ(finished.error().msg, original.msg.substr(0, original.msg.find(": StdinData: ")));
  EXPECT_EQ(finished.error().details, "");
}

INSTANTIATE_TEST_SUITE_P(All, Recording, testing::ValuesIn(kExchanges), [](const auto& recording) {
  return replaced(std::string(recording.param), "-", "_");
});

TEST(RecordedRequests, AreAllLookedAt) {
  std::vector<std::string> folders;
  for (const sys::Entry& entry : *sys::list_directory(std::string(kRecordings))) {
    const std::string folder = cat(kRecordings, "/", entry.name);
    if (std::filesystem::exists(folder + "/2-cni.request")) folders.push_back(entry.name);
  }

  EXPECT_THAT(folders, ElementsAreArray(kExchanges));
}

TEST(RecordedRequests, AreWrittenAsTheOriginalWritesThem) {
  for (const std::string_view name : kExchanges) {
    const std::string body = body_of(contents(cat(kRecordings, "/", name, "/2-cni.request")));

    EXPECT_EQ(wire::to_text(*wire::parse_request(body)), body) << name;
  }
}

TEST(RecordedVersion, IsPrintedAsByTheOriginal) {
  const Finished finished = run({.env = {"CNI_COMMAND=VERSION"}});

  EXPECT_EQ(finished.exit, 0);
  EXPECT_EQ(finished.out, contents(cat(kRecordings, "/version/stdout")));
}

}  // namespace
}  // namespace mnet::test
