// The protocol buffers that hold HLO modules. They are told apart by a scan of their fields that skips
// contents.
#pragma once

#include <optional>

#include "absl/strings/string_view.h"

namespace toroid {

enum class Container {
  kModule,               // HloModuleProto
  kProto,                // HloProto
  kSnapshot,             // HloSnapshot
  kUnoptimizedSnapshot,  // HloUnoptimizedSnapshot
  kStreamedSnapshot,     // message length, HloUnoptimizedSnapshot without arguments, stream of the arguments
  kModuleWithConfig,     // HloModuleProtoWithConfig
  kText,                 // HLO text, without a wrapper
};
absl::string_view ContainerName(Container container);

// The container of binary content; among several possible ones the deepest wrapper. nullopt for text and for
// unknown content.
std::optional<Container> ContainerOfBytes(absl::string_view bytes);

// A streamed snapshot, split into its message and the literals behind it; nullopt if the content does not
// begin with the length of a message.
struct StreamedSnapshot {
  absl::string_view message, literals;
};
std::optional<StreamedSnapshot> SplitStreamedSnapshot(absl::string_view bytes);

// True if the content looks like text: no control characters except white space near its start.
bool LooksLikeText(absl::string_view bytes);

// True if text is in the protobuf text format of a container rather than HLO text: its first word is a field.
bool LooksLikeProtoText(absl::string_view text);

}  // namespace toroid
