// Where the daemon's pods and networks come from: a folder of manifests if one is configured, else
// the Kubernetes API (03, 2.3 step 9).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adapters/folder_source.h"
#include "adapters/kube_source.h"
#include "aio/blocking_pool.h"
#include "aio/group.h"
#include "aio/task.h"
#include "attach/source.h"
#include "base/log.h"
#include "certs/certs.h"
#include "daemon/config.h"
#include "kube/kube.h"
#include "model/objects.h"

namespace mnet::daemon {

enum class ObjectsUse : std::uint8_t {
  kServe,
  kLook,  // nothing is written, no certificate is asked for
};

class Objects {
 public:
  // Asks for nothing yet. The pool must outlive it, and it its tasks.
  Objects(const aio::asio::any_io_executor& executor, const Config& config,
          const std::vector<std::string>& environment, aio::BlockingPool& pool, const Log& log,
          ObjectsUse use = ObjectsUse::kServe);

  // Why there is no source; then only source() may be called.
  const std::optional<Error>& failure() const { return failure_; }
  // nullptr if there is none.
  attach::ObjectSource* source();

  // What the first reading waits for, for messages.
  std::string name() const;
  // Whether the daemon may serve before it was read once: the API is asked live meanwhile, but not
  // without the kubeconfig or certificate that we need; a folder cannot be.
  bool may_serve_unread() const { return kube_ != nullptr && lacks().empty(); }
  // What is missing to read or write at present, for messages; empty: nothing is missing.
  std::string lacks() const { return certificate_ ? certificate_->waiting_for() : missing_access_; }

  // Until cancelled; to be started once, in a group.
  aio::Task<void> follow();
  aio::Task<void> wait_loaded(aio::Deadline deadline);
  // Waits until events are written; kTimeout. Await it before this object goes.
  aio::Task<void> flush(aio::Deadline deadline);

  // Objects known at this moment.
  struct Sizes {
    std::size_t pods = 0, networks = 0;
  };
  Sizes sizes() const;
  // Whether all were read once.
  bool is_loaded() const;
  // As known at this moment; nullptr if there is none.
  model::PodObjectPtr find_pod(const std::string& ns, const std::string& name) const;
  // Those of this node.
  std::vector<model::PodObjectPtr> pods() const;
  // Of the API server, so far: lists, statuses and events among them.
  std::uint64_t requests_made() const;
  // No more connections to the API server stay open than a quiet node needs.
  void close_idle();

  // The certificate of this node stays as it is: another daemon renews it.
  void stop_renewal();

  // nullptr if there is none of our own.
  certs::NodeCertificate* certificate() { return certificate_.get(); }
  const certs::NodeCertificate* certificate() const { return certificate_.get(); }
  // nullptr if the source is a folder.
  const adapters::KubeSource* kube() const { return kube_.get(); }
  kube::Api* api() { return kube_ == nullptr ? nullptr : &kube_->api(); }

 private:
  // Without access if the kubeconfig cannot be read: follow() waits for it.
  Result<std::unique_ptr<kube::Api>> make_api(const std::vector<std::string>& environment,
                                              const Log& log);
  Result<kube::Config> find_access(const std::vector<std::string>& environment) const;
  void wait_for_access(const Error& why);
  aio::Task<void> follow_when_readable();
  aio::Task<void> follow_when_known();

  const Log log_;
  const ObjectsUse use_;
  const std::string folder_path_, kubeconfig_;
  std::string missing_access_;  // why the kubeconfig cannot be used, for people; empty: it is
  std::unique_ptr<adapters::FolderSource> folder_;
  std::unique_ptr<certs::NodeCertificate> certificate_;
  std::unique_ptr<adapters::KubeSource> kube_;
  std::optional<Error> failure_;
  std::unique_ptr<aio::Group> renewal_;  // of the certificate
};

}  // namespace mnet::daemon
