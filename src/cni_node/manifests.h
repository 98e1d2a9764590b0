// Manifests of the node: read from their directory, variables replaced, shown, and handed to the
// API object by object (04, 1.8 to 1.11). The API is looked for when it is first needed.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aio/task.h"
#include "base/result.h"
#include "cni_node/command.h"
#include "cni_node/object_writer.h"
#include "cni_node/objects.h"
#include "kube/api.h"
#include "nodetools/output.h"

namespace mnet::cni_node {

inline constexpr std::string_view kApplying = "Applying Kubernetes object...";
inline constexpr std::string_view kDeleting = "Deleting Kubernetes object...";

// A manifest with its variables replaced.
struct LoadedManifest {
  std::string text;
  std::string hash;                // `sha256:...` of the text
  std::vector<std::string> unset;  // variables that had no value
  bool is_private = false;         // not everyone may read the file
};

class Manifests {
 public:
  Manifests(const Command& command, nodetools::Output& output);
  // For callers that have a client already; it must outlive this.
  void use(kube::Api& api, WriterSettings settings);

  // Reads and replaces variables; unset ones are errors if the command says so.
  Result<LoadedManifest> load(const std::string& name) const;

  // Whether the file was changed so short a time ago that its writer may not have finished: half a
  // manifest may be a good one of fewer objects.
  bool may_be_unfinished(const std::string& name) const;

  // Each says whether it changed anything.
  aio::Task<bool> install(std::string name);
  aio::Task<bool> remove(std::string name);

  // Warns of unset variables, shows the text and takes it apart.
  Result<std::vector<ManifestObject>> show_and_parse(const std::string& name,
                                                     const LoadedManifest& manifest,
                                                     std::string_view doing);
  // The writer; an error if no API server is configured.
  Result<ObjectWriter*> writer();

 private:
  aio::Task<bool> change(std::string name, bool is_wanted);

  const Command& command_;
  nodetools::Output& output_;
  std::unique_ptr<kube::Api> own_api_;
  std::optional<ObjectWriter> writer_;
};

}  // namespace mnet::cni_node
