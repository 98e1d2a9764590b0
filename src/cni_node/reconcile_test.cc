#include "cni_node/reconcile.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <latch>
#include <string>
#include <string_view>

#include "aio/group.h"
#include "aio/run.h"
#include "base/log.h"
#include "cni_node/command.h"
#include "cni_node/desired.h"
#include "cni_node/files.h"
#include "cni_node/manifests.h"
#include "cni_node/names.h"
#include "http/scripted_server.h"
#include "kube/fake_api.h"
#include "ledger/ledger_file.h"
#include "nodetools/output.h"
#include "sys/test_dir.h"

namespace mnet::cni_node {
namespace {

using namespace std::chrono_literals;
using http::Peer;
using http::RawRequest;

constexpr std::string_view kCore = R"({"resources":[
  {"name":"configmaps","singularName":"configmap","kind":"ConfigMap","namespaced":true}]})";

Command command_in(const sys::TestDir& dir) {
  Command out;
  out.directories = {.plugin_source = dir / "plugins",
                     .plugin_target = dir / "node/bin",
                     .config_source = dir / "configs",
                     .config_target = dir / "node/net.d",
                     .manifest_source = dir / "manifests",
                     .state = dir / "state.json"};
  return out;
}

// A manifest that is too old to be one that is being written.
void write_manifest(const sys::TestDir& dir) {
  const std::string path = dir.write(
      "manifests/m.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: ns1}\n");
  std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() - 1min);
}

// 04, 3.3: plugins do not wait for manifests, so the list may change while one is on its way.
TEST(Reconciler, RemovesNothingThatHasBecomeDesiredMeanwhile) {
  const sys::TestDir dir;
  dir.write("plugins/macvlan", "program", 0755);
  write_manifest(dir);
  std::atomic<bool> is_asked = false;
  std::latch may_answer(1);
  aio::asio::io_context loop(1);  // outlives the connections of the client
  const kube::FakeApi server([&](Peer& peer, const RawRequest& request) {
    if (request.method() == "GET") return peer.answer(200, kCore);
    is_asked = true;
    may_answer.wait();
    peer.answer(201, "{}");
  });
  const auto api = server.client();
  const Command command = command_in(dir);
  nodetools::RecordedOutput output;
  Files files(command.directories, {}, output);
  Manifests manifests(command, output);
  manifests.use(*api, {.ns = "ns1"});
  const auto ledger = ledger::LedgerFile::load(command.directories.state, {}).value();
  Reconciler reconciler({files, manifests, *ledger, output, [] { return false; }});
  Desired desired{.plugins = Names(), .manifests = Names{"m.yaml"}};

  aio::Group group(loop.get_executor(), Log());
  group.spawn("rest", reconciler.do_the_rest(&desired, false));
  const bool was_asked = kube::drive(loop, [&] { return is_asked.load(); });
  desired.plugins = Names{"macvlan"};
  reconciler.put_files(desired, false);
  may_answer.count_down();
  ASSERT_TRUE(aio::run(loop, group.join()).has_value());

  EXPECT_TRUE(was_asked) << output.printed << output.complaints;
  EXPECT_TRUE(std::filesystem::exists(dir / "node/bin/macvlan"))
      << output.printed << output.complaints;
  EXPECT_EQ(ledger->entries().plugins, Names{"macvlan"});
  EXPECT_EQ(ledger->entries().manifests.size(), 1u);
}

}  // namespace
}  // namespace mnet::cni_node
