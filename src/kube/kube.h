// The Kubernetes API as far as a node needs it. This header is the way in: a configuration
// (config.h) makes an Api (api.h); Stores of objects (store.h, objects.h) are kept by Reflectors
// (reflector.h).
#pragma once

#include "kube/api.h"        // IWYU pragma: export
#include "kube/config.h"     // IWYU pragma: export
#include "kube/objects.h"    // IWYU pragma: export
#include "kube/reflector.h"  // IWYU pragma: export
#include "kube/reply.h"      // IWYU pragma: export
#include "kube/store.h"      // IWYU pragma: export
