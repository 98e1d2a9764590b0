#include "manifests/snapshot.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "manifests/objects.h"
#include "model/objects.h"

namespace mnet::manifests {
namespace {

template <typename Object>
std::shared_ptr<const Object> find_in(const Snapshot::Table<Object>& table, std::string_view ns,
                                      std::string_view name) {
  const auto found = table.find({std::string(ns), std::string(name)});
  return found == table.end() ? nullptr : found->second;
}

}  // namespace

model::PodObjectPtr Snapshot::find_pod(std::string_view ns, std::string_view name) const {
  return find_in(pods_, ns, name);
}

model::NetworkDefinitionPtr Snapshot::find_network(std::string_view ns,
                                                   std::string_view name) const {
  return find_in(networks_, ns, name);
}

void Merger::add(const std::string& file, const std::shared_ptr<const Objects>& objects) {
  // One allocation for all objects of a file; each pointer keeps all of them.
  for (const model::PodObject& pod : objects->pods) {
    put(snapshot_->pods_, "Pod", file, model::PodObjectPtr(objects, &pod));
  }
  for (const model::NetworkDefinition& network : objects->networks) {
    put(snapshot_->networks_, "NetworkAttachmentDefinition", file,
        model::NetworkDefinitionPtr(objects, &network));
  }
}

template <typename Object>
void Merger::put(Snapshot::Table<Object>& table, std::string_view kind, const std::string& file,
                 std::shared_ptr<const Object> object) {
  file_of_[object.get()] = file;
  auto& place = table[{object->ns, object->name}];
  if (place != nullptr) {
    const std::string& other = file_of_[place.get()];
    const std::string what = cat(kind, " ", object->ns, "/", object->name);
    warnings_.push_back(other == file ? cat(what, " is in ", file, " twice; the later one counts")
                                      : cat(what, " is in ", other, " and in ", file,
                                            "; the one in ", file, " counts"));
  }
  place = std::move(object);
}

}  // namespace mnet::manifests
