#include "multusctl/print.h"

#include <gtest/gtest.h>

namespace mnet::multusctl {
namespace {

TEST(Table, AlignsColumnsAsKubectlDoes) {
  Table table({"POD", "IPS", "STATE"});
  table.add({"web-0", "10.0.0.1", "ok"});
  table.add({"a-longer-name", "", "missing"});

  EXPECT_EQ(table.text(true),
            "POD             IPS        STATE\n"
            "web-0           10.0.0.1   ok\n"
            "a-longer-name   <none>     missing\n");
  EXPECT_EQ(table.text(false),
            "web-0           10.0.0.1   ok\n"
            "a-longer-name   <none>     missing\n");
}

TEST(Table, ShowsCellsInOneLineAndNothingThatATerminalObeys) {
  Table table({"POD", "STATE"});
  table.add({"\x1b[2J", "two\nlines\a"});

  EXPECT_EQ(table.text(false), "\\x1b[2J   two\\nlines\\a\n");
}

TEST(PrintableJson, EscapesWhatATerminalObeysAndNothingElse) {
  EXPECT_EQ(printable_json("{\"a\":\"\xc2\x9bz \xe2\x80\xae \xc3\xa4\"}"),
            "{\"a\":\"\\u009bz \\u202e \xc3\xa4\"}");
}

}  // namespace
}  // namespace mnet::multusctl
