#include "multusctl/hands/archive.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

#include "base/text.h"
#include "sys/test_dir.h"

namespace mnet::multusctl {
namespace {

std::string output_of(const std::string& command) {
  // NOLINTNEXTLINE(bugprone-command-processor): the command is the test's own.
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
  std::string out;
  std::array<char, 512> buffer;
  while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe.get())) {
    out.append(buffer.data(), got);
  }
  return out;
}

// What tar makes of it.
TEST(Archive, IsReadByTar) {
  const sys::TestDir dir;
  const std::string deep = cat(std::string(90, 'd'), "/", std::string(60, 'f'), ".json");
  const auto archive = make_archive({{.name = "CONTENTS", .text = "two files\n"},
                                     {.name = deep, .text = std::string(1000, 'x')},
                                     {.name = "/../a b", .text = ""}},
                                    std::chrono::system_clock::now());

  ASSERT_TRUE(archive.has_value()) << archive.error().text();
  const std::string path = dir.write("x.tgz", *archive);
  EXPECT_EQ(output_of(cat("tar -tzf ", path, " 2>&1")), cat("CONTENTS\n", deep, "\n_./a_b\n"));
  EXPECT_EQ(output_of(cat("tar -xzOf ", path, " CONTENTS 2>&1")), "two files\n");
  EXPECT_EQ(output_of(cat("tar -xzOf ", path, " ", deep, " 2>&1")), std::string(1000, 'x'));
}

}  // namespace
}  // namespace mnet::multusctl
