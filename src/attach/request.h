// Turns what a program has read of a request into what the verbs carry out (02, 5.1 step 1).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "attach/attach.h"
#include "base/result.h"
#include "cni/args.h"
#include "json/json.h"
#include "model/netconf.h"

namespace mnet::attach {

enum class Verb : std::uint8_t { kAdd, kDel, kCheck, kStatus, kGc };

// Of a CNI_COMMAND; none if it names no verb.
std::optional<Verb> verb_of(std::string_view command);
// STATUS and GC concern no container.
bool has_container(Verb verb);

// The configuration, as strict as `verb` asks. `fault`: why `document` is not the request's own;
// only DEL goes on with another.
Result<NetConfPtr> read_conf(Verb verb, json::Object document, std::optional<Error> fault = {});
// The program's own settings, for a hot-plug request: without networks, and without a
// `runtimeConfig`, since that belongs to the networks of an ADD (02, 5.9).
Result<NetConfPtr> read_settings(const json::Object& document);
// The pairs of CNI_ARGS, as strict as `verb` asks.
Result<cni::ArgPairs> parse_args(Verb verb, std::string_view text);

// Checks identifiers, configuration and arguments in this order, and puts the last two into
// `begun`, where all else is filled in. What its pod lacks is taken from the arguments.
Result<Request> read_request(Verb verb, Request begun, Result<NetConfPtr> conf,
                             Result<cni::ArgPairs> args);

}  // namespace mnet::attach
