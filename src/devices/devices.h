// Which devices this node's kubelet and DRA drivers gave to pods. Begin with this header: the
// kubelet is asked (kubelet.h), its checkpoint file is read where it has no socket (checkpoint.h),
// and claims are read from the API server (claims.h, slices.h, api_objects.h).
#pragma once

#include "devices/api_objects.h"    // IWYU pragma: export
#include "devices/checkpoint.h"     // IWYU pragma: export
#include "devices/claims.h"         // IWYU pragma: export
#include "devices/kubelet.h"        // IWYU pragma: export
#include "devices/kubelet_dir.h"    // IWYU pragma: export
#include "devices/pod_resources.h"  // IWYU pragma: export
#include "devices/slices.h"         // IWYU pragma: export
