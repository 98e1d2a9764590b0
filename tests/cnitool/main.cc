// cnitool: attaches a network namespace to a network of a configuration directory, by hand (01, 8).
//
//   cnitool add|check|del|gc|status|validate [-i|--ifname NAME] <network> <netns>
//
// `validate` is ours: it prints the capabilities that the network's plugins declare (01, 5.8).
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "aio/run.h"
#include "base/command_line.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "confdir/confdir.h"
#include "inputs.h"
#include "model/delegate.h"
#include "skel/skel.h"
#include "sys/environment.h"
#include "tool.h"

namespace mnet::cnitool {
namespace {

Result<std::string> output_of(const CommandLine& line, const skel::Front& front) {
  MNET_TRY(auto&& inputs, read_inputs(line, front.env));
  MNET_TRY(auto&& list, confdir::load_network(inputs.conf_dir, inputs.network));
  auto network = std::make_shared<const model::Delegate>(model::delegate_of(std::move(list)));
  // The tool's threads may still be on their way out of the loop when the task has ended.
  aio::asio::io_context loop(1);
  Tool tool(std::move(inputs), std::move(network), sys::environment());
  return aio::run(loop, tool.run());
}

int run(const std::vector<std::string>& words, const skel::Front& front) {
  const auto line = parse_command_line(words);
  if (!line) {
    front.write_stderr(cat(line.error().text(), "\n", usage()));
    return 1;
  }
  if (line->wants_help) return front.write_stdout(usage()) ? 0 : 1;
  const auto output = output_of(*line, front);
  if (!output) {
    front.write_stderr(cat(output.error().text(), "\n"));
    return 1;
  }
  return front.write_stdout(*output) ? 0 : 1;
}

}  // namespace
}  // namespace mnet::cnitool

int main(int argc, char** argv) {
  return mnet::cnitool::run(mnet::words_of(argc, argv), mnet::skel::Front::of_process());
}
