// Reasons of the events that pods get: what scripts and alerts match, so none ever changes.
// docs/operating.md says what each means.
#pragma once

namespace mnet::model {

inline constexpr char kAddedInterface[] = "AddedInterface";
inline constexpr char kRemovedInterface[] = "RemovedInterface";

inline constexpr char kNoNetworkFound[] = "NoNetworkFound";
inline constexpr char kInvalidNetwork[] = "InvalidNetwork";
inline constexpr char kInvalidNetworksAnnotation[] = "InvalidNetworksAnnotation";
inline constexpr char kInterfaceAddRejected[] = "InterfaceAddRejected";
inline constexpr char kInterfaceChangeIgnored[] = "InterfaceChangeIgnored";
inline constexpr char kFailedAddingInterface[] = "FailedAddingInterface";
inline constexpr char kFailedRemovingInterface[] = "FailedRemovingInterface";
inline constexpr char kNetworkCheckFailed[] = "NetworkCheckFailed";
inline constexpr char kNetworkStatusTooLarge[] = "NetworkStatusTooLarge";
inline constexpr char kNetworksNotAttached[] = "NetworksNotAttached";
inline constexpr char kNetworksNotRemoved[] = "NetworksNotRemoved";
inline constexpr char kRemovedLeftovers[] = "RemovedLeftovers";
inline constexpr char kHotplugUnavailable[] = "HotplugUnavailable";

}  // namespace mnet::model
