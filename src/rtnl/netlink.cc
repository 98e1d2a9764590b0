#include "rtnl/netlink.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "rtnl/socket.h"
#include "sys/netns.h"

namespace mnet::rtnl {
namespace {

// The kernel fills at most this much at once.
constexpr std::size_t kDatagram = 32768;

struct Message {
  nlmsghdr header;
  std::string_view body;
};

// Takes the first message off the front; none if there is no whole one.
std::optional<Message> take_message(std::string_view& bytes) {
  const auto header = value_in<nlmsghdr>(bytes);
  if (!header || header->nlmsg_len < NLMSG_HDRLEN || header->nlmsg_len > bytes.size()) {
    return std::nullopt;
  }
  const std::string_view body =
      bytes.substr(NLMSG_HDRLEN, header->nlmsg_len - std::size_t{NLMSG_HDRLEN});
  bytes.remove_prefix(std::min(aligned(header->nlmsg_len), bytes.size()));
  return Message{*header, body};
}

// The message that the kernel sent with its errno.
std::string words_in(const Message& answer) {
  if ((answer.header.nlmsg_flags & NLM_F_ACK_TLVS) == 0) return {};
  std::size_t skip = sizeof(nlmsgerr);
  const auto error = value_in<nlmsgerr>(answer.body);
  if (!error) return {};
  // The request follows unless it was capped.
  if ((answer.header.nlmsg_flags & NLM_F_CAPPED) == 0) {
    skip += aligned(error->msg.nlmsg_len) - NLMSG_HDRLEN;
  }
  if (skip > answer.body.size()) return {};
  for (const Attribute& attribute : attributes_in(answer.body.substr(skip))) {
    if (attribute.type != NLMSGERR_ATTR_MSG) continue;
    return std::string(attribute.bytes.substr(0, attribute.bytes.find('\0')));
  }
  return {};
}

Result<void> outcome_of(const Message& answer) {
  const auto error = value_in<int>(answer.body);
  if (!error) return Error(Errc::kProtocol, "netlink: the answer is too short");
  if (*error == 0) return {};
  const std::string words = words_in(answer);
  if (words.empty()) return Error::from_errno(-*error, "netlink");
  return Error::from_errno(-*error, cat("netlink: ", words));
}

}  // namespace

std::size_t aligned(std::size_t length) { return NLMSG_ALIGN(length); }

std::vector<Attribute> attributes_in(std::string_view bytes) {
  std::vector<Attribute> found;
  for (;;) {
    const auto header = value_in<rtattr>(bytes);
    if (!header || header->rta_len < sizeof(rtattr) || header->rta_len > bytes.size()) break;
    found.push_back({static_cast<std::uint16_t>(header->rta_type & NLA_TYPE_MASK),
                     bytes.substr(sizeof(rtattr), header->rta_len - sizeof(rtattr))});
    bytes.remove_prefix(std::min(aligned(header->rta_len), bytes.size()));
  }
  return found;
}

void append_attribute(std::string& message, std::uint16_t type, std::string_view bytes) {
  const rtattr header{.rta_len = static_cast<std::uint16_t>(sizeof(rtattr) + bytes.size()),
                      .rta_type = type};
  message += bytes_of(header);
  message += bytes;
  message.resize(aligned(message.size()));
}

Result<Netlink> Netlink::open_in(const sys::NetNs& target) {
  MNET_TRY(auto&& fd, socket_in(target, AF_NETLINK, SOCK_RAW, NETLINK_ROUTE));
  // Kernels without extended acknowledgements still report the errno.
  const int on = 1;
  (void)::setsockopt(fd.get(), SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof on);
  (void)::setsockopt(fd.get(), SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof on);
  Netlink netlink(std::move(fd));
  netlink.buffer_.resize(kDatagram);
  return netlink;
}

Result<void> Netlink::send(std::uint16_t type, std::uint16_t flags, std::string_view body) {
  const nlmsghdr header{.nlmsg_len = static_cast<std::uint32_t>(NLMSG_HDRLEN + body.size()),
                        .nlmsg_type = type,
                        .nlmsg_flags = static_cast<std::uint16_t>(flags | NLM_F_REQUEST),
                        .nlmsg_seq = ++sequence_,
                        .nlmsg_pid = 0};
  const std::string message = cat(bytes_of(header), body);
  sockaddr_nl kernel{};
  kernel.nl_family = AF_NETLINK;
  if (::sendto(fd_.get(), message.data(), message.size(), 0,
               reinterpret_cast<const sockaddr*>(&kernel), sizeof kernel) < 0) {
    return Error::from_errno(errno, "netlink: send");
  }
  return {};
}

Result<std::string_view> Netlink::receive() {
  for (;;) {
    sockaddr_nl from{};
    socklen_t size = sizeof from;
    const ssize_t got = ::recvfrom(fd_.get(), buffer_.data(), buffer_.size(), MSG_TRUNC,
                                   reinterpret_cast<sockaddr*>(&from), &size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error::from_errno(errno, "netlink: receive");
    // A privileged process in that namespace, such as the pod's own, can send to this socket, too.
    if (from.nl_pid != 0) continue;
    const auto length = static_cast<std::size_t>(got);
    if (length > buffer_.size()) return Error(Errc::kProtocol, "netlink: the answer is too long");
    return std::string_view(buffer_).substr(0, length);
  }
}

Result<void> Netlink::ask(std::uint16_t type, std::uint16_t flags, std::string_view body) {
  MNET_TRY_VOID(send(type, flags | NLM_F_ACK, body));
  for (;;) {
    MNET_TRY(auto&& bytes, receive());
    while (const auto message = take_message(bytes)) {
      if (message->header.nlmsg_seq != sequence_) continue;
      if (message->header.nlmsg_type == NLMSG_ERROR) return outcome_of(*message);
    }
  }
}

Result<void> Netlink::dump(std::uint16_t type, std::string_view body,
                           const std::function<void(std::string_view)>& visit) {
  MNET_TRY_VOID(send(type, NLM_F_DUMP, body));
  bool is_interrupted = false;
  for (;;) {
    MNET_TRY(auto&& bytes, receive());
    while (const auto message = take_message(bytes)) {
      if (message->header.nlmsg_seq != sequence_) continue;
      is_interrupted |= (message->header.nlmsg_flags & NLM_F_DUMP_INTR) != 0;
      const std::uint16_t kind = message->header.nlmsg_type;
      if (kind != NLMSG_DONE && kind != NLMSG_ERROR) {
        visit(message->body);
        continue;
      }
      MNET_TRY_VOID(outcome_of(*message));
      if (is_interrupted)
        return Error(Errc::kUnavailable, "netlink: the table keeps changing while it is listed");
      return {};
    }
  }
}

}  // namespace mnet::rtnl
