#include "multusctl/hands/node_files.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/run.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "http/http.h"
#include "http/origin_client.h"
#include "json/at.h"
#include "json/json.h"
#include "json/secrets.h"
#include "multusctl/commands.h"
#include "multusctl/doctor.h"
#include "multusctl/hands/archive.h"
#include "multusctl/invocation.h"
#include "multusctl/node_socket.h"
#include "multusctl/self_check.h"
#include "settings/config.h"
#include "settings/fragments.h"
#include "sys/file.h"

namespace mnet::multusctl {
namespace {

constexpr std::size_t kMostRecords = 100, kMostRecord = 64u << 10;
constexpr std::chrono::seconds kPatience{10};

class NodeFiles {
 public:
  NodeFiles(const Invocation& invocation, const Surroundings& surroundings)
      : invocation_(invocation), surroundings_(surroundings) {}

  Collected run() {
    ask("status.json", {.path = "/status"});
    ask("pending.json", {.path = "/pending"});
    ask("gc-dry-run.json", {.method = "POST", .path = "/gc", .body = R"({"dryRun":true})"});
    out_.add("doctor.json", json::dump(to_json(check_this_node(invocation_, surroundings_))));
    for (const char* path :
         {"/proc/self/mountinfo", "/proc/net/dev", "/proc/sys/kernel/osrelease"}) {
      add_file(cat("proc/", std::string_view(path).substr(std::string_view(path).rfind('/') + 1)),
               path);
    }
    const auto config = settings::load_config(std::string(kDaemonConfig), {});
    add_file("daemon-config.json", std::string(kDaemonConfig));
    add_folder("daemon-config.d", settings::fragments_directory(std::string(kDaemonConfig)));
    add_folder("net.d", config ? config->cni_config_dir : "/etc/cni/net.d");
    add_records(config ? config->records_dir() : settings::Config().records_dir());
    if (config && config->metrics_port) add_metrics(*config);
    return std::move(out_);
  }

 private:
  void miss(const std::string& what, const Error& why) {
    out_.missing.push_back(cat(what, ": ", excerpt(why.text(), 300)));
  }

  void ask(const std::string& name, Question question) {
    const auto answer = ask_daemon(socket_of(invocation_), std::move(question));
    if (answer) return out_.add(name, json::dump(*answer));
    miss(name, answer.error());
  }

  void add_file(const std::string& name, const std::string& path) {
    if (out_.bytes > kMostOfNode) return;
    const auto text = sys::read_file(path, kMostOfFile);
    if (text) return out_.add(name, *text);
    miss(path, text.error());
  }

  // The CNI configurations in it.
  void add_folder(std::string_view name, const std::string& directory) {
    const auto entries = sys::list_directory(directory);
    if (!entries && entries.error().os_errno() == ENOENT) return;
    if (!entries) return miss(directory, entries.error());
    for (const sys::Entry& entry : *entries) {
      const bool is_configuration =
          !entry.name.starts_with('.') &&
          (entry.name.ends_with(".conf") || entry.name.ends_with(".conflist") ||
           entry.name.ends_with(".json"));
      if (is_configuration) {
        add_file(cat(name, "/", entry.name), cat(directory, "/", entry.name));
      }
    }
  }

  // Names of all, contents of some.
  void add_records(const std::string& cni_dir) {
    std::string names;
    for (const std::string_view below :
         {"", "/_attachments", "/results", "/pending-del", "/pending-del/bad"}) {
      const auto entries = sys::list_directory(cat(cni_dir, below));
      if (!entries) continue;
      for (const sys::Entry& entry : *entries) names += cat(cni_dir, below, "/", entry.name, "\n");
    }
    out_.add("records/files.txt", names.substr(0, kMostRecord * 4));
    const std::string directory = cat(cni_dir, "/_attachments");
    const auto records = sys::list_directory(directory);
    for (std::size_t i = 0; records && i < std::min(records->size(), kMostRecords); ++i) {
      const std::string& name = (*records)[i].name;
      const auto text = sys::read_file(cat(directory, "/", name), kMostRecord);
      if (text && out_.bytes < kMostOfNode) out_.add(cat("records/", name), *text);
    }
  }

  void add_metrics(const settings::Config& config) {
    const std::string host = config.metrics_address.empty() ? "127.0.0.1" : config.metrics_address;
    http::OriginSettings where;
    where.origin.scheme = "http";
    where.origin.host = host;
    where.origin.port = static_cast<std::uint16_t>(*config.metrics_port);
    http::ClientRequest request;
    request.target = "/metrics";
    const auto answer = aio::run(http::request_once(std::move(where), std::move(request),
                                                    std::chrono::steady_clock::now() + kPatience));
    if (answer) return out_.add("metrics.txt", answer->body);
    miss("metrics", answer.error());
  }

  const Invocation& invocation_;
  const Surroundings& surroundings_;
  Collected out_;
};

}  // namespace

void Collected::add(std::string name, std::string_view text) {
  std::string clean = json::scrubbed(text);
  if (clean.size() > kMostOfFile) {
    missing.push_back(cat(name, ": cut at ", kMostOfFile, " bytes"));
    clean.resize(kMostOfFile);
  }
  put(std::move(name), std::move(clean));
}

void Collected::add_list(std::string name, const json::Array& objects) {
  std::string clean = "[";
  std::size_t count = 0;
  for (const json::Value& object : objects) {
    const std::string one = json::scrubbed(json::dump(object));
    if (clean.size() + one.size() > kMostOfFile) break;
    clean += cat(count == 0 ? "\n" : ",\n", one);
    ++count;
  }
  if (count < objects.size()) {
    missing.push_back(cat(name, ": cut at ", kMostOfFile, " bytes, after ", count, " of ",
                          objects.size(), " objects"));
  }
  put(std::move(name), clean + "\n]");
}

void Collected::put(std::string name, std::string clean) {
  constexpr std::size_t kHead = 1024;  // of each file, in an archive
  const std::size_t size = name.size() + kHead + clean.size();
  if (bytes + size > kMostOfBundle) {
    if (missing.size() < kMostMissing) missing.push_back(cat(name, ": the bundle is full"));
    return;
  }
  bytes += size;
  files.push_back({.name = std::move(name), .text = std::move(clean)});
}

Collected collect_node(const Invocation& invocation, const Surroundings& surroundings) {
  return NodeFiles(invocation, surroundings).run();
}

json::Object to_json(const Collected& collected) {
  json::Array files;
  for (const ArchivedFile& file : collected.files) {
    files.push_back(json::Object{{"name", file.name}, {"text", file.text}});
  }
  return {{"version", 1}, {"files", std::move(files)}, {"missing", json::Value(collected.missing)}};
}

Collected parse_collected(const json::Object& object) {
  Collected out;
  for (const json::Object* file : json::objects_of(object.find("files"))) {
    // add() removes secrets once more: the node may have an older program.
    out.add(json::text_at(*file, {"name"}), json::text_at(*file, {"text"}));
  }
  for (const json::Value& missing : json::elements_of(object.find("missing"))) {
    if (out.missing.size() == kMostMissing) break;
    out.missing.push_back(excerpt(json::text_of(&missing), 400));
  }
  return out;
}

}  // namespace mnet::multusctl
