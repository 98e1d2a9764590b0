#include "kube_watch/command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"

namespace mnet::kube_watch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Words = std::vector<std::string>;

Command parsed(const Words& words) {
  auto command = parse_command(words);
  EXPECT_TRUE(command.has_value()) << command.error().text();
  return command.value_or(Command());
}

TEST(Command, HasTheDefaultsOfTheOriginal) {
  const Command command = parsed({"object", "configmap", "fruits"});

  EXPECT_EQ(command.action, Command::Action::kObject);
  EXPECT_EQ(command.type, "configmap");
  EXPECT_EQ(command.name, "fruits");
  EXPECT_FALSE(command.ns.has_value());
  EXPECT_EQ(command.jsonpath, "{}");
  EXPECT_EQ(command.channel, "/var/run/kube-watch/channel");
  EXPECT_EQ(command.handler, "/usr/share/kube-watch/handler");
  EXPECT_FALSE(command.wants_empty);
  EXPECT_EQ(command.handler_timeout.count(), 0);
}

TEST(Command, TakesLongAndShortFormsAndTheLastOfSeveral) {
  for (const Words& words : {Words{"object", "cm", "n", "-j={.a}", "-c=/c", "-h=h", "-e"},
                             Words{"object", "cm", "n", "--jsonpath={.x}", "--jsonpath={.a}",
                                   "--channel=/c", "--handler=h", "--allow-empty"}}) {
    const Command command = parsed(words);
    EXPECT_EQ(command.jsonpath, "{.a}");
    EXPECT_EQ(command.channel, "/c");
    EXPECT_EQ(command.handler, "h");
    EXPECT_TRUE(command.wants_empty);
  }
  const Command more =
      parsed({"object", "pod", "", "-a", "-l=a=b,c!=d", "--handler-timeout=30", "--kubeconfig=/k"});
  EXPECT_TRUE(more.wants_all_namespaces);
  EXPECT_EQ(more.label, "a=b,c!=d");
  EXPECT_EQ(more.handler_timeout, std::chrono::seconds(30));
  EXPECT_EQ(more.kubeconfig, "/k");
}

TEST(Command, SplitsNamespaceAndName) {
  EXPECT_EQ(parsed({"object", "pod", "ns/n"}).ns, "ns");
  EXPECT_EQ(parsed({"object", "pod", "ns/n"}).name, "n");
  EXPECT_EQ(parsed({"object", "pod", "ns/"}).ns, "ns");
  EXPECT_EQ(parsed({"object", "pod", "ns/"}).name, "");
  EXPECT_FALSE(parsed({"object", "pod", "/n"}).ns.has_value());
  EXPECT_EQ(parsed({"object", "pod", "/n"}).name, "n");
  EXPECT_EQ(parsed({"object", "pod", ""}).name, "");
}

// 04, 4: row 72
TEST(Command, ShowsTheUsageForWhatIsMissing) {
  for (const Words& words :
       {Words{}, Words{"object"}, Words{"object", "configmap"}, Words{"object", "", "n"},
        Words{"file"}, Words{"file", ""}, Words{"bogus"}, Words{"-h"}, Words{"version", "x"},
        Words{"object", "pod", "-a"}}) {
    const auto command = parse_command(words);
    ASSERT_FALSE(command.has_value());
    EXPECT_EQ(command.error().code(), Errc::kNotFound);
  }
  EXPECT_EQ(parsed({"version"}).action, Command::Action::kVersion);
  EXPECT_EQ(parsed({"--help"}).action, Command::Action::kHelp);
  EXPECT_EQ(parsed({"object", "x", "y", "--help"}).action, Command::Action::kHelp);
}

// 04, 4: rows 73 and 85
TEST(Command, RefusesWhatCannotBe) {
  const std::vector<std::pair<Words, std::string>> cases = {
      {{"file", "F", "-h"}, "Unknown option: -h"},
      {{"file", "F", "-x=1"}, "Unknown option: -x"},
      {{"file", "F", "--allow-empty=1"}, "Unknown option: --allow-empty"},
      {{"file", "F", "word"}, "Unknown option: word"},
      {{"object", "pod", "x", "-a"}, "--all-namespaces"},
      {{"object", "pod", "x", "-l=a=b"}, "--label"},
      {{"object", "pod", "a/b/c"}, "Invalid name: a/b/c"},
      {{"object", "pod,svc", "x"}, "Invalid type: pod,svc"},
      {{"object", "pod/x", "x"}, "Invalid type: pod/x"},
      {{"object", "pod", "x", "-j=.data"}, "did you mean {.data}?"},
      {{"object", "pod", "x", "-j=fruits"}, "did you mean {.fruits}?"},
      {{"object", "pod", "x", "-j={.data"}, "unclosed action"},
      {{"file", "F", "--handler-timeout=5s"}, "--handler-timeout"},
      {{"file", "F", "--handler-timeout=-1"}, "--handler-timeout"},
      {{"file", "F", "-h="}, "--handler"},
      {{"file", "F", "-c="}, "--channel"},
      {{"file", "F", "-c=/d/"}, "--channel"},
  };
  for (const auto& [words, text] : cases) {
    const auto command = parse_command(words);
    ASSERT_FALSE(command.has_value()) << text;
    EXPECT_EQ(command.error().code(), Errc::kInvalid) << text;
    EXPECT_THAT(command.error().text(), HasSubstr(text));
  }
}

// 04, 4: row 114
TEST(Command, WarnsOfWhatIsIgnored) {
  const Command all = parsed({"object", "pod", "ns/", "-a"});
  EXPECT_FALSE(all.ns.has_value());
  EXPECT_THAT(all.warnings, ElementsAre(HasSubstr("ns is ignored")));

  const Command file = parsed({"file", "F", "-a", "-l=x", "-j=no braces"});
  EXPECT_THAT(file.warnings, ElementsAre(HasSubstr("--all-namespaces"), HasSubstr("--label"),
                                         HasSubstr("--jsonpath")));
  EXPECT_THAT(parsed({"file", "F"}).warnings, IsEmpty());
}

}  // namespace
}  // namespace mnet::kube_watch
