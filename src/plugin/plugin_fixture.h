// For tests: makes plugins, which are scripts or fake-delegate with a control file beside it.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "aio/run.h"
#include "base/text.h"
#include "json/json.h"
#include "plugin/plugin.h"
#include "sys/file.h"
#include "sys/test_dir.h"
#include "sys/test_programs.h"

namespace mnet::plugin {

class PluginTest : public testing::Test {
 protected:
  static aio::Deadline in(std::chrono::milliseconds time) {
    return std::chrono::steady_clock::now() + time;
  }

  // Both yield the path of the executable.
  std::string script(std::string_view body) const {
    return dir.write("script", cat("#!/bin/sh\n", body), 0755);
  }
  std::string fake(std::string_view orders) const {
    std::error_code failed;
    std::filesystem::create_symlink(sys::test_tool("fake-delegate"), dir / "fake", failed);
    dir.write("fake.control.json", orders);
    return dir / "fake";
  }

  // The deadline is long enough for a busy machine; no test waits for it.
  static Invocation call(std::string binary, std::string config = "{}") {
    return {.binary = std::move(binary),
            .env = {"PATH=/usr/bin:/bin", "CNI_COMMAND=ADD", "CNI_IFNAME=eth0", "CNI_NETNS=/x"},
            .config = std::move(config),
            .deadline = in(std::chrono::seconds(60))};
  }

  // The calls that fake-delegate recorded.
  std::vector<json::Object> calls() const {
    std::vector<json::Object> out;
    const std::string record = sys::read_file(dir / "record").value_or("");
    for (const std::string_view line : split(record, '\n')) {
      if (!line.empty()) out.push_back(json::parse_object(line).value());
    }
    return out;
  }

  sys::TestDir dir;
};

}  // namespace mnet::plugin
